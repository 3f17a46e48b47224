package rueidisbatch

import (
	"errors"
	"sync"
)

// run reads all of some keys, by chunks, and in no order.
type run struct {
	*source
	keys  []string
	order []place // of keys, if they were sorted; the index in it is that of keys
	sizes sizes
	group crew

	mu     sync.Mutex
	next   int // the first key, or on a cluster the chunk, that is not handed out
	failed []error
}

// taker takes values for one goroutine.
type taker interface {
	// take takes the value of the i-th key. It is borrowed until take returns.
	take(i int, val []byte) error
	// flush ends a chunk.
	flush()
	// end comes last, if nothing panics.
	end()
}

// do reads the keys. Each goroutine has a taker of its own.
func (r *run) do(newTaker func() taker) error {
	n := len(r.keys)
	if r.cluster != nil && n > r.cfg.chunk {
		r.sort()
	}
	r.sizes.begin(&r.cfg, n)
	workers := min(r.cfg.parallelism, r.sizes.chunks(n))
	if workers > 1 {
		defer r.group.all.Wait() // also when this goroutine ends before it comes to wait
		defer r.halt.now()
	}
	for range workers - 1 {
		r.group.start(func() { r.work(newTaker()) }, r.halt.now)
	}
	r.work(newTaker())
	if workers > 1 {
		r.group.wait()
	}
	if len(r.failed) == 1 {
		return r.failed[0]
	}
	return errors.Join(r.failed...)
}

// sort brings the keys into the order of their slots, so that a chunk is of one node.
func (r *run) sort() {
	r.order = r.cluster.order(r.keys, nil)
	keys := make([]string, len(r.keys))
	for i, p := range r.order {
		keys[i] = r.keys[p.index()]
	}
	r.keys = keys
}

// index returns the index that the caller has for the i-th key.
func (r *run) index(i int) int {
	if r.order == nil {
		return i
	}
	return r.order[i].index()
}

func (r *run) work(t taker) {
	from, read := 0, int64(0)
	var req request
	req.put = func(i int, val []byte, _ bool) error {
		read += int64(len(val))
		return t.take(r.index(from+i), val)
	}
	for {
		var to int
		if from, to = r.chunk(); from == to {
			t.end()
			return
		}
		req.keys, read = r.keys[from:to], 0
		err := r.read(&req)
		t.flush()
		r.sizes.add(to-from, read)
		if err != nil {
			r.fail(err, from, to)
		}
	}
}

// chunk hands out the keys that are to be read next. There are none if both are the same.
func (r *run) chunk() (from, to int) {
	if r.halt.halted.Load() {
		return 0, 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	from = r.next
	r.next = min(from+r.sizes.next(), len(r.keys))
	return from, r.next
}

// fail notes the error of a chunk.
func (r *run) fail(err error, from, to int) {
	var user *userError
	mine := errors.As(err, &user)
	r.mu.Lock()
	switch {
	case r.halt.halted.Load(): // what has ended the call, such as an error of the caller's function, comes alone
	case mine:
		r.failed = []error{user.err}
	default:
		r.failed = append(r.failed, ranged(err, to-from, func(i int) int { return r.index(from + i) }))
	}
	halt := !r.cfg.partial || mine || r.ctx.Err() != nil
	if halt {
		r.halt.halted.Store(true)
	}
	r.mu.Unlock()
	if halt {
		r.halt.now()
	}
}
