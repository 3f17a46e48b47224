package goredis

import (
	"sync/atomic"

	"github.com/rueidisx/rueidisx/internal/hints"
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

// sizes remembers whether the last reply to a command and key was big. What it says changes what a reply costs, never what it is.
//
// A key that it does not know is taken for what keys that it did not know were lately: the first call of each command is
// streamed; while one in eight unknown ones is big, all are.
type sizes struct {
	table hints.Table
	// settled is, for a command, how many unknown keys in a row were small; up to calm.
	settled [commands]atomic.Int32
	off     atomic.Bool // the client cannot stream
}

const (
	wasSmall = iota // the table's hints
	wasBig
)

const calm = 8 // settled: unknown keys are taken for small

// question is a command and a key as sizes look at it.
type question struct {
	cmd command
	sum uint64
}

func about(cmd command, key string) question { return question{cmd, hints.Sum(uint64(cmd), key)} }

// big tells whether a big reply is to be expected.
func (s *sizes) big(q question) bool {
	if s.off.Load() {
		return false
	}
	if was, known := s.table.Get(q.sum); known {
		return was == wasBig
	}
	return s.settled[q.cmd].Load() < calm
}

// learn notes what the reply was.
func (s *sizes) learn(q question, big bool) {
	if _, known := s.table.Get(q.sum); !known {
		s.guess(q.cmd, big)
	}
	if big {
		s.table.Put(q.sum, wasBig)
	} else {
		s.table.Put(q.sum, wasSmall)
	}
}

// guess notes what an unknown key was. The first of all settles what is not known yet.
func (s *sizes) guess(cmd command, big bool) {
	switch n := s.settled[cmd].Load(); {
	case big:
		s.settled[cmd].Store(1)
	case n == 0:
		s.settled[cmd].Store(calm)
	case n < calm:
		s.settled[cmd].Store(n + 1)
	}
}
