package redistest

import (
	"runtime"
	"runtime/debug"
	"time"
)

// PeakHeap runs f and returns by how many bytes the heap rose above where it was, garbage included.
func PeakHeap(f func()) int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	base, top := int64(m.HeapAlloc), int64(0)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		var m runtime.MemStats
		for {
			runtime.ReadMemStats(&m)
			top = max(top, int64(m.HeapAlloc)-base)
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	f()
	close(stop)
	<-done
	return top
}

// Allocs returns how many allocations f makes: the least of some runs, since what else goes on in the process counts, too, and
// without collections, which empty pools.
func Allocs(f func()) uint64 {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	f()
	least := uint64(1 << 63)
	for range 10 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		least = min(least, after.Mallocs-before.Mallocs)
	}
	return least
}
