package goredis

import "strings"

const (
	firstBlock = 256 << 10 // the largest first block
	laterBlock = 1 << 20   // the largest further one
	ownString  = 32 << 10  // a string of so many bytes gets memory of its own
)

// views makes strings that share blocks of memory. A block is a strings.Builder that is filled up to its capacity and no
// further, so that its String stays where it is, and strings are cut out of that.
type views struct {
	block strings.Builder
	bytes int // made so far, and of how many strings
	count int
}

// add returns a copy of p. left is how many more strings are expected, to choose the size of a block; 0 is unknown.
func (w *views) add(p []byte, left int64) string {
	if len(p) == 0 {
		return ""
	}
	if len(p) >= ownString {
		return string(p)
	}
	if w.block.Cap()-w.block.Len() < len(p) {
		w.next(len(p), left)
	}
	w.bytes += len(p)
	w.count++
	at := w.block.Len()
	w.block.Write(p)
	return w.block.String()[at:]
}

// next begins a block with room for n bytes and for what is expected behind them.
func (w *views) next(n int, left int64) {
	limit := laterBlock
	if w.count == 0 {
		limit = firstBlock
	}
	mean := (w.bytes + n + w.count) / (w.count + 1)
	size := limit
	if left <= int64(limit/(mean+1)) {
		size = max(n, n+int(left)*(mean+1))
	}
	w.block.Reset()
	w.block.Grow(min(size, max(limit, n)))
}
