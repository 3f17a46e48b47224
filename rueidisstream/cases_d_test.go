package rueidisstream_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

// D1: a pipeline larger than all the buffers on its way, both ways, comes to its end: it is sent by windows of 64 KiB.
func TestCase_D1_PipelineLargerThanBuffers(t *testing.T) {
	srv := redistest.Shared(t)
	for _, tt := range []struct {
		name            string
		n, size, buffer int
	}{
		// Buffers of 4 KiB on loopback pass 30 to 100 KB/s, so the 2,000 have larger ones.
		{"2,000 of 64 KiB", 2000, 64 << 10, 64 << 10},
		{"few of 64 KiB, buffers of 4 KiB", 2, 64 << 10, 4 << 10},
		{"several to a window, buffers of 4 KiB", 100, 1 << 10, 4 << 10},
	} {
		t.Run(tt.name, func(t *testing.T) {
			redistest.NoLeak(t)
			p := redistest.NewProxy(t, srv.Addr)
			p.Set(redistest.Fault{SocketBuffer: tt.buffer})
			c := advClient(t, p.Addr())
			if testing.Short() {
				tt.n = min(tt.n, 200)
			}
			word := func(i int) string { return fmt.Sprintf("%08d", i) + strings.Repeat("e", tt.size-8) }
			cmds := make([]rueidis.Completed, tt.n)
			for i := range cmds {
				cmds[i] = advWrite(c, "ECHO", word(i))
			}
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			i := 0
			for r, err := range rueidisstream.DoMulti(ctx, c, cmds).All() {
				require.NoError(t, err, "reply %d", i)
				v, err := r.Value()
				require.NoError(t, err)
				require.True(t, v.String() == word(i), "reply %d is another's", i)
				i++
			}
			require.Equal(t, tt.n, i)
			p.Clear()
			advEcho(t, c, 100)
		})
	}
}

// D2: who asks for a second connection of a pool of one while he holds the first gets his context's error, and nobody hangs.
func TestCase_D2_StreamInsideStreamWithPoolOfOne(t *testing.T) {
	srv := redistest.Shared(t)
	advFill(t, srv, "set", 1000)
	advProtocols(t, func(t *testing.T, speak func(*rueidis.ClientOption)) {
		redistest.NoLeak(t)
		c := advClient(t, srv.Addr, speak)
		n := 0
		for _, err := range rueidisstream.Values(advCtx(t), c, c.B().Smembers().Key("set").Build()) {
			require.NoError(t, err)
			if n++; n != 10 {
				continue
			}
			for name, inner := range map[string]func(context.Context) error{
				"Copy": func(ctx context.Context) error {
					_, err := rueidisstream.Copy(ctx, c, advCmd(c, "ECHO", "x"), io.Discard)
					return err
				},
				"Do": func(ctx context.Context) error {
					_, err := rueidisstream.Do(ctx, c, advCmd(c, "PING"))
					return err
				},
				"DoMulti": func(ctx context.Context) error {
					_, err := rueidisstream.DoMulti(ctx, c, []rueidis.Completed{advCmd(c, "PING")}).Next()
					return err
				},
			} {
				ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
				require.ErrorIs(t, inner(ctx), context.DeadlineExceeded, name)
				cancel()
				ctx, cancel = context.WithCancel(context.Background())
				time.AfterFunc(100*time.Millisecond, cancel)
				require.ErrorIs(t, inner(ctx), context.Canceled, name)
			}
		}
		require.Equal(t, 1000, n, "the outer stream is whole")
		advEcho(t, c, 100)
	})
}

// D2: two nodes of a cluster with a pool of one each: streams that take one after the other finish; those that hold one and want
// the other, crosswise, end by their context.
func TestCase_D2_TwoNodesCrosswise(t *testing.T) {
	redistest.NoLeak(t)
	cl := redistest.NewCluster(t)
	c := cl.NewClient(t, advPool(1))
	keys := advKeyPerNode(t, cl, c)

	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 50 {
				key := keys[(g+i)%2]
				var b strings.Builder
				if _, err := rueidisstream.Copy(advCtx(t), c, c.B().Get().Key(key).Build(), &b); err != nil || b.String() != key {
					t.Errorf("%s: %q, %v", key, b.String(), err)
				}
			}
		})
	}
	advEnds(t, "one after the other", wg.Wait)

	for g := range 8 {
		wg.Go(func() {
			for i := range 5 {
				outer, inner := keys[(g+i)%2], keys[(g+i+1)%2]
				for v, err := range rueidisstream.Values(advCtx(t), c, c.B().Get().Key(outer).Build()) {
					if err != nil || v.String() != outer {
						t.Errorf("outer: %q, %v", v.String(), err)
						continue
					}
					ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
					var b strings.Builder
					_, err := rueidisstream.Copy(ctx, c, c.B().Get().Key(inner).Build(), &b)
					if err == nil && b.String() != inner || err != nil && !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("inner: %q, %v", b.String(), err)
					}
					cancel()
				}
			}
		})
	}
	advEnds(t, "crosswise", wg.Wait)
	for _, key := range keys {
		for range 100 {
			var b strings.Builder
			_, err := rueidisstream.Copy(advCtx(t), c, c.B().Get().Key(key).Build(), &b)
			require.NoError(t, err)
			require.Equal(t, key, b.String())
		}
	}
}

