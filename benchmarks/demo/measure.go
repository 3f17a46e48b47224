package main

import (
	"runtime"
	"time"

	"github.com/rueidisx/rueidisx/benchmarks/internal/heap"
)

// usage is what one way of reading took. Of something done several times, all but the heap is for one time.
type usage struct {
	took   time.Duration
	first  time.Duration // until the first element was there
	heap   uint64        // bytes by which the heap grew at most
	allocs uint64
}

// meter is told by a step when a reply is asked for and when an element of it is there.
type meter struct {
	asked   time.Time
	waiting bool
	first   time.Duration // summed up
}

// ask says that the command is about to be sent.
func (m *meter) ask() { m.asked, m.waiting = time.Now(), true }

// element says that an element is there; only the first after ask counts.
func (m *meter) element() {
	if m.waiting {
		m.first += time.Since(m.asked)
		m.waiting = false
	}
}

// measure runs fn, which does the same thing times times. The heap is that of this process, which the server is not part of.
func measure(times int, fn func(m *meter) error) (usage, error) {
	var m meter
	var before, after runtime.MemStats
	watch := heap.Start()
	runtime.ReadMemStats(&before)
	begin := time.Now()
	m.ask()
	err := fn(&m)
	took := time.Since(begin)
	runtime.ReadMemStats(&after)
	return usage{
		took:   took / time.Duration(times),
		first:  m.first / time.Duration(times),
		heap:   watch.Growth(),
		allocs: (after.Mallocs - before.Mallocs) / uint64(times),
	}, err
}
