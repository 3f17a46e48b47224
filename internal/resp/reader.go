package resp

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// Header says where a Reader stands.
type Header struct {
	Kind  byte
	Depth int   // 0 for the reply itself, 1 for its elements, and so on
	Len   int64 // bytes of a scalar; elements of an aggregate, two for each pair of a map; Unknown where not announced
}

// Limits bound what a Reader takes from the wire.
type Limits struct {
	MaxBytes int64 // largest element that is assembled in memory
	MaxDepth int   // deepest nesting of aggregates
}

// Reader reads one reply after the other. The zero Reader is ready for Reset.
type Reader struct {
	window
	max      int64
	maxDepth int

	// stack holds the open aggregates, outermost first. stack[0] stands for the reply itself, an aggregate of one.
	stack []frame
	cur   Header
	body  body

	// inside tells that cur is an aggregate of which nothing was read: it is the top of stack.
	inside bool
	// elements counts what was begun of the reply, one level below it.
	elements int64
	// start is where the element being kept begins, relative to mark.
	start int
	// budget is the offset beyond which a walk gives up; 0 means that it does not.
	budget int64
	// err is sticky: once the position in the input is lost, nothing can be read any more.
	err error
}

// frame is an open aggregate.
type frame struct {
	left  int64 // elements that have not begun, or Unknown
	kind  byte
	count int64 // elements that have begun
	at    int   // where its header begins, relative to mark; for what is kept only
}

// Reset makes r read from br. Before each read that may block it calls wait, if that is not nil; the first time br is empty.
func (r *Reader) Reset(br *bufio.Reader, wait func() error, limits Limits) {
	r.window.reset(br, wait)
	r.max, r.maxDepth = limits.MaxBytes, limits.MaxDepth
	r.err = nil
	r.Begin()
}

// Begin makes r expect a reply from its first byte.
func (r *Reader) Begin() {
	r.stack = append(r.stack[:0], frame{left: 1})
	r.cur, r.body, r.inside, r.elements, r.start, r.budget = Header{}, body{}, false, 0, 0, 0
}

// Header returns where r stands; the zero Header before the first Next.
func (r *Reader) Header() Header { return r.cur }

// Elements returns how many elements of the reply have begun.
func (r *Reader) Elements() int64 { return r.elements }

// Offset returns how many bytes were consumed since Reset.
func (r *Reader) Offset() int64 { return r.offset() }

// Err returns what made the position in the input be lost, or nil.
func (r *Reader) Err() error { return r.err }

// Done tells whether the reply was read to its last byte.
func (r *Reader) Done() bool {
	return r.err == nil && r.body.state == bodyNone && len(r.stack) == 1 && r.stack[0].left == 0
}

// Next steps to the next element, depth first, and drops what is unread of the present one. At the end of the reply it
// returns io.EOF.
func (r *Reader) Next() (Header, error) {
	if err := r.finishBody(); err != nil {
		return Header{}, err
	}
	return r.step()
}

func (r *Reader) step() (Header, error) {
	if r.err != nil {
		return Header{}, r.err
	}
	r.free()
	t, err := r.element()
	if err != nil {
		return Header{}, r.fail(err)
	}
	h := Header{Kind: t.kind, Depth: len(r.stack) - 1, Len: t.n}
	if err := r.enter(t); err != nil {
		return Header{}, r.fail(err)
	}
	if t.kind == Verbatim {
		h.Len -= verbatimPrefix
	}
	r.cur, r.inside = h, IsAggregate(t.kind)
	return h, nil
}

// element reads up to the header of the next element, depth first, and closes the aggregates that have ended.
func (r *Reader) element() (token, error) {
	for {
		t, err := r.sibling(false)
		if err != io.EOF || len(r.stack) == 1 {
			return t, err
		}
		r.pop()
		r.free()
	}
}

// sibling reads up to the header of the next element of the innermost aggregate; at its end it returns io.EOF and leaves it
// open. What stands aside is passed over; with keep, the region stays and what stands aside is cut out of it.
func (r *Reader) sibling(keep bool) (token, error) {
	for {
		if r.top().left == 0 {
			return token{}, io.EOF
		}
		t, err := r.header()
		switch {
		case err != nil:
			return t, err
		case isAside(t.kind):
			err = r.aside(t, keep)
		case t.kind == end:
			err = r.endMarker(t, keep)
		case t.kind == chunk:
			err = fmt.Errorf("%w: a chunk outside of a string", ErrProtocol)
		default:
			return t, nil
		}
		if err != nil {
			return t, err
		}
		if !keep {
			r.free()
		}
	}
}

// enter makes the element that t begins the present one.
func (r *Reader) enter(t token) error {
	r.count()
	switch {
	case IsAggregate(t.kind):
		r.body = body{}
		return r.push(t)
	case isString(t.kind):
		r.openBody(t)
	default:
		r.body = body{state: bodyText, start: t.text, left: t.n}
	}
	return nil
}

// count notes that an element of the innermost aggregate has begun.
func (r *Reader) count() {
	f := r.top()
	if f.left > 0 {
		f.left--
	}
	f.count++
	if len(r.stack) == 2 {
		r.elements++
	}
}

func (r *Reader) top() *frame { return &r.stack[len(r.stack)-1] }

func (r *Reader) push(t token) error {
	if len(r.stack) > r.maxDepth {
		return fmt.Errorf("%w: nested deeper than %d", ErrTooBig, r.maxDepth)
	}
	r.stack = append(r.stack, frame{left: t.n, kind: t.kind, at: t.at})
	return nil
}

func (r *Reader) pop() { r.stack = r.stack[:len(r.stack)-1] }

// endMarker closes the innermost aggregate, whose length was not announced. With keep the marker is cut out of the region.
func (r *Reader) endMarker(t token, keep bool) error {
	f := r.top()
	if f.left != Unknown {
		return fmt.Errorf("%w: an end marker outside of a streamed aggregate", ErrProtocol)
	}
	if (f.kind == Map || f.kind == attribute) && f.count%2 != 0 {
		return fmt.Errorf("%w: a map ends after a key", ErrProtocol)
	}
	f.left = 0
	if keep {
		r.hold(r.pos)
		r.cut(r.mark + t.at)
	}
	return nil
}

// fail keeps err for good, except for the end of the reply.
func (r *Reader) fail(err error) error {
	if err != io.EOF {
		r.err = err
	}
	return err
}

func isTooBig(err error) bool { return errors.Is(err, ErrTooBig) }
