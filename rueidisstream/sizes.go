package rueidisstream

import "github.com/rueidisx/rueidisx/internal/hints"

// sizes remembers whether keys were small when they were read last. It is one for the process, since there is nothing that lives as
// long as a client where it could be kept. What it says decides what is asked first, never what comes out.
var sizes hints.Table

// The hints of sizes. A key of which nothing is known is as one that is open.
const (
	isOpen  = iota // the first question tells whether it is small
	isSmall        // it is asked for elements at random, as many as a small key has at most: those of a small one are all
	isBig          // it is streamed
)

// collection is a kind of key.
type collection byte

const (
	noKey collection = iota
	aSet
	aHash
	aSortedSet
	aList
	aStream
)

// keySize is what is remembered of one key, for one kind and one WithSmall.
type keySize struct {
	small int64 // how many elements the key has at most to be small, or pairs; 0 of the zero keySize, of which nothing is remembered
	sum   uint64
	kind  collection
}

// expect makes cfg.size that of the key.
func (c *config) expect(kind collection, key string) {
	if kind != noKey && c.small > 0 {
		c.size = keySize{c.small, hints.Sum(uint64(c.small)<<8|uint64(kind), key), kind}
	}
}

// hint returns what to do.
func (k keySize) hint() byte {
	if k.small == 0 {
		return isBig
	}
	hint, _ := sizes.Get(k.sum)
	return hint
}

// atRandom tells whether elements at random are to be had for less than by the first question, as isSmall needs it. For a hash they are
// not: HRANDFIELD has an array for each pair, which takes the client longer than HSCAN takes the server.
func (k keySize) atRandom() bool { return k.kind == aSet }

// answered notes the answer to a question that was asked by hint: so many elements, or pairs, and whether they are all that the key
// has. It tells whether the answer counts.
func (k keySize) answered(elements int64, all bool, err error) bool {
	hint, known := sizes.Get(k.sum)
	switch {
	case err != nil && hint == isSmall && fromServer(err):
		sizes.Put(k.sum, isOpen) // it, or this user, may not have the command: that is not tried again
		return false
	case err != nil:
		return true
	case !all:
		sizes.Put(k.sum, isBig)
		return false
	case !known && k.atRandom() && elements <= k.small:
		sizes.Put(k.sum, isSmall)
	}
	return true
}

// streamed notes the size of a key that was streamed.
func (k keySize) streamed(h Header) {
	elements := h.Len
	if k.kind == aHash {
		elements /= 2
	}
	if k.small == 0 || elements < 0 || elements > k.small || k.hint() != isBig {
		return
	}
	if k.atRandom() {
		sizes.Put(k.sum, isSmall)
	} else {
		sizes.Put(k.sum, isOpen)
	}
}
