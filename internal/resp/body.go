package resp

import (
	"fmt"
	"io"
)

const (
	crlf           = "\r\n"
	verbatimPrefix = 4 // "txt:" or "mkd:"
)

type bodyState byte

const (
	bodyNone   bodyState = iota // nothing is unread of the present element
	bodyText                    // a line: its text is in the region
	bodyBulk                    // left bytes and CRLF follow
	bodyChunks                  // left bytes and CRLF of this chunk follow, then further chunks
)

// body is what is unread of the string on which the Reader stands.
type body struct {
	state bodyState
	start int   // of a line: where its text begins, relative to mark
	left  int64 // bytes
	first bool  // of a streamed string: no chunk was begun
}

// openBody makes the string that t begins the one to be read by pieces.
func (r *Reader) openBody(t token) {
	r.free()
	if t.streamed {
		r.body = body{state: bodyChunks, first: true}
		return
	}
	r.body = body{state: bodyBulk, left: t.n}
	if t.kind == Verbatim {
		r.pos += verbatimPrefix // header has seen it
		r.free()
		r.body.left -= verbatimPrefix
	}
}

// Read reads from the string on which r stands; it returns io.EOF at the string's end and nowhere else.
func (r *Reader) Read(p []byte) (int, error) {
	b, err := r.peekBody()
	if err != nil {
		return 0, err
	}
	if len(p) == 0 {
		return 0, nil
	}
	if len(b) > 0 {
		n := copy(p, b)
		return n, r.advanceBody(n)
	}
	// The window is empty and the string goes on: a large p is read into without a copy between.
	n, err := r.readBody(p)
	return n, err
}

// WriteTo writes the rest of the string on which r stands to w. What w took counts as read, whatever the error.
func (r *Reader) WriteTo(w io.Writer) (n int64, err error) {
	for {
		b, err := r.peekBody()
		if err == nil && len(b) == 0 {
			if err = r.fillBody(); err == nil {
				b, err = r.peekBody()
			}
		}
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		m, err := w.Write(b)
		if m < 0 || m > len(b) {
			return n, fmt.Errorf("invalid count %d from Write of %d bytes", m, len(b))
		}
		n += int64(m)
		if aerr := r.advanceBody(m); aerr != nil && err == nil {
			err = aerr
		}
		if err == nil && m < len(b) {
			err = io.ErrShortWrite
		}
		if err != nil {
			return n, err
		}
	}
}

// peekBody returns the part of the string that is in memory, io.EOF at the string's end. Empty means that it must be waited for.
func (r *Reader) peekBody() ([]byte, error) {
	if r.err != nil {
		return nil, r.err
	}
	switch r.body.state {
	case bodyNone:
		if len(r.stack) > 0 && r.cur.Kind != 0 && !IsAggregate(r.cur.Kind) {
			return nil, io.EOF
		}
		return nil, fmt.Errorf("%w: not a string", ErrShape)
	case bodyText:
		if r.body.left == 0 {
			r.body.state = bodyNone
			return nil, io.EOF
		}
		return r.text(), nil
	}
	for r.body.left == 0 {
		if err := r.endOfBody(); err != nil {
			return nil, r.fail(err)
		}
		if r.body.state == bodyNone {
			return nil, io.EOF
		}
	}
	return r.buf[r.pos : r.pos+int(min(r.body.left, int64(len(r.buf)-r.pos)))], nil
}

// text returns what is unread of a string that is in memory.
func (r *Reader) text() []byte {
	start := r.mark + r.body.start
	b := r.buf[start : start+int(r.body.left)]
	if r.cur.Kind == Bool {
		return boolText(b)
	}
	return b
}

// endOfBody steps over the end of a string, or into its next chunk.
func (r *Reader) endOfBody() error {
	r.free()
	if !r.body.first {
		if err := r.endOfBytes(); err != nil {
			return err
		}
		r.free()
	}
	if r.body.state == bodyChunks {
		r.body.first = false
		t, err := r.chunkHeader(false)
		if err != nil {
			return err
		}
		r.free()
		if r.body.left = t.n; t.n > 0 {
			return nil
		}
	}
	r.body = body{}
	return nil
}

