package rueidisbatch

import (
	"context"
	"iter"

	"github.com/redis/rueidis"
)

// Item is a key and its value.
type Item struct {
	Key string
	// Value is nil for a missing key, which an empty string is not. It is valid only until the next iteration or call; copy with
	// String or Append.
	Value []byte
	// WrongType tells that the key holds another type than a string. It is set with WithWrongType(WrongTypeMark) only.
	WrongType bool
}

// MGetSeq returns the keys that it takes from keys, in their order, with their values. Both may be without end: keys are read by
// MGETs of up to WithChunk keys, a few of them ahead of the loop, and no more than WithParallelism + 2 chunks are in memory.
//
//	for item, err := range rueidisbatch.MGetSeq(ctx, client, keys) {
//		if err != nil {
//			return err
//		}
//		use(item.Key, item.Value)
//	}
//
// keys is ranged over by the goroutine of the loop, between its rounds. An item comes when its chunk is full or keys has ended; the
// first chunks are smaller. If all keys are few (WithSmall), there is one MGET over the shared connection and no goroutine.
//
// At most one error comes, as the last thing: a *RangeError, whose range counts the items; those before it have all come.
// It is else as MGet is. No goroutine that was started outlives the loop, however that ends.
//
// Items are valid only until the next iteration or call; copy with String or Append.
func MGetSeq(ctx context.Context, client rueidis.Client, keys iter.Seq[string], opts ...Option) iter.Seq2[Item, error] {
	cfg := newConfig(opts)
	return func(yield func(Item, error) bool) {
		s := newSource(ctx, client, cfg)
		o := newOrdered(s)
		defer o.close()
		w, size := windows.Get().(*window), min(o.sizes.next(), rampKeys)
		give := func() bool {
			w := o.oldest(false)
			return o.giveItems(w, yield)
		}
		for key := range keys {
			if len(w.keys) == size {
				for o.full() || o.ready() {
					if !give() {
						return
					}
				}
				o.hand(w)
				w, size = windows.Get().(*window), o.ramp()
			}
			w.keys = append(w.keys, key)
		}
		switch {
		case len(w.keys) == 0:
		case o.count == 0 && len(w.keys) <= cfg.small:
			w.clearVals()
			w.err = s.readShared(w.request(nil))
			o.giveItems(w, yield)
			return
		default:
			o.hand(w)
		}
		for len(o.flight) > 0 {
			if !give() {
				return
			}
		}
	}
}

// rampKeys is how many keys the first window has at most. Each further one has twice as many, so that what comes first
// comes soon.
const rampKeys = 512

// ramp returns how many keys the next window has.
func (o *ordered) ramp() int { return min(o.sizes.next(), rampKeys<<min(o.count, 20)) }

// giveItems yields the items of a window. It tells whether to go on.
func (o *ordered) giveItems(w *window, yield func(Item, error) bool) bool {
	if w.err != nil {
		yield(Item{}, ranged(w.err, len(w.keys), func(i int) int { return o.given + i }))
		return false
	}
	for i, key := range w.keys {
		val, wrong := w.value(i)
		if !yield(Item{key, val, wrong}, nil) {
			return false
		}
	}
	o.given += len(w.keys)
	o.release(w)
	return true
}
