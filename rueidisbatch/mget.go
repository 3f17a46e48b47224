package rueidisbatch

import (
	"context"
	"errors"

	"github.com/redis/rueidis"
)

// MGet returns the values of keys, in the order of keys, by as many MGETs as their number takes (WithChunk), some of them at a
// time (WithParallelism). A missing key is nil, an empty string is not; a key that comes several times has its value at each place.
// Without keys nothing is sent.
//
//	vals, err := rueidisbatch.MGet(ctx, client, keys)
//
// The values are the caller's. They lie side by side in blocks of up to 1 MiB, each of which is in use as long as one of its
// values is: copy a value that is to be kept alone. Each MGET sees its keys at one moment, but all together do not.
//
// The first error ends the call, which then returns no values; with WithPartial it returns what there is. It is a *RangeError that
// says for which keys, and of which errors.Is tells the reason. No goroutine that was started outlives the call.
func MGet(ctx context.Context, client rueidis.Client, keys []string, opts ...Option) ([][]byte, error) {
	cfg := newConfig(opts)
	if cfg.wrong == WrongTypeMark {
		cfg.wrong = WrongTypeError
	}
	vals := make([][]byte, len(keys))
	if len(keys) == 0 {
		return vals, nil
	}
	s := newSource(ctx, client, cfg)
	var err error
	if len(keys) <= cfg.small {
		err = s.whole(keys, func(i int, val []byte) error {
			vals[i] = val // of memory that is not used again
			return nil
		})
	} else {
		r := run{source: s, keys: keys}
		err = r.do(func() taker { return newOwner(vals) })
	}
	if err != nil && !cfg.partial {
		return nil, err
	}
	return vals, err
}

// MGetFunc calls fn for each of the keys, with its index and its value: nil if it is missing, which an empty string is not. fn is
// called once for each index, in no order and by up to WithParallelism goroutines at a time; with 1 it is the calling one, and on a
// client that is not of a cluster the order is that of keys, but that with WithWrongType keys without a value come behind the others.
//
//	err := rueidisbatch.MGetFunc(ctx, client, keys, func(i int, val []byte) error {
//		return decode(&nodes[i], val)
//	})
//
// Values are valid only until fn returns. An error of fn ends the call and is returned as it is; then, and after any error, fn
// was called for some of the keys. If fn panics or ends its goroutine, so does the calling one, after all others have
// ended. While fn runs, its connection waits: what takes long belongs elsewhere.
//
// It is else as MGet is.
func MGetFunc(ctx context.Context, client rueidis.Client, keys []string, fn func(i int, val []byte) error, opts ...Option) error {
	cfg := newConfig(opts)
	if cfg.wrong == WrongTypeMark {
		cfg.wrong = WrongTypeError
	}
	if len(keys) == 0 {
		return nil
	}
	s := newSource(ctx, client, cfg)
	if len(keys) <= cfg.small {
		return s.whole(keys, fn)
	}
	r := run{source: s, keys: keys}
	return r.do(func() taker { return caller(fn) })
}

// whole reads few keys over the shared connection.
func (s *source) whole(keys []string, take func(i int, val []byte) error) error {
	err := s.readShared(&request{keys: keys, put: func(i int, val []byte, _ bool) error { return called(take(i, val)) }})
	var user *userError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &user):
		return user.err
	}
	return ranged(err, len(keys), func(i int) int { return i })
}

// caller is a function as a taker.
type caller func(i int, val []byte) error

func (c caller) take(i int, val []byte) error { return called(c(i, val)) }
func (c caller) flush()                       {}
func (c caller) end()                         {}

func called(err error) error {
	if err == nil {
		return nil
	}
	return &userError{err}
}
