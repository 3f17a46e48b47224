package rueidisbatch_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisbatch"
)

// L10: results are by position, so that a repeated key has its value each time, and missing and wrong type are told apart.
func TestCase_L10_PositionalResults(t *testing.T) {
	everyClient(t, func(t *testing.T, c rueidis.Client) {
		ctx := within(t)
		require.NoError(t, c.Do(ctx, c.B().Set().Key("a").Value("1").Build()).Error())
		require.NoError(t, c.Do(ctx, c.B().Del().Key("hash").Build()).Error())
		require.NoError(t, c.Do(ctx, c.B().Hset().Key("hash").FieldValue().FieldValue("f", "v").Build()).Error())
		keys := []string{"a", "missing", "hash", "a"}
		for _, s := range shapes {
			for _, small := range []int{0, 10} {
				got, err := s.read(ctx, c, keys, rueidisbatch.WithSmall(small))
				require.NoError(t, err)
				same(t, [][]byte{[]byte("1"), nil, nil, []byte("1")}, got)
				_, err = s.read(ctx, c, keys, rueidisbatch.WithSmall(small), rueidisbatch.WithWrongType(rueidisbatch.WrongTypeError))
				require.ErrorIs(t, err, rueidisbatch.ErrWrongType)
				require.Equal(t, []int{2}, failedKeys(err))
			}
		}
	})
}

// F1: 300 keys are one command, 10,000 are three, and few keys go over the shared connection.
func TestCase_F1_FewCommands(t *testing.T) {
	redistest.NoLeak(t)
	srv := redistest.Shared(t)
	sentinel := redistest.NewSentinel(t)
	for name, plain := range map[string]rueidis.Client{"standalone": redistest.NewClient(t, srv), "sentinel": sentinel.NewClient(t)} {
		t.Run(name, func(t *testing.T) {
			keys, vals := fillKeys(t, plain, 10000)
			c, rec := recorded(t, plain)
			for n, want := range map[int]int{0: 0, 1: 1, 64: 1, 300: 1, 4096: 1, 4097: 2, 8193: 3, 10000: 3} {
				for _, s := range shapes[:2] {
					got, err := s.read(within(t), c, keys[:n])
					require.NoError(t, err)
					same(t, vals[:n], got)
					cmds := rec.taken("")
					gets := slices.DeleteFunc(slices.Clone(cmds), func(cmd []string) bool { return cmd[0] == "PING" })
					require.Len(t, gets, want, "%d keys", n)
					if n <= 64 {
						require.Len(t, cmds, want, "no stream")
					}
				}
			}
		})
	}
}

// F3: duplicates keep their place, over slots and over the edge of a chunk.
func TestCase_F3_DuplicatesKeepTheirPlace(t *testing.T) {
	redistest.NoLeak(t)
	cluster := redistest.NewCluster(t)
	for name, c := range map[string]rueidis.Client{"standalone": redistest.NewClient(t, redistest.Shared(t)), "cluster": cluster.NewClient(t)} {
		t.Run(name, func(t *testing.T) {
			for _, key := range []string{"a", "b", "c"} {
				require.NoError(t, c.Do(within(t), c.B().Set().Key(key).Value("value of "+key).Build()).Error())
			}
			keys := []string{"a", "b", "a", "missing", "c"}
			want := [][]byte{[]byte("value of a"), []byte("value of b"), []byte("value of a"), nil, []byte("value of c")}
			for _, s := range shapes {
				for _, small := range []int{0, 64} {
					for _, chunk := range []int{1, 2, 3, 4, 5, 6} {
						got, err := s.read(within(t), c, keys, rueidisbatch.WithChunk(chunk), rueidisbatch.WithSmall(small))
						require.NoError(t, err)
						same(t, want, got)
					}
				}
				keys, want := slices.Repeat(keys, 2000), slices.Repeat(want, 2000)
				got, err := s.read(within(t), c, keys)
				require.NoError(t, err)
				same(t, want, got)
			}
			healthy(t, c)
		})
	}
}

