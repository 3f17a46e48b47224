// Package hints remembers a small number about each of many keys, in little memory. What it says may change what a call costs, but
// never what it returns: it forgets, it mixes up two keys of one hash, and it may be overtaken.
package hints

import (
	"hash/maphash"
	"sync/atomic"
)

const (
	size     = 1 << 12 // of a Table, in words: 16 KiB
	hintBits = 3       // of a word, for the hint and what tells that it is there; the others are of the hash
)

// Max is the largest hint.
const Max = 1<<(hintBits-1) - 1

var seed = maphash.MakeSeed()

// Sum returns the hash by which a Table knows a key. What is noted about a key with another salt is something else.
func Sum(salt uint64, key string) uint64 { return maphash.String(seed, key) + salt*0x9e3779b97f4a7c15 }

// Table is the memory. The zero Table has nothing, and takes its room when there is something to note. It is for concurrent use.
type Table struct {
	words atomic.Pointer[[size]atomic.Uint32]
}

// Get returns what was last noted for a sum, or 0 if that is not known any more.
func (t *Table) Get(sum uint64) (hint byte, known bool) {
	words := t.words.Load()
	if words == nil {
		return 0, false
	}
	word := words[sum%size].Load()
	if word&^Max != mark(sum) {
		return 0, false
	}
	return byte(word & Max), true
}

// Put notes a hint, of Max at most.
func (t *Table) Put(sum uint64, hint byte) {
	words := t.words.Load()
	if words == nil {
		t.words.CompareAndSwap(nil, new([size]atomic.Uint32))
		words = t.words.Load()
	}
	if word := mark(sum) | uint32(hint&Max); words[sum%size].Load() != word { // most often it is there, and processors can share it
		words[sum%size].Store(word)
	}
}

// mark is what a word has beside the hint. It is not 0, as a word is to which nothing was noted.
func mark(sum uint64) uint32 { return uint32(sum>>32)<<hintBits | (Max + 1) }
