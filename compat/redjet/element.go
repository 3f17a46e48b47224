package redjet

import (
	"fmt"
	"io"

	"github.com/redis/rueidis"

	"github.com/rueidisx/rueidisx/rueidisstream"
)

// level is an array that reading is within.
type level struct {
	kind levelKind
	exec []shape // of its elements, if it is the reply to EXEC
}

type levelKind byte

const (
	plain   levelKind = iota
	flat              // its elements come as arrays of two, which are not shown
	entries           // its elements are shown as arrays of two, which do not come
)

// item is an element of which nothing but the head was read.
type item struct {
	kind rueidisstream.Kind
	n    int64 // bytes of a scalar, -1 if not known; elements of an array
}

func (i item) isNil() bool { return i.kind == rueidisstream.KindNull }

// take steps to the next reply or element. It is counted as read, so the caller reads a scalar from p.rd right away, and then
// calls settle. Of an array there is nothing to read: its elements are next. An error that the server replied is an *Error.
func (p *Pipeline) take() (item, error) {
	switch {
	case p.closed:
		return item{}, errClosed
	case p.err != nil:
		return item{}, p.err
	case len(p.stack) > 0:
		return p.element()
	case p.sub.Load() != nil:
		return p.message()
	case p.next == len(p.infos):
		return item{}, errNoMore
	}
	return p.begin()
}

// begin takes the next reply.
func (p *Pipeline) begin() (item, error) {
	if p.next == p.sent {
		if err := p.send(); err != nil {
			return item{}, p.lose(err)
		}
	}
	in := p.infos[p.next]
	p.infos[p.next] = info{}
	p.next++
	if p.sub.Load() != nil {
		return p.message()
	}
	err := p.own
	if p.rs != nil {
		p.rd, err = p.rs.Next()
	}
	if p.next == len(p.infos) {
		p.cmds, p.infos, p.next, p.sent = p.cmds[:0], p.infos[:0], 0, 0
	}
	switch e := err.(type) {
	case nil:
		return p.stand(p.rd.Header(), in.shape, in.exec)
	case *rueidis.RedisError:
		if err := p.settle(); err != nil {
			return item{}, err
		}
		if e.IsNil() {
			return item{kind: rueidisstream.KindNull}, nil
		}
		return item{}, &Error{e.Error()}
	case *Error: // of a job
		return item{}, e
	case *jobError:
		return item{}, e.err
	}
	if p.alone() {
		_ = p.settle() // err is the better one
		return item{}, err
	}
	return item{}, p.lose(err)
}

// element takes the next element of the innermost array.
func (p *Pipeline) element() (item, error) {
	in := &p.levels[len(p.levels)-1]
	if in.kind == entries {
		p.push(2, level{})
		return item{rueidisstream.KindArray, 2}, nil
	}
	var sh shape
	if len(in.exec) > 0 {
		sh, in.exec = in.exec[0], in.exec[1:]
	}
	h, err := p.step()
	if err == nil && in.kind == flat && h.Kind == rueidisstream.KindArray {
		if h.Len == 2 {
			h, err = p.step()
		} else {
			err = fmt.Errorf("redjet: %w: %d elements among arrays of two", rueidisstream.ErrShape, h.Len)
		}
	}
	if err != nil {
		return item{}, p.cut(err)
	}
	return p.stand(h, sh, nil)
}

// step moves rd.
func (p *Pipeline) step() (rueidisstream.Header, error) {
	if p.ahead {
		p.ahead = false
		return p.header, nil
	}
	h, err := p.rd.Next()
	if err == io.EOF {
		err = fmt.Errorf("redjet: %w: an array ends before its last element", rueidisstream.ErrProtocol)
	}
	return h, err
}

// stand makes an item of what rd stands on.
func (p *Pipeline) stand(h rueidisstream.Header, sh shape, exec []shape) (item, error) {
	switch {
	case h.Kind.IsAggregate():
		return p.enter(h, sh, exec)
	case h.Kind == rueidisstream.KindError, h.Kind == rueidisstream.KindBlobError:
		v, err := p.rd.Value()
		if err != nil {
			return item{}, p.cut(err)
		}
		e := &Error{v.String()}
		p.count()
		if err := p.settle(); err != nil {
			return item{}, err
		}
		return item{}, e
	}
	p.count()
	if h.Kind == rueidisstream.KindNull {
		return item{kind: h.Kind}, p.settle()
	}
	return item{h.Kind, h.Len}, nil
}

// enter makes the array that rd stands on the innermost one. It is shown as RESP2 has it.
func (p *Pipeline) enter(h rueidisstream.Header, sh shape, exec []shape) (item, error) {
	in, n := level{exec: exec}, h.Len
	switch {
	case n < 0:
		return item{}, p.cut(fmt.Errorf("redjet: %w: an array of unknown length", rueidisstream.ErrShape))
	case h.Kind == rueidisstream.KindMap && sh == streamEntries:
		in.kind = entries
		n /= 2
	case h.Kind == rueidisstream.KindArray && sh == pairs && n > 0:
		first, err := p.step()
		if err != nil {
			return item{}, p.cut(err)
		}
		p.header, p.ahead = first, true
		if first.Kind == rueidisstream.KindArray && first.Len == 2 {
			in.kind = flat
			n *= 2
		}
	}
	if n == 0 {
		p.count()
		return item{kind: rueidisstream.KindArray}, p.settle()
	}
	p.push(int(n), in)
	return item{rueidisstream.KindArray, n}, nil
}

func (p *Pipeline) push(n int, in level) {
	p.stack = append(p.stack, n)
	p.levels = append(p.levels, in)
}

// count takes one element off the innermost array, and that one off the array around it when it was the last.
func (p *Pipeline) count() {
	for top := len(p.stack) - 1; top >= 0; top-- {
		if p.stack[top]--; p.stack[top] > 0 {
			return
		}
		p.stack, p.levels = p.stack[:top], p.levels[:top]
	}
}

// settle gives the connection back if all that was sent has been read.
func (p *Pipeline) settle() error {
	if len(p.stack) > 0 || p.next < p.sent {
		return nil
	}
	if err := p.release(); err != nil {
		return p.lose(err)
	}
	return nil
}

// cut ends the reading of a reply of which no more can be had.
func (p *Pipeline) cut(err error) error {
	p.stack, p.levels, p.ahead = p.stack[:0], p.levels[:0], false
	if p.alone() {
		_ = p.settle() // err is the better one
		return err
	}
	return p.lose(err)
}
