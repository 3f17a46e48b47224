// Package heap watches by how much a process' heap grows.
package heap

import (
	"runtime"
	"runtime/metrics"
	"time"
)

// Watch looks at the heap's size every millisecond.
type Watch struct {
	stop, done chan struct{}
	base, peak uint64 // for the goroutine until done is closed
}

// Start collects garbage and begins to watch.
func Start() *Watch {
	runtime.GC() // twice: what pools keep survives the first
	runtime.GC()
	h := &Watch{stop: make(chan struct{}), done: make(chan struct{})}
	started := make(chan struct{})
	go h.watch(started)
	<-started
	return h
}

func (h *Watch) watch(started chan<- struct{}) {
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

// Growth ends the watch and returns by how many bytes the heap grew at most.
func (h *Watch) Growth() uint64 {
	close(h.stop)
	<-h.done
	return h.peak - h.base
}
