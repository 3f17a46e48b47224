package resp

// The way that nearly all elements of big replies take: a string, header and body, that is in the window whole. What is not
// just so is left to take, which finds the same or says what is wrong.

// quick reads the next element if it is such a string. The region goes on.
func (r *Reader) quick() (e Element, ok bool) {
	f := &r.stack[len(r.stack)-1]
	if f.left == 0 {
		return e, false
	}
	b, size := quickString(r.buf[r.pos:])
	if size == 0 || int64(len(b)) > r.max {
		return e, false
	}
	if f.left > 0 {
		f.left--
	}
	f.count++
	if len(r.stack) == 2 {
		r.elements++
	}
	r.pos += size
	return NewElement(BulkString, int64(len(b)), b), true
}

// quickPair reads the next two elements if they are such strings or, with nested, an array of two of them, or of one and a
// double.
func (r *Reader) quickPair(nested bool) (key, value Element, ok bool) {
	pos := r.pos
	f := &r.stack[len(r.stack)-1]
	if nested {
		const header = "*2\r\n"
		if f.left == 0 || len(r.buf)-pos < len(header) || string(r.buf[pos:pos+len(header)]) != header {
			return key, value, false
		}
		pos += len(header)
	} else if f.left >= 0 && f.left < 2 || f.left > 0 && f.left%2 != 0 {
		return key, value, false
	}
	k, ksize := quickString(r.buf[pos:])
	if ksize == 0 || int64(len(k)) > r.max {
		return key, value, false
	}
	kind := byte(BulkString)
	v, vsize := quickString(r.buf[pos+ksize:])
	if vsize == 0 && nested {
		kind = Double
		v, vsize = quickDouble(r.buf[pos+ksize:])
	}
	if vsize == 0 || int64(len(v)) > r.max {
		return key, value, false
	}
	n := int64(2)
	if nested {
		n = 1
	}
	if f.left > 0 {
		f.left -= n
	}
	f.count += n
	if len(r.stack) == 2 {
		r.elements += n
	}
	r.pos = pos + ksize + vsize
	return NewElement(BulkString, int64(len(k)), k), NewElement(kind, int64(len(v)), v), true
}

// quickString returns the body of the bulk string at the front of b and the bytes that it takes with header and CRLF; 0 if
// that is not what stands there.
func quickString(b []byte) (body []byte, size int) {
	if len(b) < 6 || b[0] != BulkString {
		return nil, 0
	}
	n, i := int(b[1]-'0'), 2
	if n > 9 {
		return nil, 0
	}
	for d := b[i] - '0'; d <= 9; d = b[i] - '0' {
		n = n*10 + int(d)
		if i++; i == len(b) || i > 10 {
			return nil, 0
		}
	}
	start, stop := i+2, i+2+n
	if stop+2 > len(b) || b[i] != '\r' || b[i+1] != '\n' || b[stop] != '\r' || b[stop+1] != '\n' {
		return nil, 0
	}
	return b[start:stop:stop], stop + 2
}

// quickDouble does the same for a double of less than 32 bytes.
func quickDouble(b []byte) (text []byte, size int) {
	if len(b) == 0 || b[0] != Double {
		return nil, 0
	}
	for i := 1; i < min(len(b)-1, 32); i++ {
		if b[i] == '\r' && b[i+1] == '\n' {
			return b[1:i:i], i + 2
		}
	}
	return nil, 0
}