// advanceBody notes that n bytes of what peekBody returned were read.
func (r *Reader) advanceBody(n int) error {
	r.body.left -= int64(n)
	if r.body.state == bodyText {
		r.body.start += n
		return nil
	}
	r.pos += n
	r.free()
	return nil
}

// fillBody waits until some of the string is in memory.
func (r *Reader) fillBody() error {
	if err := r.more(1); err != nil {
		return r.fail(err)
	}
	return nil
}

// readBody reads into p what is not in memory yet.
func (r *Reader) readBody(p []byte) (int, error) {
	r.sync()
	if err := r.pause(); err != nil {
		return 0, r.fail(err)
	}
	n, err := r.br.Read(p[:min(int64(len(p)), r.body.left)])
	r.taken += int64(n)
	r.body.left -= int64(n)
	r.view()
	if err != nil {
		return n, r.fail(unexpected(err))
	}
	return n, nil
}

// loadBody takes what is unread of the string into memory, from where it can be read again.
func (r *Reader) loadBody() error {
	b := r.body
	switch b.state {
	case bodyText:
		return nil
	case bodyBulk:
		r.free()
		if err := r.keepBytes(b.left); err != nil {
			return err
		}
	case bodyChunks:
		r.free()
		r.hold(r.pos)
		if !b.first {
			if err := r.keepBytes(b.left); err != nil {
				return err
			}
			r.cut(r.pos - len(crlf))
		}
		rest, err := r.joinChunks()
		if err != nil {
			return err
		}
		b.left += rest
	}
	r.body = body{state: bodyText, left: b.left}
	return nil
}

// need waits until n bytes from pos on are in the window.
func (r *Reader) need(n int64) error {
	if missing := n - int64(len(r.buf)-r.pos); missing > 0 {
		return r.more(int(missing))
	}
	return nil
}

// keepBytes takes a body of n bytes and its CRLF into the region.
func (r *Reader) keepBytes(n int64) error {
	if n > r.max {
		return fmt.Errorf("%w: a string of %d bytes, the limit is %d", ErrTooBig, n, r.max)
	}
	if err := r.need(n + int64(len(crlf))); err != nil {
		return err
	}
	r.pos += int(n)
	return r.endOfBytes()
}

// dropBytes passes over a body of n bytes and its CRLF.
func (r *Reader) dropBytes(n int64) error {
	if r.budget > 0 && n > r.budget-r.offset() {
		return errBudget
	}
	for {
		step := min(n, int64(len(r.buf)-r.pos))
		r.pos += int(step)
		r.free()
		if n -= step; n == 0 {
			return r.endOfBytes()
		}
		if r.pos == len(r.buf) {
			if err := r.more(1); err != nil {
				return err
			}
		}
	}
}

// endOfBytes steps over the CRLF behind a body.
func (r *Reader) endOfBytes() error {
	if err := r.need(int64(len(crlf))); err != nil {
		return err
	}
	if got := r.buf[r.pos : r.pos+len(crlf)]; string(got) != crlf {
		return fmt.Errorf("%w: %q behind a string in place of CRLF", ErrProtocol, got)
	}
	r.pos += len(crlf)
	return nil
}

// finishBody drops what is unread of the string on which r stands.
func (r *Reader) finishBody() error {
	if r.err != nil {
		return r.err
	}
	b := r.body
	r.body = body{}
	var err error
	switch b.state {
	case bodyBulk:
		err = r.dropBytes(b.left)
	case bodyChunks:
		if !b.first {
			err = r.dropBytes(b.left)
		}
		if err == nil {
			err = r.dropChunks()
		}
	}
	if err != nil {
		return r.fail(err)
	}
	return nil
}
