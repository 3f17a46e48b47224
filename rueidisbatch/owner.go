package rueidisbatch

// ownerBlock is how large a block of values is at most. A value of at least so much has memory to itself.
const ownerBlock = 1 << 20

// owner copies values into blocks, which are as large as what they hold: values are collected in a buffer that is used
// again, and copied once more when it is full or the chunk has ended.
type owner struct {
	vals [][]byte // for all keys
	buf  []byte
	held []held
}

// held is the value of the i-th key. Its bytes lie in the buffer behind those of the value before, up to end.
type held struct{ i, end int }

func (o *owner) take(i int, val []byte) error {
	switch {
	case val == nil:
		return nil
	case len(val) >= ownerBlock:
		own := make([]byte, len(val))
		copy(own, val)
		o.vals[i] = own
		return nil
	case len(o.buf)+len(val) > ownerBlock:
		o.flush()
	}
	o.buf = append(o.buf, val...)
	o.held = append(o.held, held{i, len(o.buf)})
	return nil
}

func (o *owner) flush() {
	if len(o.held) == 0 {
		return
	}
	block := make([]byte, len(o.buf))
	copy(block, o.buf)
	from := 0
	for _, h := range o.held {
		o.vals[h.i] = block[from:h.end:h.end]
		from = h.end
	}
	o.buf, o.held = o.buf[:0], o.held[:0]
}
