package goredis

import (
	"context"
	"iter"

	"github.com/rueidisx/rueidisx/rueidisstream"
)

// ScanIterator gives one element after the other, in go-redis' way:
//
//	it := adapter.MembersIterator(ctx, "tags")
//	defer it.Close()
//	for it.Next(ctx) {
//		use(it.Val())
//	}
//	if err := it.Err(); err != nil {
//		return err
//	}
//
// All is the same as a range-over-func loop, which neither Close nor Err can be forgotten in. One that was read to its end, or to an
// error, need not be closed; one that is given up before must be, or it keeps a connection, unless it is one of the four that go by
// pages of a cursor. It is not for concurrent use.
type ScanIterator struct {
	ctx  context.Context // of the method that made it
	val  string
	err  error
	done bool

	page  []string // what is left of the page
	pages pages    // nil for a stream

	seq  iter.Seq2[string, error] // nil once it is being read, and for pages
	next func() (string, error, bool)
	stop func()
}

// pages returns the next page; it is called again as long as there are more.
type pages func(ctx context.Context) (page []string, more bool, err error)

// newPages asks for the first page at once, as go-redis does.
func newPages(ctx context.Context, p pages) *ScanIterator {
	it := &ScanIterator{ctx: ctx, pages: p}
	it.turn(ctx)
	return it
}

func newStream(ctx context.Context, seq iter.Seq2[string, error]) *ScanIterator {
	return &ScanIterator{ctx: ctx, seq: seq}
}

// turn gets the next page. It does not read on behind an error.
func (it *ScanIterator) turn(ctx context.Context) {
	more := false
	if it.page, more, it.err = it.pages(ctx); it.err != nil {
		it.page = nil
	}
	it.done = !more || it.err != nil
}

// Next steps to the next element and tells whether there is one. The context is for what has to be asked for by this call; if it
// is done, that is the error.
func (it *ScanIterator) Next(ctx context.Context) bool {
	if it.err == nil && len(it.page) == 0 && !it.done && ctx.Err() != nil {
		it.end(ctx.Err())
	}
	if it.err != nil {
		return false
	}
	if it.pages == nil {
		return it.pull()
	}
	for len(it.page) == 0 {
		if it.done {
			return false
		}
		if it.turn(ctx); it.err != nil {
			return false
		}
	}
	it.val, it.page = it.page[0], it.page[1:]
	return true
}

// pull is Next for a stream.
func (it *ScanIterator) pull() bool {
	if it.done {
		return false
	}
	if it.seq != nil {
		it.next, it.stop = iter.Pull2(it.seq)
		it.seq = nil
	}
	val, err, ok := it.next()
	if !ok || err != nil {
		it.end(err)
		return false
	}
	it.val = val
	return true
}

// end is the end of it, by err if that is not nil.
func (it *ScanIterator) end(err error) {
	if it.err == nil {
		it.err = err
	}
	it.done, it.seq = true, nil
	if it.stop != nil {
		it.stop()
	}
}

// Val returns the element that Next has stepped to: an empty string before Next and behind an error.
func (it *ScanIterator) Val() string {
	if it.err != nil {
		return ""
	}
	return it.val
}

// Err returns the error that has ended the iteration, nil if there was none.
func (it *ScanIterator) Err() error { return it.err }

// Close gives up what is left, and the connection. It may be repeated, and always returns nil.
func (it *ScanIterator) Close() error {
	it.page = nil
	it.end(nil)
	return nil
}

// All returns the elements that are left, and at the end the error, if there was one. It goes by the context of the method that
// made the iterator, and closes it, also when the loop is left by break.
func (it *ScanIterator) All() iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		defer it.Close()
		if it.seq != nil && !it.done && it.err == nil { // nothing was read yet: no coroutine is needed
			seq := it.seq
			it.seq, it.done = nil, true
			for val, err := range seq {
				it.val, it.err = val, err
				if !yield(val, err) || err != nil {
					return
				}
			}
			return
		}
		for it.Next(it.ctx) {
			if !yield(it.Val(), nil) {
				return
			}
		}
		if it.err != nil {
			yield("", it.err)
		}
	}
}

// ofValues makes strings of elements.
func ofValues(ctx context.Context, seq iter.Seq2[rueidisstream.Value, error]) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for v, err := range seq {
			if err != nil {
				yield("", plain(ctx, err))
				return
			}
			if !yield(v.String(), nil) {
				return
			}
		}
	}
}

// ofPairs makes strings of pairs, one after the other as HSCAN has them.
func ofPairs(ctx context.Context, seq iter.Seq2[rueidisstream.Pair, error]) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for p, err := range seq {
			if err != nil {
				yield("", plain(ctx, err))
				return
			}
			value := p.Value.String() // p is borrowed until the next iteration only
			if !yield(p.Key.String(), nil) || !yield(value, nil) {
				return
			}
		}
	}
}
