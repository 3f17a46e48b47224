package goredis

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/redis/rueidis"

	"github.com/rueidisx/rueidisx/internal/wire"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

// rawCopy copies one reply as it is. It takes the bytes by chunks, as they arrive, and looks into them only as far as is needed
// to find the reply's end.
type rawCopy struct {
	br   *bufio.Reader
	wait func() error // before a read that may block; the first time nothing may be buffered
	w    io.Writer
	n    int64 // bytes that w took

	// levels has, for each aggregate around what comes next, how many elements of it are left; the first is for the reply itself.
	levels []level
	kind   byte   // of the header that is being read; 0 between headers
	line   []byte // what was seen of that header, if it has a length
	body   int64  // bytes left of a string and its CRLF
}

type level struct {
	left  int64
	aside bool // an attribute: what it belongs to follows
}

const (
	maxRawLevels = 1 << 10
	maxRawHeader = 32 // bytes of a header with a length
)

// errElsewhere is returned in place of an error MOVED or ASK.
var errElsewhere = errors.New("another node has the slot")

// writerError is an error of w, to tell it from those of the connection.
type writerError struct{ err error }

func (e *writerError) Error() string { return e.err.Error() }

// run sends cmds, of which the last has the reply that counts, and gives the connection back, if it may be kept, or closes it.
func (c *rawCopy) run(ctx context.Context, client rueidis.Client, cmds []rueidis.Completed, mode wire.Mode, redirects, keep bool) error {
	before := len(cmds) - 1
	conn, err := wire.Open(ctx, client, cmds, mode)
	if err != nil {
		return err
	}
	clean := false
	defer func() { // also when w panics, or ends the goroutine
		if !clean {
			conn.Abandon()
		}
	}()
	c.br, c.wait = conn.Reader(), conn.Wait()
	for range before { // ASKING
		drop := rawCopy{br: c.br, wait: c.wait, w: io.Discard}
		if err := drop.reply(false); err != nil {
			return err
		}
	}
	err = c.reply(redirects)
	if err != nil && err != errElsewhere || !keep {
		return err
	}
	clean = true
	if closing := conn.Close(); closing != nil && err == nil {
		return closing
	}
	return err
}

// reply copies the next reply, and passes over what the server pushes before it.
func (c *rawCopy) reply(redirects bool) error {
	for {
		chunk, err := c.next()
		if err != nil {
			return err
		}
		switch {
		case chunk[0] == '>':
			drop := rawCopy{br: c.br, wait: c.wait, w: io.Discard}
			if err := drop.copy(); err != nil {
				return err
			}
		case chunk[0] == '-' && redirects:
			return c.errorReply()
		default:
			return c.copy()
		}
	}
}

// next returns what is buffered, and waits until something is.
func (c *rawCopy) next() ([]byte, error) {
	if c.br.Buffered() == 0 {
		if err := c.wait(); err != nil {
			return nil, err
		}
		if _, err := c.br.Peek(1); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
	}
	return c.br.Peek(c.br.Buffered())
}

// errorReply copies a reply that is a simple error, but for MOVED and ASK, which it keeps in line.
func (c *rawCopy) errorReply() error {
	for {
		chunk, err := c.next()
		if err != nil {
			return err
		}
		end := bytes.IndexByte(chunk, '\n') + 1
		if end == 0 {
			end = len(chunk)
		}
		c.line = append(c.line, chunk[:end]...)
		_, _ = c.br.Discard(end) // they are buffered
		if c.line[len(c.line)-1] != '\n' {
			continue
		}
		if bytes.HasPrefix(c.line, []byte("-MOVED ")) || bytes.HasPrefix(c.line, []byte("-ASK ")) {
			return errElsewhere
		}
		return c.write(c.line)
	}
}