// F4: a reply that does not fit the keys is an error that names them, whatever is wrong; and no keys are no command.
func TestCase_F4_ShortReplies(t *testing.T) {
	bulk := func(n int) string { return redistest.Array(redistest.Bulks(slices.Repeat([]string{"v"}, n)...)...) }
	for _, tt := range []struct {
		name  string
		reply func(n int) string
	}{
		{"one too few", func(n int) string { return bulk(n - 1) }},
		{"one too many", func(n int) string { return bulk(n + 1) }},
		{"none", func(int) string { return bulk(0) }},
		{"a string", func(int) string { return redistest.Bulk("v") }},
		{"a null", func(int) string { return "*-1\r\n" }},
		{"too few, streamed", func(n int) string { return "*?\r\n" + strings.Repeat("$1\r\nv\r\n", n-1) + ".\r\n" }},
		{"too many, streamed", func(n int) string { return "*?\r\n" + strings.Repeat("$1\r\nv\r\n", n+1) + ".\r\n" }},
		{"an array in it", func(n int) string { return fmt.Sprintf("*%d\r\n", n) + strings.Repeat("*0\r\n", n) }},
		{"an error in it", func(n int) string {
			return fmt.Sprintf("*%d\r\n", n) + strings.Repeat("$1\r\nv\r\n", n-1) + "-WRONG\r\n"
		}},
		{"no RESP", func(int) string { return "?!\r\n" }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			redistest.NoLeak(t)
			srv := redistest.NewFake(t, func(c *redistest.FakeConn, cmd []string) {
				if cmd[0] == "MGET" {
					c.Write(tt.reply(len(cmd) - 1))
					return
				}
				c.Write(redistest.Bulk(cmd[1]))
			})
			c := dial(t, srv.Addr())
			everyShape(t, func(t *testing.T, s shape) {
				for _, opts := range [][]rueidisbatch.Option{
					{rueidisbatch.WithSmall(0)},
					{rueidisbatch.WithSmall(0), rueidisbatch.WithChunk(5)},
					{rueidisbatch.WithSmall(100)},
				} {
					if opts[0] == rueidisbatch.WithSmall(100) && (strings.Contains(tt.name, "streamed") || tt.name == "no RESP") {
						continue // rueidis' own reader does not know the one, and asks again for ever after the other
					}
					keys := strings.Fields(strings.Repeat("k ", 20))
					_, err := s.read(within(t), c, keys, opts...)
					require.Error(t, err)
					var at *rueidisbatch.RangeError
					require.ErrorAs(t, err, &at)
					require.Less(t, at.From, at.To)
					require.ErrorContains(t, err, "key")
					healthy(t, c)
				}
				got, err := s.read(within(t), c, nil)
				require.NoError(t, err)
				require.Empty(t, got)
			})
		})
	}
	t.Run("no keys", func(t *testing.T) {
		srv := redistest.NewFake(t, nil)
		c := dial(t, srv.Addr())
		everyShape(t, func(t *testing.T, s shape) {
			got, err := s.read(within(t), c, nil)
			require.NoError(t, err)
			require.Empty(t, got)
		})
		require.Empty(t, srv.Commands())
	})
}

// mgetServer answers MGET with "v" for each key, but by hook if that returns true.
func mgetServer(t testing.TB, hook func(c *redistest.FakeConn, cmd []string) bool) *redistest.Fake {
	return redistest.NewFake(t, func(c *redistest.FakeConn, cmd []string) {
		switch {
		case cmd[0] != "MGET":
			c.Write(redistest.Bulk(cmd[len(cmd)-1]))
		case hook(c, cmd):
		default:
			c.Write(redistest.Array(redistest.Bulks(slices.Repeat([]string{"v"}, len(cmd)-1)...)...))
		}
	})
}

func numbered(n int) (keys []string) {
	for i := range n {
		keys = append(keys, fmt.Sprint("k", i))
	}
	return keys
}

