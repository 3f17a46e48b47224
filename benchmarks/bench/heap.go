package main

import (
	"os"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"time"
)

// heapWatch looks at the heap's size every millisecond.
type heapWatch struct {
	stop, done chan struct{}
	base, peak uint64 // for the goroutine until done is closed
}

func watchHeap() *heapWatch {
	runtime.GC() // twice: what pools keep survives the first
	runtime.GC()
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

// growth ends the watch and returns by how much the heap grew at most.
func (h *heapWatch) growth() uint64 {
	close(h.stop)
	<-h.done
	return h.peak - h.base
}

// peakRSS is the largest size that the process has had, where the system tells it; 0 elsewhere.
func peakRSS() int64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, found := strings.CutPrefix(line, "VmHWM:"); found {
			kib, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			return kib << 10
		}
	}
	return 0
}
