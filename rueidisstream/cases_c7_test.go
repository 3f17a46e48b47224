package rueidisstream_test

import (
	"context"
	"fmt"
	"io"
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

// C6: a stream that takes longer than ConnWriteTimeout, and less than the caller's deadline, comes to its end.
func TestCase_C6_StreamOutlivesConnWriteTimeout(t *testing.T) {
	srv := redistest.Shared(t)
	const size = 1 << 20
	value := strings.Repeat("0123456789abcdef", size/16)
	srv.Do(t, "SET", "value", value)
	srv.Do(t, "EVAL", `for i = 1, 16 do redis.call('RPUSH', KEYS[1], redis.call('GET', 'value')) end return 'done'`, "1", "list")
	short := func(o *rueidis.ClientOption) { o.ConnWriteTimeout = 500 * time.Millisecond }

	for name, opts := range map[string][]rueidisstream.Option{"": nil, ", replica allowed": {rueidisstream.AllowReplica()}} {
		t.Run("slow server"+name, func(t *testing.T) {
			redistest.NoLeak(t)
			p := redistest.NewProxy(t, srv.Addr)
			c := advClient(t, p.Addr(), short)
			advEcho(t, c, 4)
			p.Set(redistest.Fault{Bandwidth: size * 10 / 25}) // 2.5 s
			ctx := advCtx(t)
			begin := time.Now()
			r, err := rueidisstream.Do(ctx, c, c.B().Get().Key("value").Build(), opts...)
			require.NoError(t, err)
			b, err := io.ReadAll(r)
			require.NoError(t, err)
			require.Greater(t, time.Since(begin), 600*time.Millisecond, "too fast to show anything")
			require.True(t, string(b) == value)
			require.NoError(t, r.Close())

			var w strings.Builder
			n, err := rueidisstream.Copy(ctx, c, c.B().Get().Key("value").Build(), &w, opts...)
			require.NoError(t, err)
			require.EqualValues(t, size, n)
			require.True(t, w.String() == value)
			p.Clear()
			advEcho(t, c, 100)
		})
	}
	t.Run("slow consumer", func(t *testing.T) {
		redistest.NoLeak(t)
		c := advClient(t, srv.Addr, short)
		n := 0
		for v, err := range rueidisstream.Values(advCtx(t), c, c.B().Lrange().Key("list").Start(0).Stop(-1).Build()) {
			require.NoError(t, err)
			require.Len(t, v.Bytes(), size)
			n++
			time.Sleep(150 * time.Millisecond)
		}
		require.Equal(t, 16, n)
		advEcho(t, c, 100)
	})
	t.Run("the caller's deadline is typed", func(t *testing.T) {
		redistest.NoLeak(t)
		p := redistest.NewProxy(t, srv.Addr)
		c := advClient(t, p.Addr())
		advEcho(t, c, 4)
		p.Set(redistest.Fault{StallAfter: size / 2})
		ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
		defer cancel()
		n, err := rueidisstream.Copy(ctx, c, c.B().Get().Key("value").Build(), io.Discard)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "bytes")
		require.Positive(t, n)
		p.Clear()
		advEcho(t, c, 100)
	})
}

// C7: streams open no more connections than the pool has places, those that wait obey their context, and a restart of the
// server costs each caller one retry at most.
func TestCase_C7_PoolOf64(t *testing.T) {
	const places, members = 64, 2000
	const shared = 2 // rueidis' own connections, at most
	redistest.NoLeak(t)
	srv := redistest.Standalone(t)
	advFill(t, srv, "set", members)
	c := advClient(t, srv.Addr, advPool(places), func(o *rueidis.ClientOption) {
		o.ClientName = "streams"
		o.ReadBufferEachConn = 32 << 10
	})
	read := func(ctx context.Context) error {
		n := 0
		for v, err := range rueidisstream.Values(ctx, c, c.B().Smembers().Key("set").Build()) {
			if err != nil {
				return err
			}
			if len(v.Bytes()) == 16 {
				n++
			}
		}
		if n != members {
			return fmt.Errorf("%d members", n)
		}
		return nil
	}
	connections := func() int { return strings.Count(srv.Do(t, "CLIENT", "LIST"), " name=streams ") }

	stop, most := make(chan struct{}), make(chan int)
	go func() {
		n := 0
		for {
			select {
			case <-stop:
				most <- n
				return
			case <-time.After(20 * time.Millisecond):
				n = max(n, connections())
			}
		}
	}()
	failed := advParallel(t, read)
	close(stop)
	n := max(<-most, connections())
	t.Logf("%d connections at most", n)
	require.Zero(t, failed, "streams that failed")
	require.LessOrEqual(t, n, places+shared)
	require.Greater(t, n, 1, "streams did not run at the same time")

	t.Run("waiting obeys the context", func(t *testing.T) {
		for range places {
			r, err := rueidisstream.Do(advCtx(t), c, advCmd(c, "ECHO", "hold"))
			require.NoError(t, err)
			defer r.Close()
		}
		begin := time.Now()
		short, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		defer cancel()
		_, err := rueidisstream.Do(short, c, advCmd(c, "ECHO", "wait"))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		_, err = rueidisstream.Copy(short, c, c.B().Get().Key("x").Build(), io.Discard)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		plain, cancel := context.WithCancel(context.Background())
		time.AfterFunc(100*time.Millisecond, cancel)
		require.ErrorIs(t, read(plain), context.Canceled)
		require.Less(t, time.Since(begin), 10*time.Second)
	})
	advPlaces(t, c, places)

	srv.Restart(t)
	advFill(t, srv, "set", members)
	require.Zero(t, advParallel(t, func(ctx context.Context) error {
		if read(ctx) == nil {
			return nil
		}
		return read(ctx)
	}), "streams that failed twice after a restart")
	require.LessOrEqual(t, connections(), places+shared)
	advPlaces(t, c, places)
	advEcho(t, c, 1000)
}

// advParallel runs 2,000 streams at once and returns how many failed.
func advParallel(t *testing.T, stream func(context.Context) error) int64 {
	streams := 2000
	if testing.Short() {
		streams = 500
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var wg sync.WaitGroup
	var failed atomic.Int64
	for range streams {
		wg.Go(func() {
			if err := stream(ctx); err != nil && failed.Add(1) <= 3 {
				t.Log(err)
			}
		})
	}
	wg.Wait()
	return failed.Load()
}
