package rueidisbatch

import (
	"sync"
	"time"
)

// ordered reads windows in parallel and gives them back in the order in which they came. All its methods are for one goroutine.
type ordered struct {
	*source
	sizes   sizes
	group   crew
	jobs    chan *window // nil before the first
	crew    int          // goroutines started
	flight  []*window    // handed out, oldest first
	free    []*window
	given   int // keys in windows that were given back
	count   int // windows handed out
	direct  bool
	early   chan struct{} // closed when one of the goroutines ended early, by onEarly
	onEarly func()
}

// patience is how long a window may wait for a connection, while a stream of the same call has one, before it is read over the
// shared connection.
const patience = 100 * time.Millisecond

func newOrdered(s *source) *ordered {
	o := &ordered{source: s, early: make(chan struct{})}
	o.sizes.begin(&s.cfg, 0)
	o.onEarly = sync.OnceFunc(func() { close(o.early) })
	return o
}

// release takes a window back that is used no more.
func (o *ordered) release(w *window) {
	if w.state.Load() == taken {
		return // somebody may still hold its keys
	}
	w.reset()
	windows.Put(w)
}

// full tells whether no window may be handed out before the oldest is back: one is read by each goroutine, one lies ready for the
// first that has ended, and one is being filled.
func (o *ordered) full() bool { return len(o.flight) > o.cfg.parallelism }

// hand gives a window to the goroutines.
func (o *ordered) hand(w *window) {
	w.clearVals()
	o.flight = append(o.flight, w)
	o.count++
	if o.direct || len(w.keys) == 0 {
		w.state.Store(begun)
		if len(w.keys) > 0 {
			w.err = o.readShared(w.request(nil))
		}
		w.done <- struct{}{}
		return
	}
	if o.jobs == nil {
		o.jobs = make(chan *window, o.cfg.parallelism+2)
	}
	if o.crew < o.cfg.parallelism {
		o.crew++
		o.group.start(o.work, o.onEarly)
	}
	o.jobs <- w // there is room for all
}

func (o *ordered) work() {
	for w := range o.jobs {
		if o.halt.halted.Load() {
			continue
		}
		err := o.read(w.request(w.begin))
		if !w.begin() {
			continue // another one has it
		}
		w.err = err
		o.sizes.add(len(w.keys), w.read)
		w.done <- struct{}{}
	}
}

func (w *window) request(begin func() bool) *request {
	return &request{keys: w.keys, put: w.put, begun: begin}
}

// ready tells whether the oldest window is read.
func (o *ordered) ready() bool { return len(o.flight) > 0 && len(o.flight[0].done) > 0 }

// oldest waits for the oldest window. held tells that this goroutine has a connection that others may wait for.
func (o *ordered) oldest(held bool) *window {
	w := o.flight[0]
	o.flight = o.flight[1:]
	if held && !o.direct {
		timer := time.NewTimer(patience)
		defer timer.Stop()
		select {
		case <-w.done:
			return w
		case <-timer.C:
			o.direct = true
		case <-o.early:
			o.group.follow()
		}
	}
	if held && w.take() {
		w.err = o.readShared(w.request(nil))
		return w
	}
	select {
	case <-w.done:
	case <-o.early:
		o.group.follow()
	}
	return w
}

// close ends everything and waits for it.
func (o *ordered) close() {
	o.halt.now()
	if o.jobs != nil {
		close(o.jobs)
	}
	o.group.wait()
}