// advKeyPerNode returns a key on each of the three primaries, which holds its own name.
func advKeyPerNode(t *testing.T, cl *redistest.Cluster, c rueidis.Client) []string {
	t.Helper()
	var keys []string
	seen := map[string]bool{}
	for i := 0; len(keys) < 3; i++ {
		key := fmt.Sprintf("key:%d", i)
		if addr := cl.NodeOf(t, cl.Slot(t, key)).Addr; !seen[addr] {
			seen[addr] = true
			keys = append(keys, key)
			require.NoError(t, c.Do(advCtx(t), c.B().Set().Key(key).Value(key).Build()).Error())
		}
	}
	return keys
}

// D3: with one of three nodes down each command has its own result or its own error, and never neither, in a pipeline over all
// nodes as well.
func TestCase_D3_OneNodeDown(t *testing.T) {
	redistest.NoLeak(t)
	cl := redistest.NewCluster(t)
	c := cl.NewClient(t, advPool(1))
	keys := advKeyPerNode(t, cl, c)
	for _, n := range cl.Nodes { // else the others' slots are down with it
		n.Do(t, "CONFIG", "SET", "cluster-require-full-coverage", "no")
	}
	down := cl.NodeOf(t, cl.Slot(t, keys[1]))
	down.Stop(t)

	for round := range 3 {
		for i, key := range keys {
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
			var b strings.Builder
			_, cerr := rueidisstream.Copy(ctx, c, c.B().Get().Key(key).Build(), &b)
			r, derr := rueidisstream.Do(ctx, c, c.B().Get().Key(key).Build())
			require.True(t, (r == nil) != (derr == nil), "a Reader or an error")
			require.NoError(t, r.Close())
			seen := 0
			for r, err := range rueidisstream.DoMulti(ctx, c, []rueidis.Completed{
				c.B().Get().Key(key).Build(), c.B().Get().Key(key).Build(),
			}).All() {
				require.True(t, (r == nil) != (err == nil), "a Reader or an error")
				if seen++; err == nil {
					v, err := r.Value()
					require.NoError(t, err)
					require.Equal(t, key, v.String())
				}
				if i != 1 {
					require.NoError(t, err, "round %d, %s", round, key)
				}
			}
			cancel()
			if i != 1 {
				require.NoError(t, cerr)
				require.NoError(t, derr)
				require.Equal(t, key, b.String())
				require.Equal(t, 2, seen)
				continue
			}
			require.NotZero(t, seen, "no reply and no error")
			if cerr == nil { // a replica may have taken over
				require.Equal(t, key, b.String())
			}
		}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		rs := rueidisstream.DoMulti(ctx, c, []rueidis.Completed{
			c.B().Get().Key(keys[0]).Build(), c.B().Get().Key(keys[1]).Build(), c.B().Get().Key(keys[2]).Build(), c.B().Get().Key(keys[1]).Build(),
		})
		for i, key := range []string{keys[0], keys[1], keys[2], keys[1]} {
			r, err := rs.Next()
			require.True(t, (r == nil) != (err == nil), "a Reader or an error")
			if key != keys[1] {
				require.NoError(t, err, "command %d", i)
			}
			if err == nil {
				v, err := r.Value()
				require.NoError(t, err)
				require.Equal(t, key, v.String())
			}
		}
		_, err := rs.Next()
		require.Equal(t, io.EOF, err)
		cancel()
	}
}

// D4: [hit, miss, wrong type, hit] are four outcomes of their own, and all four are read.
func TestCase_D4_FourOutcomes(t *testing.T) {
	srv := redistest.Shared(t)
	srv.Do(t, "SET", "hit", "value")
	srv.Do(t, "SADD", "set", "a")
	advProtocols(t, func(t *testing.T, speak func(*rueidis.ClientOption)) {
		redistest.NoLeak(t)
		c := advClient(t, srv.Addr, speak)
		for range 100 {
			get := func(key string) rueidis.Completed { return c.B().Get().Key(key).Build() }
			rs := rueidisstream.DoMulti(advCtx(t), c, []rueidis.Completed{get("hit"), get("miss"), get("set"), get("hit")})
			for i := range 4 {
				r, err := rs.Next()
				switch i {
				case 1:
					require.Nil(t, r)
					require.True(t, err == rueidis.Nil, "unwrapped")
				case 2:
					require.Nil(t, r)
					re, ok := err.(*rueidis.RedisError) //nolint:errorlint // unwrapped is what is tested
					require.True(t, ok, "%v", err)
					require.Contains(t, re.Error(), "WRONGTYPE")
				default:
					require.NoError(t, err)
					b, err := io.ReadAll(r)
					require.NoError(t, err)
					require.Equal(t, "value", string(b))
				}
			}
			for range 3 {
				_, err := rs.Next()
				require.Equal(t, io.EOF, err)
			}
			require.NoError(t, rs.Close())
		}
		advEcho(t, c, 100)
	})
}
