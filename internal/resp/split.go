package resp

import "bytes"

// Split cuts the first element off the elements of an aggregate, as Element.Bytes holds them. It needs no state and no memory:
// what is kept was checked on the way in and is canonical, so lengths are announced and nothing stands aside.
func Split(b []byte) (e Element, rest []byte) {
	n := extent(b)
	return whole(b[:n:n]), b[n:]
}

// extent returns how many bytes the first element of b has.
func extent(b []byte) int {
	pos := 0
	for left := int64(1); left > 0; left-- {
		kind := b[pos]
		i := pos + bytes.IndexByte(b[pos:], '\n')
		text := b[pos+1 : i-1]
		pos = i + 1
		switch {
		case isString(kind):
			if n, _, _ := parseLength(text); n >= 0 {
				pos += int(n) + len(crlf)
			}
		case IsAggregate(kind):
			n, _, _ := parseLength(text)
			if kind == Map {
				n *= 2
			}
			left += max(n, 0)
		}
	}
	return pos
}

// whole reads an element that is all of b.
func whole(b []byte) Element {
	i := bytes.IndexByte(b, '\n')
	kind, text := b[0], b[1:i-1:i-1]
	if kind == Bool {
		text = boolText(text)
	}
	if !isString(kind) && !IsAggregate(kind) {
		return NewElement(kind, int64(len(text)), text)
	}
	n, _, _ := parseLength(text)
	switch {
	case n < 0:
		return NewElement(Null, 0, nil)
	case kind == Map:
		return NewElement(kind, 2*n, b[i+1:])
	case IsAggregate(kind):
		return NewElement(kind, n, b[i+1:])
	}
	stop := len(b) - len(crlf)
	body := b[i+1 : stop : stop]
	if kind == Verbatim {
		body = body[verbatimPrefix:]
	}
	return NewElement(kind, int64(len(body)), body)
}

// boolText is the value of a boolean as bytes: 1 or 0, which is what RESP2 has in its place.
func boolText(b []byte) []byte {
	if b[0] == 't' {
		return bools[1:2:2]
	}
	return bools[0:1:1]
}

var bools = [2]byte{'0', '1'}
