package rueidisstream_test

import (
	"context"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

// What a command changes on its connection must not reach the next user of the pool.
func TestAdversary_StateLeftOnConnection(t *testing.T) {
	srv := redistest.Shared(t)
	srv.Do(t, "SET", "key", "zero")
	for _, words := range [][]string{{"SELECT", "1"}, {"WATCH", "key"}, {"MULTI"}, {"CLIENT", "REPLY", "OFF"}, {"RESET"}, {"HELLO", "2"}} {
		t.Run(strings.Join(words, " "), func(t *testing.T) {
			redistest.NoLeak(t)
			c := advClient(t, srv.Addr)
			ctx := advCtx(t)
			r, err := rueidisstream.Do(ctx, c, advWrite(c, words...))
			if err == nil {
				_ = r.Close()
			}
			srv.Do(t, "SET", "key", "zero")
			var b strings.Builder
			_, err = rueidisstream.Copy(ctx, c, advCmd(c, "GET", "key"), &b)
			require.NoError(t, err)
			require.Equal(t, "zero", b.String())
			rs := rueidisstream.DoMulti(ctx, c, []rueidis.Completed{advWrite(c, "MULTI"), advWrite(c, "PING"), advWrite(c, "EXEC")})
			var last error
			for _, err := range rs.All() {
				last = err
			}
			require.NoError(t, last, "a transaction of somebody else")
			advEcho(t, c, 100)
		})
	}
}

// Panic and Goexit, in loops and in sinks, leave the connection clean or closed.
func TestAdversary_PanicAndGoexit(t *testing.T) {
	srv := redistest.Shared(t)
	advFill(t, srv, "set", 50_000)
	srv.Do(t, "SET", "value", strings.Repeat("v", 1<<20))
	for name, leave := range map[string]func(){"panic": func() { panic("adversary") }, "Goexit": runtime.Goexit} {
		sink := advWriter(func([]byte) (int, error) { leave(); return 0, nil })
		for where, run := range map[string]func(context.Context, rueidis.Client){
			"Values": func(ctx context.Context, c rueidis.Client) {
				for range rueidisstream.Values(ctx, c, advCmd(c, "SMEMBERS", "set")) {
					leave()
				}
			},
			"All": func(ctx context.Context, c rueidis.Client) {
				for r := range rueidisstream.DoMulti(ctx, c, []rueidis.Completed{advCmd(c, "SMEMBERS", "set"), advCmd(c, "PING")}).All() {
					for range r.Values() {
						leave()
					}
				}
			},
			"Copy": func(ctx context.Context, c rueidis.Client) {
				_, _ = rueidisstream.Copy(ctx, c, advCmd(c, "GET", "value"), sink)
			},
			"Copy EVAL": func(ctx context.Context, c rueidis.Client) {
				_, _ = rueidisstream.Copy(ctx, c, advCmd(c, "EVAL", "return redis.call('GET', 'value')", "0"), sink)
			},
			"WriteTo": func(ctx context.Context, c rueidis.Client) {
				r, err := rueidisstream.Do(ctx, c, advCmd(c, "GET", "value"))
				if err == nil {
					defer r.Close()
					_, _ = r.WriteTo(sink)
				}
			},
			"Copy of a number": func(ctx context.Context, c rueidis.Client) {
				_, _ = rueidisstream.Copy(ctx, c, advCmd(c, "DBSIZE"), sink)
			},
		} {
			t.Run(name+" in "+where, func(t *testing.T) {
				redistest.NoLeak(t)
				c := advClient(t, srv.Addr)
				for range 5 {
					advEnds(t, where, func() {
						defer func() { _ = recover() }()
						run(advCtx(t), c)
					})
				}
				advEcho(t, c, 100)
			})
		}
	}
}

// A sink that panics on a line in place of a string does not hang.
func TestAdversary_PanicOnLineInPlaceOfString(t *testing.T) {
	redistest.NoLeak(t)
	f := redistest.NewFake(t, advEchoOr("+line\r\n"))
	c := advClient(t, f.Addr(), func(o *rueidis.ClientOption) { o.ConnWriteTimeout = 8 * time.Second })
	begin := time.Now()
	advEnds(t, "Copy", func() {
		defer func() { _ = recover() }()
		_, _ = rueidisstream.Copy(context.Background(), c, advCmd(c, "GET", "x"), advWriter(func([]byte) (int, error) { panic("adversary") }))
	})
	require.Less(t, time.Since(begin), 4*time.Second, "waits for a second reply")
	advEcho(t, c, 100)
}

// A Reader or Replies that is used after Close, or closed by its own loop, says so and harms nobody.
func TestAdversary_UseAfterClose(t *testing.T) {
	srv := redistest.Shared(t)
	advFill(t, srv, "set", 1000)
	redistest.NoLeak(t)
	c := advClient(t, srv.Addr, advPool(2))
	ctx := advCtx(t)
	r, err := rueidisstream.Do(ctx, c, advCmd(c, "SMEMBERS", "set"))
	require.NoError(t, err)
	other := func() { advEcho(t, c, 4) } // takes what was recycled
	n := 0
	var last error
	for v, err := range r.Values() {
		if last = err; err != nil {
			continue
		}
		require.Len(t, v.Bytes(), 16)
		if n++; n == 5 {
			require.NoError(t, r.Close())
			other()
		}
	}
	require.Equal(t, 5, n)
	require.ErrorContains(t, last, "closed")
	for range 3 {
		_, err = r.Next()
		require.ErrorContains(t, err, "closed")
		_, err = r.Value()
		require.ErrorContains(t, err, "closed")
		_, err = r.Read(make([]byte, 1))
		require.ErrorContains(t, err, "closed")
		_, err = r.WriteTo(io.Discard)
		require.ErrorContains(t, err, "closed")
		require.Error(t, r.Skip())
		require.Equal(t, rueidisstream.Header{}, r.Header())
		require.NoError(t, r.Close())
	}
	rs := rueidisstream.DoMulti(ctx, c, []rueidis.Completed{advCmd(c, "SMEMBERS", "set"), advCmd(c, "ECHO", "x")})
	n = 0
	for r, err := range rs.All() {
		if n++; n == 1 {
			require.NoError(t, err)
			for _, err := range r.Values() {
				if err == nil {
					require.NoError(t, rs.Close())
					other()
				}
			}
			continue
		}
		require.ErrorContains(t, err, "closed")
	}
	require.Equal(t, 2, n)
	require.NoError(t, rs.Close())
	advEcho(t, c, 100)
}

// A sink that closes the Reader it is written from does not disturb the stream that is opened next.
func TestAdversary_SinkClosesReader(t *testing.T) {
	srv := redistest.Shared(t)
	srv.Do(t, "SET", "value", strings.Repeat("v", 2<<20))
	redistest.NoLeak(t)
	c := advClient(t, srv.Addr, advPool(4))
	ctx := advCtx(t)
	defer func() { require.Nil(t, recover(), "panic") }()
	for range 20 {
		r, err := rueidisstream.Do(ctx, c, advCmd(c, "GET", "value"))
		require.NoError(t, err)
		var next *rueidisstream.Reader
		_, _ = r.WriteTo(advWriter(func(b []byte) (int, error) {
			if next == nil {
				require.NoError(t, r.Close())
				next, err = rueidisstream.Do(ctx, c, advCmd(c, "ECHO", "a word of its own"))
				require.NoError(t, err)
			}
			return min(len(b), 3), nil
		}))
		got, err := io.ReadAll(next)
		require.NoError(t, err)
		require.Equal(t, "a word of its own", string(got))
		require.NoError(t, next.Close())
	}
}

// A loop over one reply that steps the Replies does not get the next reply's elements for this one's.
func TestAdversary_NextInsideLoop(t *testing.T) {
	srv := redistest.Shared(t)
	srv.Do(t, "RPUSH", "a", "a1", "a2", "a3")
	srv.Do(t, "RPUSH", "b", "b1", "b2", "b3")
	redistest.NoLeak(t)
	c := advClient(t, srv.Addr)
	rs := rueidisstream.DoMulti(advCtx(t), c, []rueidis.Completed{advCmd(c, "LRANGE", "a", "0", "-1"), advCmd(c, "LRANGE", "b", "0", "-1")})
	r, err := rs.Next()
	require.NoError(t, err)
	for v, err := range r.Values() {
		if err != nil {
			break
		}
		require.Equal(t, "a1", v.String(), "an element of another reply")
		_, err = rs.Next()
		require.NoError(t, err)
	}
	require.NoError(t, rs.Close())
	advEcho(t, c, 100)
}
