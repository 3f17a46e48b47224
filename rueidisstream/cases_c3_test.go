package rueidisstream_test

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

// C3: cancelling at any time under load races with nothing, leaks nothing, and leaves the pool usable, which is smaller than the
// load: places that are lost when a context ends are soon missed.
func TestCase_C3_CancelAtRandomTimes(t *testing.T) {
	const places, goroutines, members = 50, 100, 20_000
	srv := redistest.Shared(t)
	advFill(t, srv, "big", members)
	advProtocols(t, func(t *testing.T, speak func(*rueidis.ClientOption)) {
		redistest.NoLeak(t)
		c := advClient(t, srv.Addr, speak, advPool(places))
		rounds := 10
		if testing.Short() {
			rounds = 3
		}
		var wg sync.WaitGroup
		var cancelled, begun, finished atomic.Int64
		for range goroutines {
			wg.Go(func() {
				for range rounds {
					ctx, cancel := context.WithCancel(context.Background())
					timer := time.AfterFunc(rand.N(500*time.Millisecond), cancel)
					n := 0
					var last error
					for v, err := range rueidisstream.Values(ctx, c, c.B().Smembers().Key("big").Build()) {
						if last = err; err != nil {
							continue
						}
						if n++; len(v.Bytes()) != 16 {
							t.Errorf("element %q", v.Bytes())
						}
					}
					switch {
					case last == nil && n == members:
						finished.Add(1)
					case errors.Is(last, context.Canceled):
						cancelled.Add(1)
						if n > 0 {
							begun.Add(1)
						}
					default:
						t.Errorf("%d elements, then %v", n, last)
					}
					timer.Stop()
					cancel()
				}
			})
		}
		advEnds(t, "streams that were cancelled", wg.Wait)
		t.Logf("%d cancelled, %d of them half-way; %d finished", cancelled.Load(), begun.Load(), finished.Load())
		require.NotZero(t, cancelled.Load())
		advEcho(t, c, 1000)
	})
}

// L3: cancelling ends a stream at once, whatever the sink does, and the connection is not used again.
func TestCase_L3_CancelInterrupts(t *testing.T) {
	srv := redistest.Shared(t)
	srv.Do(t, "SET", "value", strings.Repeat("v", 8<<20))
	for name, run := range map[string]func(context.Context, rueidis.Client, io.Writer) error{
		"Copy": func(ctx context.Context, c rueidis.Client, w io.Writer) error {
			_, err := rueidisstream.Copy(ctx, c, c.B().Get().Key("value").Build(), w)
			return err
		},
		"Reader": func(ctx context.Context, c rueidis.Client, w io.Writer) error {
			r, err := rueidisstream.Do(ctx, c, c.B().Get().Key("value").Build())
			if err != nil {
				return err
			}
			defer r.Close()
			_, err = r.WriteTo(w)
			return err
		},
	} {
		for _, blocks := range []bool{false, true} {
			t.Run(name+map[bool]string{false: " to a sink that never blocks", true: " to a sink that blocks"}[blocks], func(t *testing.T) {
				advProtocols(t, func(t *testing.T, speak func(*rueidis.ClientOption)) {
					advCancelHalfWay(t, srv, speak, blocks, run)
				})
			})
		}
	}
}

func advCancelHalfWay(t *testing.T, srv *redistest.Server, speak func(*rueidis.ClientOption), blocks bool,
	run func(context.Context, rueidis.Client, io.Writer) error,
) {
	redistest.NoLeak(t)
	p := redistest.NewProxy(t, srv.Addr)
	c := advClient(t, p.Addr(), speak, func(o *rueidis.ClientOption) {
		o.ConnWriteTimeout = time.Hour // it is not what ends the read
	})
	before := advConnID(t, c)
	p.Set(redistest.Fault{StallAfter: 2 << 20})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	n := 0
	var begin time.Time
	err := run(ctx, c, advWriter(func(b []byte) (int, error) {
		if n += len(b); n > 1<<20 && begin.IsZero() {
			begin = time.Now()
			time.AfterFunc(100*time.Millisecond, cancel)
		}
		if blocks {
			select {
			case <-ctx.Done():
			case <-time.After(10 * time.Millisecond):
			}
		}
		return len(b), nil
	}))
	require.ErrorIs(t, err, context.Canceled)
	require.False(t, begin.IsZero(), "ended before the middle")
	require.Less(t, time.Since(begin), 10*time.Second)
	require.LessOrEqual(t, n, 2<<20)
	p.Clear()
	require.NotEqual(t, before, advConnID(t, c), "the connection was used again")
	advEcho(t, c, 100)
}
