package resp

import (
	"bytes"
	"fmt"
	"math"
)

// token is one header as it stands in the input.
type token struct {
	kind     byte
	streamed bool  // of unknown length: chunks or elements follow up to an end marker
	n        int64 // string: bytes of its body; aggregate and aside: elements, two for each pair; else bytes of the text
	at       int   // where the header begins, relative to mark
	text     int   // where its line's text begins, relative to mark
}

// line makes the next line whole in the window and steps over it. It returns where its text begins and ends, relative to mark.
func (r *Reader) line(limit int64) (start, stop int, err error) {
	from := r.pos - r.mark
	for {
		region := r.buf[r.mark:]
		if i := bytes.IndexByte(region[from:], '\n'); i >= 0 {
			stop, start = from+i-1, r.pos-r.mark
			if stop < start || region[stop] != '\r' {
				return 0, 0, fmt.Errorf("%w: line %.40q does not end with CRLF", ErrProtocol, region[start:from+i+1])
			}
			if int64(stop-start) > limit {
				return 0, 0, tooLong(limit)
			}
			r.pos = r.mark + stop + 2
			return start, stop, nil
		}
		from = len(region)
		if int64(from-(r.pos-r.mark)) > limit {
			return 0, 0, tooLong(limit)
		}
		if err := r.moreLine(); err != nil {
			return 0, 0, err
		}
	}
}

func tooLong(limit int64) error {
	return fmt.Errorf("%w: a line of more than %d bytes", ErrTooBig, limit)
}

// lengthLine is more than any valid header with a length has.
const lengthLine = 64

// header reads the next header. The line of a scalar is consumed, the body of a string is not.
func (r *Reader) header() (t token, err error) {
	if r.pos == len(r.buf) {
		if err := r.moreLine(); err != nil {
			return t, err
		}
	}
	t.kind = r.buf[r.pos]
	t.at = r.pos - r.mark
	r.pos++
	switch t.kind {
	case Simple, Error, Double, BigNumber, Integer, Bool, Null, end:
		return t, r.scalar(&t)
	case BulkString, Verbatim, BlobError, Array, Set, Map, attribute, push, chunk:
	default:
		return t, fmt.Errorf("%w: type byte %q", ErrProtocol, t.kind)
	}
	start, stop, err := r.line(lengthLine)
	if err != nil {
		return t, lengthError(err)
	}
	if t.n, t.streamed, err = parseLength(r.buf[r.mark+start : r.mark+stop]); err != nil {
		return t, err
	}
	switch {
	case t.n == -1 && !t.streamed:
		if t.kind != BulkString && t.kind != Array {
			return t, fmt.Errorf("%w: length -1 of type %q", ErrProtocol, t.kind)
		}
		t.kind, t.n, t.text = Null, 0, start
	case t.streamed && (t.kind == chunk || t.kind == push || t.kind == BlobError || t.kind == Verbatim):
		return t, fmt.Errorf("%w: unknown length of type %q", ErrProtocol, t.kind)
	case isString(t.kind) && t.n > math.MaxInt64-4, t.kind == Map && t.n > math.MaxInt64/2, t.kind == attribute && t.n > math.MaxInt64/2:
		return t, fmt.Errorf("%w: length %d of type %q", ErrProtocol, t.n, t.kind)
	case (t.kind == Map || t.kind == attribute) && !t.streamed:
		t.n *= 2
	case t.kind == Verbatim:
		return t, r.prefix(t.n)
	}
	return t, nil
}

// prefix checks the prefix of the verbatim string of n bytes that follows.
func (r *Reader) prefix(n int64) error {
	n = min(n, verbatimPrefix)
	if err := r.need(n); err != nil {
		return err
	}
	if b := r.buf[r.pos : r.pos+int(n)]; n < verbatimPrefix || b[n-1] != ':' {
		return fmt.Errorf("%w: verbatim string %q has no prefix", ErrProtocol, b)
	}
	return nil
}

// scalar reads the line of an element that is one line.
func (r *Reader) scalar(t *token) error {
	limit := r.max
	if r.budget > 0 {
		limit = min(limit, max(r.budget-r.offset(), 0))
	}
	start, stop, err := r.line(limit)
	if err != nil {
		return err
	}
	t.text, t.n = start, int64(stop-start)
	text := r.buf[r.mark+start : r.mark+stop]
	bad := false
	switch t.kind {
	case Integer:
		bad = !isInteger(text)
	case Bool:
		bad = string(text) != "t" && string(text) != "f"
	case Null, end:
		bad = len(text) != 0
	}
	if bad {
		return fmt.Errorf("%w: %q of type %q", ErrProtocol, cutText(text), t.kind)
	}
	return nil
}

// lengthError turns a header line that does not end into what it is, malformed.
func lengthError(err error) error {
	if isTooBig(err) {
		return fmt.Errorf("%w: a length of more than %d bytes", ErrProtocol, lengthLine)
	}
	return err
}

func cutText(b []byte) []byte { return b[:min(len(b), 40)] }
