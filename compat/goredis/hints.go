package goredis

import (
	"hash/maphash"
	"sync/atomic"
)

// command names what the size of a reply depends on, beside the first key.
type command byte

const (
	smembers command = iota
	sinter
	sunion
	sdiff
	hgetall
	hkeys
	hvals
	lrange
	zrange
	zrangeby
	zcombine
	xrange
	sorted
	keyspace
	commands
)

// hints remembers whether the last reply to a command and key was big. What it says changes what a reply costs, never what it is,
// so that it may forget, mix up two keys of one hash, or be overtaken. It is a table of 1024 words, made when there is
// something to remember.
//
// A key that it does not know is taken for what keys that it did not know were lately: the first call of each command is
// streamed; while one in eight unknown ones is big, all are.
type hints struct {
	table atomic.Pointer[[tableSize]atomic.Uint32]
	// settled is, for a command, how many unknown keys in a row were small; up to calm.
	settled [commands]atomic.Int32
	off     atomic.Bool // the client cannot stream
}

const (
	tableSize = 1 << 10
	bigBit    = 1 // of an entry; the others are of the hash, and not all 0
	calm      = 8 // settled: unknown keys are taken for small
)

var seed = maphash.MakeSeed()

// question is a command and a key as hints look at it.
type question struct {
	cmd command
	sum uint64
}

func about(cmd command, key string) question {
	return question{cmd, maphash.String(seed, key) + uint64(cmd)*0x9e3779b97f4a7c15}
}

// big tells whether a big reply is to be expected.
func (h *hints) big(q question) bool {
	if h.off.Load() {
		return false
	}
	if known, big := h.known(q); known {
		return big
	}
	return h.settled[q.cmd].Load() < calm
}

// known returns what the table has.
func (h *hints) known(q question) (known, big bool) {
	table := h.table.Load()
	if table == nil {
		return false, false
	}
	entry := table[q.sum%tableSize].Load()
	return entry&^bigBit == q.mark(), entry&bigBit != 0
}

// learn notes what the reply was.
func (h *hints) learn(q question, big bool) {
	known, was := h.known(q)
	if known && was == big {
		return
	}
	if !known {
		h.guess(q.cmd, big)
	}
	table := h.table.Load()
	if table == nil {
		h.table.CompareAndSwap(nil, new([tableSize]atomic.Uint32))
		table = h.table.Load()
	}
	entry := q.mark()
	if big {
		entry |= bigBit
	}
	table[q.sum%tableSize].Store(entry)
}

// guess notes what an unknown key was. The first of all settles what is not known yet.
func (h *hints) guess(cmd command, big bool) {
	switch n := h.settled[cmd].Load(); {
	case big:
		h.settled[cmd].Store(1)
	case n == 0:
		h.settled[cmd].Store(calm)
	case n < calm:
		h.settled[cmd].Store(n + 1)
	}
}

// mark is what an entry keeps of the hash.
func (q question) mark() uint32 { return uint32(q.sum>>32)&^bigBit | 2 }