// F6: with WithPartial the other nine chunks are kept and the error names the keys; without, nothing more is asked for.
func TestCase_F6_OneOfTenChunks(t *testing.T) {
	redistest.NoLeak(t)
	for name, kill := range map[string]func(c *redistest.FakeConn){
		"an error":       func(c *redistest.FakeConn) { c.Write("-OOM no memory\r\n") },
		"a cut":          func(c *redistest.FakeConn) { c.Write("*100\r\n$1\r\nv\r\n$1\r\n"); c.Cut() },
		"a reset":        func(c *redistest.FakeConn) { c.Reset() },
		"too few values": func(c *redistest.FakeConn) { c.Write("*1\r\n$1\r\nv\r\n") },
	} {
		t.Run(name, func(t *testing.T) {
			killing := func(asked *atomic.Int64) *redistest.Fake {
				return mgetServer(t, func(c *redistest.FakeConn, cmd []string) bool {
					asked.Add(1)
					if slices.Contains(cmd, "k399") {
						kill(c)
						return true
					}
					return false
				})
			}
			c := dial(t, killing(new(atomic.Int64)).Addr())
			keys := numbered(1000)
			for _, s := range shapes[:2] {
				got, err := s.read(within(t), c, keys, rueidisbatch.WithChunk(100), rueidisbatch.WithPartial())
				require.Error(t, err)
				failed := failedKeys(err)
				require.Equal(t, 399, failed[len(failed)-1])
				require.GreaterOrEqual(t, failed[0], 300)
				require.Len(t, failed, 399-failed[0]+1, "in one piece")
				for i, v := range got {
					require.Equal(t, i < failed[0] || i > 399, string(v) == "v", "%d", i)
				}
				_, err = s.read(within(t), c, keys, rueidisbatch.WithChunk(100))
				require.Error(t, err)
				require.Contains(t, failedKeys(err), 399)
				if name == "an error" {
					var asked atomic.Int64 // by this call alone: what others have sent may arrive late
					c := dial(t, killing(&asked).Addr())
					_, err = s.read(within(t), c, keys, rueidisbatch.WithChunk(100), rueidisbatch.WithParallelism(1))
					require.Error(t, err)
					require.EqualValues(t, 4, asked.Load(), "nothing behind the failed one")
				}
			}
			healthy(t, c)
		})
	}
}

// L13, G3: many chunks that all fail are one error at once, and no goroutine is left.
func TestCase_L13_AllChunksFail(t *testing.T) {
	redistest.NoLeak(t)
	srv := mgetServer(t, func(c *redistest.FakeConn, _ []string) bool { c.Write("-ERR no\r\n"); return true })
	c := dial(t, srv.Addr())
	for _, chunks := range []int{2, 12, 13, 14, 100} {
		everyShape(t, func(t *testing.T, s shape) {
			for _, p := range []int{1, 2, 8} {
				_, err := s.read(within(t), c, numbered(chunks*50), rueidisbatch.WithChunk(50), rueidisbatch.WithParallelism(p), rueidisbatch.WithSmall(0))
				var at *rueidisbatch.RangeError
				require.True(t, errors.As(err, &at), "%v", err)
				_, ok := at.Err.(*rueidis.RedisError)
				require.True(t, ok, "%v", at.Err)
				require.LessOrEqual(t, at.To-at.From, 50)
			}
		})
	}
	healthy(t, c)
}

// A stream that stalls in its middle does not hold up the error of another one.
func TestErrorInterruptsOthers(t *testing.T) {
	redistest.NoLeak(t)
	stalled := make(chan struct{})
	release := make(chan struct{})
	defer close(release)
	var once sync.Once
	srv := mgetServer(t, func(c *redistest.FakeConn, cmd []string) bool {
		if cmd[1] == "k0" {
			c.Write("*50\r\n$1\r\nv\r\n")
			once.Do(func() { close(stalled) })
			c.Block(release)
			return true
		}
		<-stalled
		c.Pause(50 * time.Millisecond) // the client has begun to read the other one
		c.Write("-ERR no\r\n")
		return true
	})
	c := dial(t, srv.Addr())
	begin := time.Now()
	_, err := rueidisbatch.MGet(context.Background(), c, numbered(100), rueidisbatch.WithChunk(50), rueidisbatch.WithSmall(0))
	require.ErrorContains(t, err, "keys 50 to 99: no")
	require.Less(t, time.Since(begin), 5*time.Second, "it would be for ever")
	healthy(t, c)
}

