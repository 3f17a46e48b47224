package resp

import (
	"cmp"
	"fmt"
	"io"
)

// Element is one element, whole. Its bytes are borrowed: they are valid until the next call. It has four words, which is the most that
// the compiler keeps in registers: as five words it was copied through memory at each step up to the caller's loop, which took
// longer than to parse it.
type Element struct {
	// head is the kind and, above it, the length.
	head  uint64
	Bytes []byte // of a scalar: its value; of an aggregate: its elements, for Split
}

// NewElement returns the element of that kind, length and bytes.
func NewElement(kind byte, n int64, b []byte) Element {
	return Element{uint64(n)<<8 | uint64(kind), b}
}

// Kind returns the type byte.
func (e Element) Kind() byte { return byte(e.head) }

// Len returns the bytes of a scalar, or the elements of an aggregate, two for each pair of a map: both are in memory, and so less
// than 1<<55.
func (e Element) Len() int64 { return int64(e.head >> 8) }

// Element reads the next element of the innermost aggregate. At the aggregate's end it leaves it and returns io.EOF.
func (r *Reader) Element() (Element, error) {
	if r.err != nil {
		return Element{}, r.err
	}
	if r.body.state == bodyNone || r.body.state == bodyText {
		r.body.state, r.inside = bodyNone, false
		r.free()
		if e, ok := r.quick(); ok {
			r.cur = Header{e.Kind(), len(r.stack) - 1, e.Len()}
			return e, nil
		}
	}
	if err := r.begin(); err != nil {
		return Element{}, err
	}
	s, err := r.take()
	if err == io.EOF {
		r.leave()
		return Element{}, io.EOF
	}
	if err != nil {
		return Element{}, r.fail(err)
	}
	return r.took(s), nil
}

// Pair reads the next two elements of the innermost aggregate; both are valid together. With nested it reads the next
// element, which must be an array of two. At the aggregate's end it leaves it and returns io.EOF.
func (r *Reader) Pair(nested bool) (key, value Element, err error) {
	if r.err != nil {
		return key, value, r.err
	}
	if r.body.state == bodyNone || r.body.state == bodyText {
		r.body.state, r.inside = bodyNone, false
		r.free()
		if k, v, ok := r.quickPair(nested); ok {
			r.cur = Header{v.Kind(), len(r.stack) - 1, v.Len()}
			return k, v, nil
		}
	}
	if err := r.begin(); err != nil {
		return key, value, err
	}
	if !nested && r.top().left > 0 && r.top().left%2 != 0 {
		return key, value, errOdd
	}
	ks, vs, err := r.takePair(nested)
	if err == io.EOF {
		r.leave()
		return key, value, io.EOF
	}
	if err == errOdd || err == errNotPair {
		return key, value, err // the position is not lost
	}
	if err != nil {
		return key, value, r.fail(err)
	}
	return r.took(ks), r.took(vs), nil
}

// Nested tells whether the next element of the innermost aggregate is an array of two. In a map it is a
// key, whatever it is. Nothing is consumed.
func (r *Reader) Nested() (bool, error) {
	if err := r.begin(); err != nil {
		return false, err
	}
	if r.top().kind == Map {
		return false, nil
	}
	t, err := r.sibling(true)
	if err == io.EOF {
		return false, nil
	}
	if err != nil {
		return false, r.fail(err)
	}
	r.pos = r.mark + t.at
	return isPair(t), nil
}

// Current reads the element on which r stands whole: of a string what is unread, of an aggregate all if nothing was read of it.
func (r *Reader) Current() (Element, error) {
	if r.err != nil {
		return Element{}, r.err
	}
	switch {
	case IsAggregate(r.cur.Kind):
		return r.currentAggregate()
	case r.cur.Kind == 0:
		return Element{}, fmt.Errorf("%w: before the first element", ErrShape)
	}
	if r.body.left > r.max {
		// Nothing is lost: the string can still be read by pieces.
		return Element{}, fmt.Errorf("%w: a string of %d bytes, the limit is %d", ErrTooBig, r.body.left, r.max)
	}
	if err := r.loadBody(); err != nil {
		return Element{}, r.fail(err)
	}
	b := r.text()
	return NewElement(r.cur.Kind, int64(len(b)), b), nil
}

func (r *Reader) currentAggregate() (Element, error) {
	if !r.inside {
		return Element{}, fmt.Errorf("%w: an aggregate that was read already", ErrShape)
	}
	kind := r.cur.Kind
	r.inside = false
	r.free()
	r.start = 0
	for {
		t, err := r.sibling(true)
		if err == io.EOF {
			break
		}
		if err == nil {
			r.count()
			err = r.finish(t, true)
		}
		if err != nil {
			return Element{}, r.fail(err)
		}
	}
	n := r.top().count
	r.pop()
	return NewElement(kind, n, r.buf[r.mark:r.pos]), nil
}

// span is where an element lies in the region.
type span struct{ from, to int }

// begin ends what was read before.
func (r *Reader) begin() error {
	if err := r.finishBody(); err != nil {
		return err
	}
	r.inside = false
	r.free()
	return nil
}

// take reads the next element of the innermost aggregate into the region.
func (r *Reader) take() (span, error) {
	t, err := r.sibling(true)
	if err != nil {
		return span{}, err
	}
	r.start = t.at
	r.count()
	if err := r.finish(t, true); err != nil {
		return span{}, err
	}
	return span{t.at, r.pos - r.mark}, nil
}

// The shapes that Pair refuses. Nothing is consumed then but, for a streamed aggregate, its last element.
var (
	errOdd     = fmt.Errorf("%w: an odd number of elements", ErrShape)
	errNotPair = fmt.Errorf("%w: an element that is not an array of two", ErrShape)
)

func (r *Reader) takePair(nested bool) (key, value span, err error) {
	if nested {
		t, err := r.sibling(true)
		if err != nil {
			return key, value, err
		}
		if !isPair(t) {
			r.pos = r.mark + t.at
			return key, value, errNotPair
		}
		r.count()
		if err := r.push(t); err != nil {
			return key, value, err
		}
	}
	if key, err = r.take(); err != nil {
		return key, value, shorter(err, nested)
	}
	if value, err = r.take(); err != nil {
		return key, value, shorter(err, true)
	}
	if nested {
		if _, err := r.sibling(true); err != io.EOF {
			return key, value, cmp.Or(err, errNotPair)
		}
		r.pop()
	}
	return key, value, nil
}

// shorter makes the end of an aggregate an error where an element is due.
func shorter(err error, due bool) error {
	if err == io.EOF && due {
		return errOdd
	}
	return err
}

// took returns the element that lies at s.
func (r *Reader) took(s span) Element {
	e := whole(r.buf[r.mark+s.from : r.mark+s.to])
	r.cur = Header{e.Kind(), len(r.stack) - 1, e.Len()}
	return e
}

// leave closes the innermost aggregate, which has ended.
func (r *Reader) leave() {
	if len(r.stack) > 1 {
		r.pop()
	}
}

func isPair(t token) bool { return t.kind == Array && (t.streamed || t.n == 2) }
