package rueidisbatch

import (
	"sync"
	"sync/atomic"
)

// window is a chunk of what is given out in order, with the values of its keys.
type window struct {
	keys []string
	vals []span // of each key
	buf  []byte // the values that the spans are of
	// wrong tells of each key whether it has another type; nil if none has.
	wrong []bool
	read  int64 // bytes of values

	// entries are what the window is of, for Readdir: their names and values lie in arena. An entry whose key is negative has
	// none.
	entries []entry
	arena   []byte
	keyBuf  []byte
	keyEnds []int

	err   error
	done  chan struct{} // gets one when keys are read, by whomever
	state atomic.Int32
}

// The states of a window. It goes from waiting to one of the others once.
const (
	waiting int32 = iota // nobody has begun to read its keys
	begun                // the one to whom it was handed is reading them
	taken                // it is read by another one, and nobody else may touch it
)

// span is where a value lies. A missing key's has from = -1.
type span struct{ from, to int }

// entry is a name and its value, which lie in the arena behind those of the entry before, and the place of its key.
type entry struct{ nameEnd, valueEnd, key int }

// windows are used again, by other calls as well.
var windows = sync.Pool{New: func() any { return &window{done: make(chan struct{}, 1)} }}

func (w *window) reset() {
	clear(w.keys)
	w.keys, w.vals, w.buf, w.wrong, w.read = w.keys[:0], w.vals[:0], w.buf[:0], nil, 0
	w.entries, w.arena, w.keyBuf, w.keyEnds = w.entries[:0], w.arena[:0], w.keyBuf[:0], w.keyEnds[:0]
	w.err = nil
	w.state.Store(waiting)
	for _, b := range []*[]byte{&w.buf, &w.arena, &w.keyBuf} {
		if cap(*b) > keepBuf {
			*b = nil
		}
	}
}

// keepBuf is how large a buffer may be to be used again.
const keepBuf = 16 << 20

// begin tells whether the one to whom the window was handed may read it.
func (w *window) begin() bool {
	return w.state.CompareAndSwap(waiting, begun) || w.state.Load() == begun
}

// take is begin for another one.
func (w *window) take() bool { return w.state.CompareAndSwap(waiting, taken) }

func (w *window) put(i int, val []byte, wrong bool) error {
	if wrong {
		if w.wrong == nil {
			w.wrong = make([]bool, len(w.keys))
		}
		w.wrong[i] = true
	}
	if val == nil {
		return nil
	}
	from := len(w.buf)
	w.buf = append(w.buf, val...)
	w.vals[i] = span{from, len(w.buf)}
	w.read += int64(len(val))
	return nil
}

// clearVals makes all keys missing.
func (w *window) clearVals() {
	w.vals = w.vals[:0]
	for range w.keys {
		w.vals = append(w.vals, span{-1, -1})
	}
}

// value returns the value of the i-th key, and whether it has another type.
func (w *window) value(i int) (val []byte, wrong bool) {
	if s := w.vals[i]; s.from >= 0 {
		val = w.buf[s.from:s.to:s.to]
		if val == nil {
			val = []byte{}
		}
	}
	return val, w.wrong != nil && w.wrong[i]
}

// cutKeys makes the keys out of keyBuf. They share one string.
func (w *window) cutKeys() {
	all, from := string(w.keyBuf), 0
	for _, end := range w.keyEnds {
		w.keys = append(w.keys, all[from:end])
		from = end
	}
}

// add appends an entry, whose key is that of the last call of addKey if it has one.
func (w *window) add(name, value []byte, key int) {
	w.arena = append(w.arena, name...)
	nameEnd := len(w.arena)
	w.arena = append(w.arena, value...)
	w.entries = append(w.entries, entry{nameEnd, len(w.arena), key})
}

// addKey appends the key of the next entry, by key, and returns its place, or -1 if it has none.
func (w *window) addKey(e Dirent, key KeyFunc) int {
	if key == nil {
		return -1
	}
	// The room behind what is there is handed out, so that most keys are written where they shall be.
	have := len(w.keyBuf)
	got := key(w.keyBuf[have:], e)
	if len(got) == 0 {
		return -1
	}
	w.keyBuf = append(w.keyBuf, got...)
	w.keyEnds = append(w.keyEnds, len(w.keyBuf))
	return len(w.keyEnds) - 1
}