// A context that ends at a random moment, in 100 goroutines.
func TestCancelAnywhere(t *testing.T) {
	redistest.NoLeak(t)
	c := redistest.NewClient(t, redistest.Shared(t))
	keys, vals := fillKeys(t, c, 3000)
	dir := fillDir(t, c, 1, 3000)
	_, err := rueidisbatch.MGet(within(t), c, keys, rueidisbatch.WithParallelism(8), rueidisbatch.WithChunk(100)) // dials
	require.NoError(t, err)
	var all sync.WaitGroup
	for g := range 100 {
		all.Go(func() {
			for round := range 3 {
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(g*(round+1)*300)*time.Microsecond)
				for _, s := range shapes {
					got, err := s.read(ctx, c, keys, rueidisbatch.WithChunk(300))
					switch {
					case err == nil:
						for i := range vals {
							if !bytes.Equal(vals[i], got[i]) {
								t.Error(s.name, i)
							}
						}
					case !errors.Is(err, context.DeadlineExceeded):
						t.Error(s.name, err)
					}
				}
				n, err := list(t, ctx, c, dir, nil, rueidisbatch.WithChunk(300))
				if err == nil && n != 3000 || err != nil && !errors.Is(err, context.DeadlineExceeded) {
					t.Error(n, err)
				}
				cancel()
			}
		})
	}
	all.Wait()
	healthy(t, c)
}

// What is left of a chunk is asked for again when its connection ends in the middle.
func TestCase_G4_ChunkIsReset(t *testing.T) {
	for name, end := range map[string]func(c *redistest.FakeConn){
		"cut":   func(c *redistest.FakeConn) { c.Cut() },
		"reset": func(c *redistest.FakeConn) { c.Pause(20 * time.Millisecond); c.Reset() },
	} {
		t.Run(name, func(t *testing.T) {
			redistest.NoLeak(t)
			var left atomic.Int64
			srv := mgetServer(t, func(c *redistest.FakeConn, cmd []string) bool {
				if len(cmd) < 3 || left.Add(-1) < 0 {
					return false
				}
				c.Write(fmt.Sprintf("*%d\r\n$1\r\nv\r\n$1\r", len(cmd)-1))
				end(c)
				return true
			})
			c := dial(t, srv.Addr())
			everyShape(t, func(t *testing.T, s shape) {
				left.Store(1)
				got, err := s.read(within(t), c, numbered(1000), rueidisbatch.WithChunk(100), rueidisbatch.WithSmall(0))
				require.NoError(t, err)
				same(t, slices.Repeat([][]byte{[]byte("v")}, 1000), got)
				left.Store(1 << 40) // for ever
				_, err = s.read(within(t), c, numbered(1000), rueidisbatch.WithChunk(100), rueidisbatch.WithSmall(0))
				require.ErrorIs(t, err, io.ErrUnexpectedEOF)
			})
			left.Store(0)
			healthy(t, c)
		})
	}
	t.Run("directory through a proxy", func(t *testing.T) {
		redistest.NoLeak(t)
		srv := redistest.Shared(t)
		direct := redistest.NewClient(t, srv)
		dir := fillDir(t, direct, 1, 20000)
		proxy := redistest.NewProxy(t, srv.Addr)
		c := redistest.NewClient(t, srv, func(o *rueidis.ClientOption) { o.InitAddress = []string{proxy.Addr()} })
		n, err := list(t, within(t), c, dir, nil) // dials
		require.NoError(t, err)
		require.Equal(t, 20000, n)
		n = 0
		for _, err := range rueidisbatch.Readdir(within(t), namesBy{c, direct}, dir, attrKey) {
			require.NoError(t, err)
			if n++; n == 1000 { // now an MGET of 400 KB is cut
				proxy.Set(redistest.Fault{CutAfter: 200000, ResetPeer: true, Once: true})
			}
		}
		require.Equal(t, 20000, n)
		proxy.Clear()
		healthy(t, c)
	})
}

// namesBy is a client that reads pages of names by another one.
type namesBy struct {
	rueidis.Client
	names rueidis.Client
}

func (c namesBy) DoMultiStream(ctx context.Context, cmds ...rueidis.Completed) rueidis.MultiRedisResultStream {
	for i := range cmds {
		if cmds[i].Commands()[0] == "HSCAN" {
			return c.names.DoMultiStream(ctx, cmds...)
		}
	}
	return c.Client.DoMultiStream(ctx, cmds...)
}
