package rueidisstream

import (
	"fmt"
	"io"
	"iter"

	"github.com/rueidisx/rueidisx/internal/resp"
)

// Reader is a reply as a sequence of elements, which are read while they arrive. It is not for concurrent use.
//
// A Reader stands on an element, at first on the reply itself. Header says on which. Of a string, Read and WriteTo take pieces and
// Value all. Of an aggregate, Values and Pairs iterate over the elements, and Next steps into it. What a Reader was left
// standing on may be unread or half read: the next call steps over the rest.
//
// Elements are borrowed: valid only until the next iteration or call; copy with String or Append.
//
// Errors from reading are wrapped with the position and are final. A *rueidis.RedisError or rueidis.Nil is never wrapped.
type Reader struct {
	s       *stream // nil once closed
	started bool    // s stands on the reply or beyond
	shared  bool    // s belongs to a Replies
	reply   int     // of a Replies: which one; s alone does not tell them apart
	writing bool    // WriteTo is at work
}

var (
	_ io.ReadCloser = (*Reader)(nil)
	_ io.WriterTo   = (*Reader)(nil)
)

// NewReader returns a Reader of the RESP bytes, of either protocol, that r gives: of a transcript, or of a test. If r is a
// *bufio.Reader it is used as it is, and stands behind the reply when the reply was read to its end and the Reader closed,
// so that several replies can be read one after the other.
//
// Nothing is read before the first call. If the reply is an error or a null, Next, Value, Read and the iterators return that.
func NewReader(r io.Reader, opts ...Option) *Reader {
	return &Reader{s: source(r, newConfig(opts))}
}

// start steps to the reply if it has not begun.
func (r *Reader) start() error {
	if r == nil || r.s == nil {
		return errClosed
	}
	if r.started {
		return nil
	}
	if _, err := r.s.rd.Next(); err != nil {
		return r.s.wrap(err)
	}
	r.started = true
	return r.s.own()
}

// Header returns where the Reader stands. It is the zero Header if that cannot be read, or of a closed Reader.
func (r *Reader) Header() Header {
	if err := r.start(); err != nil && !fromServer(err) {
		return Header{}
	}
	return header(r.s.rd.Header())
}

func header(h resp.Header) Header { return Header{Kind: Kind(h.Kind), Depth: h.Depth, Len: h.Len} }

// Next steps to the next element, depth first, and drops what is unread of the present one; from an aggregate it steps into
// it. At the end of the reply it returns io.EOF. An error or null inside the reply is an element.
func (r *Reader) Next() (Header, error) {
	if err := r.start(); err != nil {
		return Header{}, err
	}
	h, err := r.s.rd.Next()
	if err == io.EOF {
		return Header{}, io.EOF
	}
	if err != nil {
		return Header{}, r.s.wrap(err)
	}
	return header(h), nil
}

// Value returns the element on which the Reader stands, whole: of a string that was read in part, the rest; an aggregate only
// if nothing of it was read. It is valid only until the next iteration or call; copy with String or Append.
//
// A string larger than WithMaxBytes is ErrTooBig and can still be read by pieces.
func (r *Reader) Value() (Value, error) {
	if err := r.start(); err != nil {
		return Value{}, err
	}
	e, err := r.s.rd.Current()
	if err != nil {
		return Value{}, r.s.wrap(err)
	}
	return Value{e}, nil
}

// Skip drops the rest of the aggregate on which the Reader stands or, if it stands on a scalar, of the one around it. Next
// then steps to what follows.
func (r *Reader) Skip() error {
	if err := r.start(); err != nil {
		return err
	}
	if err := r.s.rd.Skip(); err != nil {
		return r.s.wrap(err)
	}
	return nil
}

