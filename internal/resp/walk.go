package resp

import (
	"fmt"
	"strconv"
)

// errBudget ends a walk that would read more than allowed.
var errBudget = fmt.Errorf("%w: more is unread than may be", ErrTooBig)

// finish reads an element, or what stands aside, from behind its header t to its last byte. With keep the region stays and
// becomes canonical: lengths announced, strings in one piece, nothing aside. Otherwise everything is dropped on the way.
func (r *Reader) finish(t token, keep bool) error {
	base := len(r.stack)
	if err := r.open(t, keep); err != nil {
		return err
	}
	for len(r.stack) > base {
		if r.top().left == 0 {
			if err := r.closeTop(keep); err != nil {
				return err
			}
			continue
		}
		if !keep {
			r.free()
		}
		t, err := r.header()
		if err != nil {
			return err
		}
		switch {
		case isAside(t.kind):
			err = r.open(t, keep)
		case t.kind == end:
			err = r.streamEnd(t, keep)
		case t.kind == chunk:
			err = fmt.Errorf("%w: a chunk outside of a string", ErrProtocol)
		default:
			r.count()
			err = r.open(t, keep)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// aside reads what stands beside the reply, from behind its header t to its last byte.
func (r *Reader) aside(t token, keep bool) error {
	elements := r.elements
	err := r.finish(t, keep)
	r.elements = elements
	return err
}

// open opens the aggregate that t begins, or reads the body of the string.
func (r *Reader) open(t token, keep bool) error {
	if keep && int64(r.pos-r.mark-r.start) > r.max {
		return fmt.Errorf("%w: an aggregate of more than %d bytes", ErrTooBig, r.max)
	}
	if r.budget > 0 && r.offset() > r.budget {
		return errBudget
	}
	switch {
	case IsAggregate(t.kind) || isAside(t.kind):
		return r.push(t)
	case !isString(t.kind):
		return nil
	case t.streamed && keep:
		total, err := r.joinChunks()
		if err != nil {
			return err
		}
		r.splice(r.pos, r.pos, []byte(crlf))
		r.announce(t.at, total)
		return nil
	case t.streamed:
		return r.dropChunks()
	case keep:
		return r.keepBytes(t.n)
	default:
		return r.dropBytes(t.n)
	}
}

// closeTop leaves the innermost aggregate. What stands aside is cut out of what is kept.
func (r *Reader) closeTop(keep bool) error {
	f := *r.top()
	r.pop()
	if keep && isAside(f.kind) {
		r.hold(r.pos)
		r.cut(r.mark + f.at)
	}
	return nil
}

// streamEnd closes a streamed aggregate; in what is kept its header then announces the length.
func (r *Reader) streamEnd(t token, keep bool) error {
	if err := r.endMarker(t, keep); err != nil {
		return err
	}
	if f := r.top(); keep && !isAside(f.kind) {
		n := f.count
		if f.kind == Map {
			n /= 2
		}
		r.announce(f.at, n)
	}
	return nil
}

// announce writes the length n into the header at that offset, where "?" stands.
func (r *Reader) announce(at int, n int64) {
	r.hold(r.pos)
	var digits [20]byte
	from := r.mark + at + 1
	r.splice(from, from+1, strconv.AppendInt(digits[:0], n, 10))
}

// joinChunks joins the chunks that follow in the region, without their headers, and returns how many bytes they are.
func (r *Reader) joinChunks() (total int64, err error) {
	for {
		c, err := r.chunkHeader(true)
		if err != nil {
			return 0, err
		}
		r.hold(r.pos)
		r.cut(r.mark + c.at)
		if c.n == 0 {
			return total, nil
		}
		if total += c.n; total > r.max {
			return 0, fmt.Errorf("%w: a string of more than %d bytes", ErrTooBig, r.max)
		}
		if err := r.keepBytes(c.n); err != nil {
			return 0, err
		}
		r.cut(r.pos - len(crlf))
	}
}

// dropChunks passes over the chunks of a string.
func (r *Reader) dropChunks() error {
	for {
		r.free()
		c, err := r.chunkHeader(false)
		if err != nil || c.n == 0 {
			return err
		}
		if err := r.dropBytes(c.n); err != nil {
			return err
		}
	}
}

// chunkHeader reads the header of the next chunk; the one of length 0 is the last and has no body.
func (r *Reader) chunkHeader(keep bool) (token, error) {
	for {
		t, err := r.header()
		switch {
		case err != nil:
			return t, err
		case t.kind == chunk:
			return t, nil
		case !isAside(t.kind):
			return t, fmt.Errorf("%w: type byte %q in place of a chunk", ErrProtocol, t.kind)
		}
		if err := r.aside(t, keep); err != nil {
			return t, err
		}
	}
}
