package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
)

// ways are the two in which a connection is borrowed.
var ways = map[string]func(ctx context.Context, c rueidis.Client) error{
	"Open": func(ctx context.Context, c rueidis.Client) error {
		w, err := Open(ctx, c, []rueidis.Completed{arbitrary(c, "ECHO", "x")}, Primary)
		if err == nil {
			w.Abandon() // the next one has to dial
		}
		return err
	},
	"Copy": func(ctx context.Context, c rueidis.Client) error {
		_, err := Copy(ctx, c, arbitrary(c, "ECHO", "x"), io.Discard, 0)
		return err
	},
}

// endsAfter is done from the nth look at it on.
type endsAfter struct {
	context.Context
	cancel context.CancelFunc
	looks  atomic.Int64
}

func newEndsAfter(n int) *endsAfter {
	ctx, cancel := context.WithCancel(context.Background())
	e := &endsAfter{Context: ctx, cancel: cancel}
	e.looks.Store(int64(n))
	return e
}

func (e *endsAfter) Err() error {
	if e.looks.Add(-1) < 0 {
		e.cancel()
	}
	return e.Context.Err()
}

// A context that ends at whichever moment of the sending does not cost the pool a place: its one connection is there for those
// who come next.
func TestPlaceIsKept(t *testing.T) {
	for name, borrow := range ways {
		for _, derived := range []bool{false, true} {
			for looks := range 8 {
				t.Run(fmt.Sprintf("%s/derived=%v/looks=%d", name, derived, looks), func(t *testing.T) {
					redistest.NoLeak(t)
					c := newFakeClient(t, redistest.NewFake(t, echo))
					for range 3 { // also where it has to dial, and where it has not
						ctx := newEndsAfter(looks)
						defer ctx.cancel()
						err := error(nil)
						if derived { // as a hook may do it
							err = borrow(ctx, withValue{c})
						} else {
							err = borrow(ctx, c)
						}
						if err != nil {
							require.ErrorIs(t, err, context.Canceled)
						}
					}
					echoes(t, c)
				})
			}
		}
	}
}

// withValue is a client that hands on a context derived from its caller's.
type withValue struct{ rueidis.Client }

func (w withValue) DoStream(ctx context.Context, cmd rueidis.Completed) rueidis.RedisResultStream {
	return w.Client.DoStream(context.WithValue(ctx, withValue{}, 1), cmd)
}

func (w withValue) DoMultiStream(ctx context.Context, cmds ...rueidis.Completed) rueidis.MultiRedisResultStream {
	return w.Client.DoMultiStream(context.WithValue(ctx, withValue{}, 1), cmds...)
}

// Nor does one that ends while a connection is dialled, or while others have all.
func TestPlaceIsKeptWhileDialling(t *testing.T) {
	for name, borrow := range ways {
		t.Run(name, func(t *testing.T) {
			redistest.NoLeak(t)
			f := redistest.NewFake(t, echo)
			var slow atomic.Bool
			c := newFakeClient(t, f, func(o *rueidis.ClientOption) {
				o.DialCtxFn = func(ctx context.Context, addr string, d *net.Dialer, _ *tls.Config) (net.Conn, error) {
					if slow.Load() {
						<-ctx.Done()
						return nil, ctx.Err()
					}
					return d.DialContext(ctx, "tcp", addr)
				}
			})
			slow.Store(true)
			for range 3 {
				ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
				err := borrow(ctx, c)
				cancel()
				require.Error(t, err)
			}
			slow.Store(false)
			w, err := Open(context.Background(), c, []rueidis.Completed{arbitrary(c, "ECHO", "x")}, Primary)
			require.NoError(t, err)
			for range 3 {
				ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
				err := borrow(ctx, c)
				cancel()
				require.ErrorIs(t, err, context.DeadlineExceeded)
			}
			w.Abandon()
			echoes(t, c)
		})
	}
}

// Nor do those that end at any time under load.
func TestPlaceIsKeptUnderLoad(t *testing.T) {
	redistest.NoLeak(t)
	const places = 3
	c := newFakeClient(t, redistest.NewFake(t, echo), func(o *rueidis.ClientOption) { o.BlockingPoolSize = places })
	var wg sync.WaitGroup
	var cancelled, done atomic.Int64
	for range 3 * places {
		wg.Go(func() {
			for i := range 500 {
				ctx, cancel := context.WithCancel(context.Background())
				timer := time.AfterFunc(rand.N(time.Millisecond), cancel)
				err := ways[[]string{"Open", "Copy"}[i%2]](ctx, c)
				switch {
				case err == nil:
					done.Add(1)
				case errors.Is(err, context.Canceled):
					cancelled.Add(1)
				}
				timer.Stop()
				cancel()
			}
		})
	}
	wg.Wait()
	require.NotZero(t, cancelled.Load())
	require.NotZero(t, done.Load())
	// All places are there: as many streams are open at a time.
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var open []*Conn
	for range places {
		w, err := Open(ctx, c, []rueidis.Completed{arbitrary(c, "ECHO", "x")}, Primary)
		require.NoError(t, err)
		open = append(open, w)
	}
	for _, w := range open {
		w.Abandon()
	}
	echoes(t, c)
}
