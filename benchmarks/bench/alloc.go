package main

import (
	"fmt"
	"math"
	"runtime"
	"runtime/debug"

	"github.com/rueidisx/rueidisx/rueidisstream"
)

// assertAllocations fails if rueidisx allocates more than it promises: nothing for one string to an io.Writer, and as much
// for a large set as for a small one.
func (e *env) assertAllocations() error {
	for _, size := range []int{1, 1 << 10, 1 << 20} {
		k, err := e.value(size)
		if err != nil {
			return err
		}
		for _, im := range e.singles(k) {
			if im.name != "rueidisx" {
				continue
			}
			allocs, bytes, err := e.allocations(im, 200)
			if err != nil {
				return err
			}
			if allocs != 0 || bytes != 0 {
				return fmt.Errorf("of Copy, %d bytes: %d allocs/op, %d B/op, not 0", size, allocs, bytes)
			}
		}
	}
	var least uint64
	for i, size := range []int{10, 1000, 1_000_000} {
		if _, err := e.fill(smembers, size); err != nil {
			return err
		}
		im, _ := e.streamPeer("", rueidisstream.WithSmall(0)).read(smembers, key(smembers, size))
		allocs, _, err := e.allocations(im, 5)
		if err != nil {
			return err
		}
		if i == 0 {
			least = allocs
		}
		if allocs != least {
			return fmt.Errorf("streamed members: %d allocs/op for %d members, %d for 10", allocs, size, least)
		}
	}
	fmt.Printf("allocations: Copy 0 allocs/op, 0 B/op at 1 B, 1 KiB and 1 MiB; a streamed SMEMBERS %d allocs/op at 10, 1,000 and 1,000,000 members\n", least)
	return e.clear()
}

// allocations counts what times times allocate, on average, when nothing empties the pools: the least of three, since
// whatever else runs in the process can only add to it.
func (e *env) allocations(im impl, times int) (allocs, bytes uint64, err error) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	op, stop := im.start()
	defer stop()
	s := new(sink)
	allocs, bytes = math.MaxUint64, math.MaxUint64
	for try := range 4 { // the first fills the pools
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range times {
			*s = sink{}
			if err := op(s); err != nil {
				return 0, 0, err
			}
		}
		runtime.ReadMemStats(&after)
		if try > 0 {
			allocs = min(allocs, (after.Mallocs-before.Mallocs)/uint64(times))
			bytes = min(bytes, (after.TotalAlloc-before.TotalAlloc)/uint64(times))
		}
	}
	return allocs, bytes, nil
}
