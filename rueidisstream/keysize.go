package rueidisstream

import "github.com/rueidisx/rueidisx/internal/hints"

// sizes remembers whether keys were small when they were read last. It is one for the process, since there is nothing that lives as
// long as a client where it could be kept. What it says decides what is asked first, never what comes out.
var sizes hints.Table

// The hints of sizes. A key of which nothing is known is as one that is open.
const (
	isOpen  = iota // the first question tells whether it is small
	isSmall        // it is asked for elements at random, one more than a small key has at most: those of a small one are all
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
	doing byte // the hint by which the question was asked: what is remembered may be another one when the answer is there
}

// expect makes cfg.size that of the key.
func (c *config) expect(kind collection, key string) {
	if kind != noKey && c.small > 0 {
		c.size = keySize{small: c.small, sum: hints.Sum(uint64(c.small)<<8|uint64(kind), key), kind: kind}
	}
}

// next returns what to do now.
func (k *keySize) next() byte {
	k.doing = k.hint()
	return k.doing
}

func (k keySize) hint() byte {
	if k.small == 0 {
		return isBig
	}
	hint, _ := sizes.Get(k.sum)
	return hint
}

// atRandom tells whether there is a command for elements at random, as isSmall needs it. Of a hash there is none: HRANDFIELD of Valkey
// 9 has fewer fields than it was asked for, of a hash that has more, when it meets many that have expired. It would gain nothing, since
// in RESP3 it has an array for each pair, which takes the client longer than HSCAN takes the server.
func (k keySize) atRandom() bool { return k.kind == aSet }

// answered notes the answer to the question: so many elements, or pairs, and whether they are all that the key has. It tells whether
// the answer counts.
func (k keySize) answered(elements int64, all bool, err error) bool {
	_, known := sizes.Get(k.sum)
	switch {
	case k.doing == isSmall && refuses(err):
		sizes.Put(k.sum, isOpen) // that is not tried again
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

// streamed notes how many elements, or pairs, a key has that was streamed.
func (k keySize) streamed(elements int64) {
	if k.small == 0 || elements < 0 || elements > k.small || k.hint() != isBig {
		return
	}
	if k.atRandom() {
		sizes.Put(k.sum, isSmall)
	} else {
		sizes.Put(k.sum, isOpen)
	}
}

// notStreamed notes why a key could not be streamed. A small one may be had all the same.
func (k keySize) notStreamed(err error) {
	if k.small != 0 && refuses(err) && k.hint() == isBig {
		sizes.Put(k.sum, isOpen)
	}
}

// refuses tells whether err says that the server, or its user, does not have the command, as far as can be told: it is not about
// the key, nor about what the server does just now.
func refuses(err error) bool {
	return err != nil && fromServer(err) && !isRedisErr(err, "WRONGTYPE") && !isNotReady(err)
}
