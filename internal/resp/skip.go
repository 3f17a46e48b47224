package resp

import (
	"bufio"
	"io"
)

// leastElement is what the shortest element takes: "_\r\n".
const leastElement = 3

// Skip drops the rest of the innermost aggregate and leaves it; on a reply that is one scalar, the rest of that.
func (r *Reader) Skip() error {
	if err := r.begin(); err != nil {
		return err
	}
	for {
		t, err := r.sibling(false)
		if err == nil {
			r.count()
			err = r.finish(t, false)
		}
		if err == io.EOF {
			r.leave()
			return nil
		}
		if err != nil {
			return r.fail(err)
		}
	}
}

// Finish drops the rest of the reply.
func (r *Reader) Finish() error {
	if r.err != nil {
		return r.err
	}
	for !r.Done() {
		if err := r.Skip(); err != nil {
			return err
		}
	}
	return nil
}

// FinishWithin drops the rest of the reply if that is at most limit bytes. If it is more, or nobody can tell, it reads no
// further than it must to know and returns an error.
func (r *Reader) FinishWithin(limit int64) error {
	if r.err != nil || r.Done() {
		return r.err
	}
	if r.atLeast() > limit {
		return r.fail(errBudget)
	}
	r.budget = r.offset() + limit
	return r.Finish()
}

// atLeast returns the least number of bytes that the rest of the reply has.
func (r *Reader) atLeast() int64 {
	n := int64(0)
	if r.body.state == bodyBulk || r.body.state == bodyChunks {
		n = r.body.left
	}
	for i := range r.stack {
		left := r.stack[i].left
		if left > (1<<62)/leastElement {
			return 1 << 62
		}
		n += max(left, 0) * leastElement
	}
	return n
}

// Leave lets the input stand behind what was read.
func (r *Reader) Leave() { r.sync() }

// Sync passes over what stands aside before the next reply and hands out the input, standing at its first byte. Begin takes
// up again.
func (r *Reader) Sync() (*bufio.Reader, error) {
	if r.err != nil {
		return nil, r.err
	}
	for {
		r.free()
		if r.pos == len(r.buf) {
			if err := r.more(1); err != nil {
				return nil, r.fail(err)
			}
		}
		if !isAside(r.buf[r.pos]) {
			r.sync()
			return r.br, nil
		}
		t, err := r.header()
		if err == nil {
			err = r.aside(t, false)
		}
		if err != nil {
			return nil, r.fail(err)
		}
	}
}