// copy copies what comes next, whatever it is.
func (c *rawCopy) copy() error {
	c.levels = append(c.levels[:0], level{left: 1})
	for len(c.levels) > 0 {
		chunk, err := c.next()
		if err != nil {
			return err
		}
		n, err := c.scan(chunk)
		if n > 0 {
			if failure := c.write(chunk[:n]); failure != nil {
				return failure
			}
			_, _ = c.br.Discard(n) // they are buffered
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// scan returns how many bytes of b belong to the reply.
func (c *rawCopy) scan(b []byte) (n int, err error) {
	for n < len(b) && len(c.levels) > 0 {
		if c.body > 0 {
			part := min(c.body, int64(len(b)-n))
			n += int(part)
			if c.body -= part; c.body == 0 {
				c.element()
			}
			continue
		}
		if c.kind == 0 {
			c.kind, c.line = b[n], c.line[:0]
		}
		end, whole := len(b), false
		if i := bytes.IndexByte(b[n:], '\n'); i >= 0 {
			end, whole = n+i+1, true
		}
		if hasLength(c.kind) {
			if c.line = append(c.line, b[n:min(end, n+maxRawHeader)]...); len(c.line) >= maxRawHeader {
				return n, badLength(c.line)
			}
		}
		n = end
		if whole {
			if err := c.header(); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

// hasLength tells whether a header of that kind has a length.
func hasLength(kind byte) bool { return isString(kind) || bytes.IndexByte([]byte("*~%>|"), kind) >= 0 }

func isString(kind byte) bool { return kind == '$' || kind == '=' || kind == '!' }

// header ends a header.
func (c *rawCopy) header() error {
	kind := c.kind
	c.kind = 0
	if !hasLength(kind) {
		if bytes.IndexByte([]byte("+-:,#(_"), kind) < 0 {
			return fmt.Errorf("%w: type byte %q", rueidisstream.ErrProtocol, kind)
		}
		c.element()
		return nil
	}
	length, err := rawLength(c.line)
	switch {
	case err != nil:
		return err
	case length < 0: // a null
		c.element()
		return nil
	case isString(kind):
		c.body = length + 2
		return nil
	case len(c.levels) == maxRawLevels:
		return fmt.Errorf("%w: nested deeper than %d", rueidisstream.ErrTooBig, maxRawLevels)
	case kind == '%' || kind == '|':
		length *= 2
	}
	c.levels = append(c.levels, level{length, kind == '|'})
	c.settle()
	return nil
}

// element ends an element.
func (c *rawCopy) element() {
	c.levels[len(c.levels)-1].left--
	c.settle()
}

// settle ends the aggregates that are complete.
func (c *rawCopy) settle() {
	for len(c.levels) > 0 {
		last := c.levels[len(c.levels)-1]
		if last.left > 0 {
			return
		}
		c.levels = c.levels[:len(c.levels)-1]
		if len(c.levels) > 0 && !last.aside {
			c.levels[len(c.levels)-1].left--
		}
	}
}

// rawLength reads a header with a length, type byte and CRLF included; -1 is a null.
func rawLength(line []byte) (v int64, err error) {
	n := len(line)
	if n < 4 || line[n-2] != '\r' {
		return 0, badLength(line)
	}
	digits := line[1 : n-2]
	if string(digits) == "-1" {
		return -1, nil
	}
	const most = 1 << 59 // so that neither two for each pair nor the CRLF overflow
	for _, d := range digits {
		if d < '0' || d > '9' {
			return 0, badLength(line)
		}
		if v = v*10 + int64(d-'0'); v > most {
			return 0, badLength(line)
		}
	}
	return v, nil
}

func badLength(line []byte) error {
	return fmt.Errorf("%w: header %.40q", rueidisstream.ErrProtocol, line)
}

// write writes b to w.
func (c *rawCopy) write(b []byte) error {
	n, err := c.w.Write(b)
	n = min(max(n, 0), len(b))
	c.n += int64(n)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	if err != nil {
		return &writerError{err}
	}
	return nil
}
