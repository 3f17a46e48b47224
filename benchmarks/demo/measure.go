package main

import (
	"runtime"
	"runtime/metrics"
	"time"
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
	runtime.GC() // twice: what pools keep survives the first
	runtime.GC()
	heap := watchHeap()
	runtime.ReadMemStats(&before)
	begin := time.Now()
	m.ask()
	err := fn(&m)
	took := time.Since(begin)
	runtime.ReadMemStats(&after)
	return usage{
		took:   took / time.Duration(times),
		first:  m.first / time.Duration(times),
		heap:   heap.growth(),
		allocs: (after.Mallocs - before.Mallocs) / uint64(times),
	}, err
}

// heapWatch looks at the heap's size every millisecond.
type heapWatch struct {
	stop, done chan struct{}
	base, peak uint64 // for the goroutine until done is closed
}

func watchHeap() *heapWatch {
	h := &heapWatch{stop: make(chan struct{}), done: make(chan struct{})}
	started := make(chan struct{})
	go h.watch(started)
	<-started
	return h
}

func (h *heapWatch) watch(started chan<- struct{}) {
	defer close(h.done)
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	read := func() uint64 {
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	h.base = read()
	h.peak = h.base
	close(started)
	for {
		select {
		case <-ticker.C:
			h.peak = max(h.peak, read())
		case <-h.stop:
			h.peak = max(h.peak, read())
			return
		}
	}
}

// growth ends the watch.
func (h *heapWatch) growth() uint64 {
	close(h.stop)
	<-h.done
	return h.peak - h.base
}
