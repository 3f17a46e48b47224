package main

import (
	"sync"
	"sync/atomic"
)

// together runs loop in that many goroutines, or in this one if there are none. Theirs nexts are true n times together.
func together(goroutines, n int, loop func(next func() bool)) {
	if goroutines == 0 {
		i := 0
		loop(func() bool { i++; return i <= n })
		return
	}
	var left atomic.Int64
	left.Store(int64(n))
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() { loop(func() bool { return left.Add(-1) >= 0 }) })
	}
	all.Wait()
}
