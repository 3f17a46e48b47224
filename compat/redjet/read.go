package redjet

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/redis/rueidis"

	"github.com/rueidisx/rueidisx/rueidisstream"
)

// roomAhead is how much memory is taken for a string before its bytes have come.
const roomAhead = 1 << 20

// WriteTo writes the next reply or element to w while it arrives, and returns how many bytes w took. Of a string it writes
// the bytes, of a number or an array's length the text, of a null nothing. Behind an array, its elements are next.
//
// If w fails, its error comes back wrapped, and the rest of the string is passed over: the next reply is not touched. It closes the
// Pipeline if CloseOnRead says so.
func (p *Pipeline) WriteTo(w io.Writer) (int64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.closeAfter()
	if p.isCopy() {
		return p.copy(w)
	}
	it, err := p.take()
	if err != nil {
		return 0, err
	}
	if it.isNil() {
		return 0, nil
	}
	if g, ok := w.(grower); ok && !it.kind.IsAggregate() && it.n > 0 {
		g.Grow(int(min(it.n, roomAhead)))
	}
	p.out = sink{w: w}
	defer func() { p.out = sink{} }()
	if it.kind.IsAggregate() {
		n, err := io.WriteString(&p.out, strconv.FormatInt(it.n, 10))
		return int64(n), err
	}
	n, err := p.rd.WriteTo(&p.out)
	return n, p.read(err)
}

type grower interface{ Grow(n int) }

// sink is the caller's writer, and whether it has failed.
type sink struct {
	w      io.Writer
	failed bool
}

func (s *sink) Write(b []byte) (int, error) {
	n, err := s.w.Write(b)
	s.failed = s.failed || err != nil || n != len(b)
	return n, err
}

// read ends the reading of a scalar, with the error that came of it.
func (p *Pipeline) read(err error) error {
	switch {
	case err != nil && !p.out.failed:
		return p.cut(err)
	case err != nil:
		_ = p.settle() // the writer's error is the better one
		return err
	}
	return p.settle()
}

// isCopy tells whether there is nothing but one command to be sent, of which nothing but a string can come.
func (p *Pipeline) isCopy() bool {
	return p.CloseOnRead && !p.closed && p.err == nil && p.next == 0 && p.sent == 0 && len(p.infos) == 1 && p.infos[0].shape == oneString &&
		p.state.left == "" && len(p.stack) == 0
}

// copy is WriteTo by rueidis' own streaming.
func (p *Pipeline) copy(w io.Writer) (int64, error) {
	p.out = sink{w: w}
	cmd := p.cmds[0]
	p.forget()
	n, err := rueidisstream.Copy(p.ctx, p.client.client, cmd, &p.out, options[:]...)
	failed := p.out.failed
	p.out = sink{}
	switch {
	case err == nil:
		return n, nil
	case fromServer(err):
		if err = serverError(err); err == nil {
			return n, nil
		}
	case !failed:
		p.err = err
	}
	return n, err
}

// text is the next reply or element in memory, nil for a null.
func (p *Pipeline) text() ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.closeAfter()
	it, err := p.take()
	switch {
	case err != nil:
		return nil, err
	case it.isNil():
		return nil, nil
	case it.kind.IsAggregate():
		return strconv.AppendInt(nil, it.n, 10), nil
	}
	b, err := readAll(p.rd, it.n)
	return b, p.read(err)
}

// readAll reads a string of n bytes, or of some if n is negative. What has come when it fails is returned.
func readAll(r io.Reader, n int64) ([]byte, error) {
	const some = 512
	size := int64(some)
	if n >= 0 {
		size = min(n, roomAhead)
	}
	b := make([]byte, 0, size)
	for int64(len(b)) != n {
		if len(b) == cap(b) {
			size = 2 * int64(cap(b))
			if n >= 0 {
				size = min(size, n)
			}
			more := make([]byte, len(b), size)
			copy(more, b)
			b = more
		}
		m, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+m]
		if err == io.EOF {
			break
		}
		if err != nil {
			return b, err
		}
	}
	return b, nil
}

// Bytes returns the next reply or element, as WriteTo writes it. It is nil for a null, and empty but not nil for an
// empty string. It closes the Pipeline if CloseOnRead says so.
func (p *Pipeline) Bytes() ([]byte, error) { return p.text() }

// String returns the next reply or element, as WriteTo writes it; "" for a null. It closes the Pipeline if CloseOnRead says so.
func (p *Pipeline) String() (string, error) {
	b, err := p.text()
	return string(b), err
}