// Values returns the elements of the aggregate on which the Reader stands or, if it stands on a scalar, the further elements of
// the aggregate around it; a reply that is a scalar is its own one element. After a break the Reader stands on the last
// element. An error ends the iteration.
//
// Elements are valid only until the next iteration or call; copy with String or Append.
func (r *Reader) Values() iter.Seq2[Value, error] {
	return func(yield func(Value, error) bool) {
		if err := r.start(); err != nil {
			yield(Value{}, err)
			return
		}
		s, reply := r.s, r.reply
		if h := s.rd.Header(); h.Depth == 0 && !resp.IsAggregate(h.Kind) {
			yield(r.Value())
			return
		}
		for r.s == s && r.reply == reply {
			e, err := s.rd.Element()
			if err == io.EOF {
				return
			}
			if err != nil {
				yield(Value{}, s.wrap(err))
				return
			}
			if !yield(Value{e}, nil) {
				return
			}
		}
		yield(Value{}, errClosed)
	}
}

// Pairs returns the elements of the aggregate by twos, as Values does one by one: those of a map, of an array or set of even
// length, or of an array of arrays of two, which is what the protocols have for the same thing. Another shape is ErrShape.
//
// Pairs are valid only until the next iteration or call; copy with String or Append.
func (r *Reader) Pairs() iter.Seq2[Pair, error] {
	return func(yield func(Pair, error) bool) {
		nested, err := r.startPairs()
		if err != nil {
			yield(Pair{}, err)
			return
		}
		s, reply := r.s, r.reply
		for r.s == s && r.reply == reply {
			k, v, err := s.rd.Pair(nested)
			if err == io.EOF {
				return
			}
			if err != nil {
				yield(Pair{}, s.wrap(err))
				return
			}
			if !yield(Pair{Value{k}, Value{v}}, nil) {
				return
			}
		}
		yield(Pair{}, errClosed)
	}
}

// startPairs tells whether the pairs are arrays of two.
func (r *Reader) startPairs() (nested bool, err error) {
	if err := r.start(); err != nil {
		return false, err
	}
	if h := r.s.rd.Header(); h.Depth == 0 && !resp.IsAggregate(h.Kind) {
		return false, r.s.wrap(fmt.Errorf("%w: %s is not an aggregate", ErrShape, Kind(h.Kind)))
	}
	nested, err = r.s.rd.Nested()
	if err != nil {
		return false, r.s.wrap(err)
	}
	return nested, nil
}

// Read reads from the string on which the Reader stands, or from the text of a number. It returns io.EOF at the string's end
// and nowhere else: a connection that ends early is io.ErrUnexpectedEOF, wrapped. On a null or an error it returns that; on an
// aggregate, ErrShape.
func (r *Reader) Read(p []byte) (int, error) {
	if err := r.startString(); err != nil {
		return 0, err
	}
	n, err := r.s.rd.Read(p)
	if err != nil && err != io.EOF {
		err = r.s.wrap(err)
	}
	return n, err
}

// WriteTo writes the rest of the string on which the Reader stands to w and returns how many bytes w took. When w fails, its
// error comes back wrapped, a short write as io.ErrShortWrite, and the string goes on behind what w took.
func (r *Reader) WriteTo(w io.Writer) (int64, error) {
	if err := r.startString(); err != nil {
		return 0, err
	}
	s := r.s
	r.writing = true
	defer func() {
		if r.writing = false; r.s == nil && !r.shared {
			_ = s.close() // w has closed the Reader
		}
	}()
	n, err := s.rd.WriteTo(w)
	switch {
	case err == nil:
		return n, nil
	case s.rd.Err() != nil:
		return n, s.wrap(err)
	default: // of w: it may look like one of the connection
		return n, s.at(err)
	}
}

// startString returns the error that the element is in place of a string.
func (r *Reader) startString() error {
	if err := r.start(); err != nil {
		return err
	}
	return r.s.own()
}

// Close ends the reading. It gives the connection back to the client's pool, after reading what is left of the reply if that
// is within WithDrain, or else closes the connection. It may be repeated, and is safe on a nil Reader. A
// Reader from a Replies has nothing to give back: its Close only ends its use.
//
// It returns an error, ErrProtocol wrapped, only if the reply that was read is in doubt: behind it there was something else
// than the end of the exchange.
func (r *Reader) Close() error {
	if r == nil || r.s == nil {
		return nil
	}
	s := r.s
	r.s = nil
	if r.shared || r.writing {
		return nil
	}
	return s.close()
}
