package goredis

import (
	"context"
	"errors"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidiscompat"

	"github.com/rueidisx/rueidisx/rueidisstream"
)

// result is a result type of rueidiscompat with a value of type T.
type result[T any] interface {
	Val() T
	SetVal(T)
	Err() error
	SetErr(error)
}

// shape says how a value of type T is read from a stream.
type shape[T any] struct {
	read func(*rueidisstream.Reader) (T, error)
	size func(T) int // elements of the reply
	none T           // the value beside an error
}

var (
	listShape    = shape[[]string]{read: readStrings, size: func(v []string) int { return len(v) }}
	setShape     = shape[map[string]struct{}]{read: readSet, size: func(v map[string]struct{}) int { return len(v) }}
	mapShape     = shape[map[string]string]{read: readMap, size: func(v map[string]string) int { return 2 * len(v) }}
	scoreShape   = shape[[]rueidiscompat.Z]{read: readScores, size: func(v []rueidiscompat.Z) int { return 2 * len(v) }}
	messageShape = shape[[]rueidiscompat.XMessage]{
		read: readMessages,
		size: func(v []rueidiscompat.XMessage) int {
			n := 0
			for i := range v {
				n += 1 + 2*len(v[i].Values)
			}
			return n
		},
		none: []rueidiscompat.XMessage{}, // as rueidiscompat has it
	}
)

// fetch calls rueidiscompat where the reply is expected to be small, and else streams the reply to the command that
// rueidiscompat would have sent. most is how many elements the reply has at most, or negative if that is not known.
func fetch[T any, C result[T]](ctx context.Context, a *Adapter, cmd command, key string, most int64, s shape[T], call func(rueidiscompat.Cmdable) C) C {
	if a.from < 0 || most >= 0 && most < int64(a.from) {
		return call(a.Cmdable)
	}
	q := about(cmd, key)
	if !a.sizes.big(q) && a.from > 0 {
		c := call(a.Cmdable)
		if c.Err() == nil {
			a.sizes.learn(q, s.size(c.Val()) >= a.from)
		}
		return c
	}
	c, sent := catch(a, call)
	val, err := stream(ctx, a, sent, key, s.read)
	if errors.Is(err, errOtherwise) {
		return call(a.Cmdable)
	}
	if err != nil {
		val = s.none
	} else {
		a.sizes.learn(q, s.size(val) >= a.from)
	}
	c.SetVal(val)
	c.SetErr(err)
	return c
}

// errOtherwise says that the reply is to be had by rueidiscompat.
var errOtherwise = errors.New("compat/goredis: not by a stream")

// stream sends cmd, which only reads, and reads its reply while it arrives. An error is one that rueidiscompat has too: the
// server's, unwrapped, or the context's. If no stream can be had, or the reply is none that read knows, it is errOtherwise, and
// rueidiscompat's own answer counts. What happens to a connection in the middle of a reply is an error of rueidisstream.
func stream[T any](ctx context.Context, a *Adapter, cmd rueidis.Completed, key string, read func(*rueidisstream.Reader) (T, error)) (val T, err error) {
	if a.sizes.off.Load() {
		return val, errOtherwise
	}
	cmd, replica := a.reading(cmd, key)
	var opts []rueidisstream.Option
	if replica {
		opts = allowReplica
	}
	r, err := rueidisstream.Do(ctx, a.client, cmd, opts...)
	if err != nil {
		if errors.Is(err, rueidisstream.ErrUnsupported) {
			a.sizes.off.Store(true)
		}
		return val, outcome(ctx, err, true)
	}
	defer r.Close() // also if read panics
	if val, err = read(r); err == nil {
		err = r.Close()
	}
	if err != nil {
		return val, outcome(ctx, err, errors.Is(err, rueidisstream.ErrShape) || errors.Is(err, rueidisstream.ErrTooBig))
	}
	return val, nil
}

var allowReplica = []rueidisstream.Option{rueidisstream.AllowReplica()}

// outcome is what becomes of an error of rueidisstream.
func outcome(ctx context.Context, err error, otherwise bool) error {
	if err = plain(ctx, err); otherwise && !isServers(err) && err != context.Canceled && err != context.DeadlineExceeded {
		return errOtherwise
	}
	return err
}

// isServers tells whether err is the server's answer to the command.
func isServers(err error) bool {
	if err == rueidis.Nil {
		return true
	}
	_, ok := err.(*rueidis.RedisError)
	return ok
}
