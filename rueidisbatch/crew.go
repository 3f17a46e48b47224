package rueidisbatch

import (
	"runtime"
	"sync"
)

// crew is goroutines that work for one call. None outlives it: wait comes first, whatever happens.
type crew struct {
	all sync.WaitGroup
	mu  sync.Mutex
	// What a goroutine ended with in place of returning: a panic, or runtime.Goexit. The first one counts.
	ended    bool
	panicked any // nil for Goexit
}

// start runs work in a goroutine. If that does not return, early is called.
func (c *crew) start(work, early func()) {
	c.all.Go(func() {
		returned := false
		defer func() {
			if returned {
				return
			}
			reason := recover()
			c.mu.Lock()
			if !c.ended {
				c.ended, c.panicked = true, reason
			}
			c.mu.Unlock()
			early()
		}()
		work()
		returned = true
	})
}

// wait waits for all. If one of them did not return, this one does as it did.
func (c *crew) wait() {
	c.all.Wait()
	c.follow()
}

// follow ends this goroutine as one of the crew has ended, if that did not return.
func (c *crew) follow() {
	c.mu.Lock()
	ended, panicked := c.ended, c.panicked
	c.mu.Unlock()
	switch {
	case !ended:
	case panicked != nil:
		panic(panicked)
	default:
		runtime.Goexit()
	}
}