// Int returns the next reply or element as an integer, the length if it is an array. For a text that is no number the error is that of
// strconv.Atoi; for a null it is that of the empty text, and ErrNil. It closes the Pipeline if CloseOnRead says so.
func (p *Pipeline) Int() (int, error) {
	b, err := p.text()
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(string(b))
	return n, nilError(b, err)
}

// JSON decodes the next reply or element into v. The errors are those of json.Unmarshal; for a null that of the empty text, and ErrNil. It closes the
// Pipeline if CloseOnRead says so.
func (p *Pipeline) JSON(v any) error {
	b, err := p.text()
	if err != nil {
		return err
	}
	return nilError(b, json.Unmarshal(b, v))
}

// Ok reads the next reply or element and returns an error if it is not OK. A command may have succeeded without: GET, for one. For a
// null, as SET with NX replies when it did nothing, the error is ErrNil, wrapped. It closes the Pipeline if CloseOnRead says so.
func (p *Pipeline) Ok() error {
	b, err := p.text()
	if err != nil {
		return err
	}
	if !bytes.Equal(b, []byte("OK")) {
		return nilError(b, fmt.Errorf("expected OK, got %q", b))
	}
	return nil
}

// nilError adds ErrNil to the error of a null.
func nilError(b []byte, err error) error {
	if b == nil && err != nil {
		return fmt.Errorf("%w: %w", ErrNil, err)
	}
	return err
}

// ArrayLength reads the head of the next reply or element, which must be an array, and returns its length; its elements are next. -1 is
// a null, which RESP3 does not tell from a null array. Anything else is an error, and is passed over. It does not close
// the Pipeline.
func (p *Pipeline) ArrayLength() (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	it, err := p.take()
	switch {
	case err != nil:
		return 0, err
	case it.isNil():
		return -1, nil
	case it.kind.IsAggregate():
		return int(it.n), nil
	}
	if err := p.settle(); err != nil {
		return 0, err
	}
	return 0, fmt.Errorf("expected array, got %q", kindInRESP2(it.kind))
}

func kindInRESP2(k rueidisstream.Kind) byte {
	switch k {
	case rueidisstream.KindSimple, rueidisstream.KindInteger:
		return byte(k)
	case rueidisstream.KindBool:
		return byte(rueidisstream.KindInteger)
	}
	return byte(rueidisstream.KindString)
}

var errNested = errors.New("an array")

// Strings returns the next reply or element, which must be an array, as a slice; a null in it is "". It is nil if the array is empty or a
// null. With an error come the strings before it. An element that is an array itself is an error, and the rest of the outer one is
// then passed over; after an error that the server replied for an element, the further elements are next.
// If CloseOnRead is true, it closes the Pipeline.
func (p *Pipeline) Strings() ([]string, error) {
	defer func() {
		if p.CloseOnRead {
			_ = p.Close()
		}
	}()
	n, err := p.ArrayLength()
	if err != nil {
		return nil, fmt.Errorf("read array length: %w", err)
	}
	if n <= 0 {
		return nil, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	ss := make([]string, 0, min(n, roomAhead/16))
	for i := range n {
		s, err := p.elementString()
		if err != nil {
			return ss, fmt.Errorf("read string %d: %w", i, err)
		}
		ss = append(ss, s)
	}
	return ss, nil
}

// elementString reads one element of an array of strings.
func (p *Pipeline) elementString() (string, error) {
	if p.closed {
		return "", errClosed
	}
	depth := len(p.stack)
	it, err := p.take()
	switch {
	case err != nil:
		return "", err
	case it.isNil():
		return "", nil
	case it.kind.IsAggregate():
		for p.err == nil && len(p.stack) >= depth {
			_, err := p.take()
			if _, ok := err.(*Error); err != nil && !ok {
				return "", err
			}
		}
		if err := p.settle(); err != nil {
			return "", err
		}
		return "", errNested
	case it.n >= 0 && it.n <= smallString:
		v, err := p.rd.Value()
		s := v.String()
		return s, p.read(err)
	}
	var sb strings.Builder
	if it.n > 0 {
		sb.Grow(int(min(it.n, roomAhead)))
	}
	_, err = p.rd.WriteTo(&sb)
	return sb.String(), p.read(err)
}

// smallString is what is taken from the connection's buffer at once.
const smallString = 32 << 10

// serverError makes of an error that the server replied the one of this package, and nil of a null.
func serverError(err error) error {
	if rueidis.IsRedisNil(err) {
		return nil
	}
	return &Error{err.Error()}
}
