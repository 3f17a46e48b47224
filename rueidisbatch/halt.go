package rueidisbatch

import (
	"context"
	"sync"
	"sync/atomic"
)

// halt ends what several goroutines do for one call: nothing is begun any more, and streams are interrupted, also where they wait
// for their connection.
type halt struct {
	halted  atomic.Bool
	mu      sync.Mutex
	reading map[*context.CancelFunc]struct{} // nil once halted
}

func newHalt() *halt { return &halt{reading: map[*context.CancelFunc]struct{}{}} }

// now halts. It may be repeated.
func (h *halt) now() {
	h.halted.Store(true)
	h.mu.Lock()
	defer h.mu.Unlock()
	for cancel := range h.reading {
		(*cancel)()
	}
	h.reading = nil
}

// enter lets cancel be called by now, until leave. It tells whether to go on.
func (h *halt) enter(cancel *context.CancelFunc) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.reading == nil {
		return false
	}
	h.reading[cancel] = struct{}{}
	return true
}

func (h *halt) leave(cancel *context.CancelFunc) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.reading, cancel)
}
