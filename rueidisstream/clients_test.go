package rueidisstream_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidishook"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

// everything uses a client in each way; keys are of one slot, and their values are those that fillWays sets.
func everything(t testing.TB, c rueidis.Client, opts ...rueidisstream.Option) {
	t.Helper()
	ctx := caseContext(t)
	smembers := func() rueidis.Completed { return c.B().Smembers().Key("{w}set").Build() }
	n := 0
	for _, err := range rueidisstream.Values(ctx, c, smembers(), opts...) {
		require.NoError(t, err)
		n++
	}
	require.Equal(t, 1000, n)
	for p, err := range rueidisstream.Pairs(ctx, c, c.B().Hgetall().Key("{w}hash").Build(), opts...) {
		require.NoError(t, err)
		require.Equal(t, "f", p.Key.String())
	}
	for range rueidisstream.Values(ctx, c, smembers(), append(opts, rueidisstream.WithDrain(0))...) {
		break
	}
	var b strings.Builder
	_, err := rueidisstream.Copy(ctx, c, c.B().Get().Key("{w}string").Build(), &b, opts...)
	require.NoError(t, err)
	require.Equal(t, "value", b.String())
	r, err := rueidisstream.Do(ctx, c, c.B().Get().Key("{w}string").Build(), opts...)
	require.NoError(t, err)
	got, err := io.ReadAll(r)
	require.NoError(t, err)
	require.Equal(t, "value", string(got))
	require.NoError(t, r.Close())
	rs := rueidisstream.DoMulti(ctx, c, []rueidis.Completed{smembers(), c.B().Get().Key("{w}missing").Build(), c.B().Get().Key("{w}string").Build()}, opts...)
	replies := ofReplies(t, rs)
	require.Len(t, replies, 3)
	require.Equal(t, []string{"nil", `"value"`}, replies[1:])
}

func fillWays(t testing.TB, c rueidis.Client) {
	ctx := context.Background()
	fillSet(t, c, "{w}set", 1000)
	require.NoError(t, c.Do(ctx, c.B().Hset().Key("{w}hash").FieldValue().FieldValue("f", "v").Build()).Error())
	require.NoError(t, c.Do(ctx, c.B().Set().Key("{w}string").Value("value").Build()).Error())
}

func TestCluster(t *testing.T) {
	redistest.NoLeak(t)
	cluster := redistest.NewCluster(t)
	c := cluster.NewClient(t)
	fillWays(t, c)
	everything(t, c)
	t.Run("commands of several slots", func(t *testing.T) {
		ctx := caseContext(t)
		var want []string
		for i := range 300 {
			want = append(want, strconv.Quote(fmt.Sprint("value ", i)))
			require.NoError(t, c.Do(ctx, c.B().Set().Key(fmt.Sprint("key ", i)).Value(fmt.Sprint("value ", i)).Build()).Error())
		}
		get := func() (cmds []rueidis.Completed) {
			for i := range want {
				cmds = append(cmds, c.B().Get().Key(fmt.Sprint("key ", i)).Build())
			}
			return cmds
		}
		for range 20 {
			require.Equal(t, want, ofReplies(t, rueidisstream.DoMulti(ctx, c, get())), "in the order of the commands")
			rs := rueidisstream.DoMulti(ctx, c, get())
			_, err := rs.Next()
			require.NoError(t, err)
			require.NoError(t, rs.Close(), "early")
		}
		mixed := append(get()[:3], c.B().Ping().Message("m").Build(), c.B().Get().Key("missing").Build(), c.B().Smembers().Key("key 1").Build())
		replies := ofReplies(t, rueidisstream.DoMulti(ctx, c, append(mixed, get()...)))
		require.Equal(t, append(append([]string{}, want[:3]...), `"m"`, "nil"), replies[:5])
		require.Contains(t, replies[5], "WRONGTYPE")
		require.Equal(t, want, replies[6:])
		written := ofReplies(t, rueidisstream.DoMulti(ctx, c, []rueidis.Completed{
			c.B().Set().Key("a").Value("1").Build(), c.B().Set().Key("b").Value("2").Build(), c.B().Get().Key("a").Build(), c.B().Get().Key("b").Build(),
		}))
		require.Equal(t, []string{`"OK"`, `"OK"`, `"1"`, `"2"`}, written)
		everything(t, c)

		// D2: pipelines over all nodes with a pool of one do not wait for each other for ever.
		one := cluster.NewClient(t, casePool(1))
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 10 {
					cmds := get()
					rand.Shuffle(len(cmds), func(i, j int) { cmds[i], cmds[j] = cmds[j], cmds[i] })
					n := 0
					for _, err := range rueidisstream.DoMulti(ctx, one, cmds).All() {
						if err != nil {
							t.Error(err)
							return
						}
						n++
					}
					if n != len(want) {
						t.Error(n)
					}
				}
			})
		}
		wg.Wait()
	})
	t.Run("addresses that the client does not know", func(t *testing.T) {
		ctx := caseContext(t)
		hidden := nameless{c}
		var cmds []rueidis.Completed
		var want []string
		for i := range 20 {
			cmds = append(cmds, c.B().Get().Key(fmt.Sprint("key ", i)).Build(), c.B().Ping().Message("m").Build())
			want = append(want, strconv.Quote(fmt.Sprint("value ", i)), `"m"`)
		}
		require.Equal(t, want, ofReplies(t, rueidisstream.DoMulti(ctx, hidden, cmds)))
	})
	t.Run("replicas", func(t *testing.T) {
		var asked atomic.Int64
		r := cluster.NewClient(t, func(o *rueidis.ClientOption) {
			o.SendToReplicas = func(cmd rueidis.Completed) bool { asked.Add(1); return cmd.IsReadOnly() }
			// A replica among the first addresses may be dialled before rueidis knows that it is one, without READONLY. Do follows
			// the MOVED that comes of it.
			o.InitAddress = cluster.Addrs[:3]
		})
		slot := cluster.Slot(t, "{w}set")
		address := func(opts ...rueidisstream.Option) string {
			reader, err := rueidisstream.Do(caseContext(t), r, r.B().Arbitrary("HSTRLEN").Keys("{w}hash").Args("f").ReadOnly(), opts...)
			require.NoError(t, err)
			require.NoError(t, reader.Close())
			return commandsOn(t, cluster, slot)
		}
		require.Equal(t, "primary", address())
		require.Equal(t, "replica", address(rueidisstream.AllowReplica()))
		require.Positive(t, asked.Load())
		require.Eventually(t, func() bool { // replication has caught up
			n, err := r.Do(context.Background(), r.B().Scard().Key("{w}set").Build()).AsInt64()
			return err == nil && n == 1000
		}, 10*time.Second, 10*time.Millisecond)
		everything(t, r, rueidisstream.AllowReplica())
	})
}

// nameless is a client of a cluster whose nodes have other names than the cluster gives them.
type nameless struct{ rueidis.Client }

func (nameless) Nodes() map[string]rueidis.Client { return nil }

// commandsOn tells which node of the slot has run HSTRLEN since the last call.
func commandsOn(t testing.TB, cluster *redistest.Cluster, slot int) string {
	where := ""
	look := func(name string, s *redistest.Server) {
		if strings.Contains(s.Do(t, "INFO", "commandstats"), "cmdstat_hstrlen:") {
			where += name
		}
		s.Do(t, "CONFIG", "RESETSTAT")
	}
	look("primary", cluster.NodeOf(t, slot))
	for _, s := range cluster.ReplicasOf(t, slot) {
		look("replica", s)
	}
	return where
}

func TestSentinel(t *testing.T) {
	redistest.NoLeak(t)
	s := redistest.NewSentinel(t)
	c := s.NewClient(t)
	fillWays(t, c)
	everything(t, c)
}

func TestTLS(t *testing.T) {
	redistest.NoLeak(t)
	srv := redistest.TLS(t)
	fillWays(t, redistest.NewClient(t, srv.Admin()))
	c := redistest.NewClient(t, srv)
	everything(t, c)
	_, err := rueidisstream.Do(context.Background(), c, c.B().Set().Key("k").Value("v").Build())
	require.ErrorContains(t, err, "NOPERM")
	everything(t, c)
}

func TestReplica(t *testing.T) {
	redistest.NoLeak(t)
	primary, replica := redistest.Replica(t)
	fillWays(t, redistest.NewClient(t, primary))
	c := redistest.NewClient(t, replica)
	require.Eventually(t, func() bool {
		n, err := c.Do(context.Background(), c.B().Strlen().Key("{w}string").Build()).AsInt64()
		return err == nil && n == 5
	}, 10*time.Second, 10*time.Millisecond)
	everything(t, c)
}

// hook counts what passes through it.
type hook struct {
	rueidishook.Hook
	streams, multi atomic.Int64
	seen           atomic.Value
}

func (h *hook) DoStream(c rueidis.Client, ctx context.Context, cmd rueidis.Completed) rueidis.RedisResultStream {
	h.streams.Add(1)
	return c.DoStream(ctx, cmd)
}

func (h *hook) DoMultiStream(c rueidis.Client, ctx context.Context, multi ...rueidis.Completed) rueidis.MultiRedisResultStream {
	h.multi.Add(1)
	h.seen.Store(strings.Join(multi[1].Commands(), " "))
	return c.DoMultiStream(ctx, multi...)
}

// K4: a client that is wrapped by a hook works, and the hook sees the stream.
func TestHook(t *testing.T) {
	bothProtocols(t, func(t *testing.T, c rueidis.Client) {
		fillWays(t, c)
		h := new(hook)
		everything(t, rueidishook.WithHook(c, h))
		require.EqualValues(t, 6, h.streams.Load()+h.multi.Load(), "Copy, and Values twice, Pairs, Do, DoMulti")
		require.Equal(t, "SMEMBERS {w}set", h.seen.Load(), "in the last one")
	})
}

// mock is a client that has no connection.
type mock struct{ rueidis.Client }

var errMock = errors.New("mocked")

func (mock) DoStream(context.Context, rueidis.Completed) rueidis.RedisResultStream {
	return rueidis.NewErrorResultStream(errMock)
}

func (mock) DoMultiStream(context.Context, ...rueidis.Completed) rueidis.MultiRedisResultStream {
	return rueidis.MultiRedisResultStream{}
}

// failing is a mock of which all streams fail.
type failing struct{ mock }

func (failing) DoMultiStream(context.Context, ...rueidis.Completed) rueidis.MultiRedisResultStream {
	return rueidis.NewErrorResultStream(errMock)
}

// A client that hands out no reader is ErrUnsupported; one whose streams fail, that error.
func TestMock(t *testing.T) {
	c := caseDial(t, redistest.NewFake(t, nil).Addr(), func(o *rueidis.ClientOption) { o.DisableCache = true })
	get := func() rueidis.Completed { return c.B().Get().Key("k").Build() }
	_, err := rueidisstream.Do(context.Background(), mock{c}, get())
	require.ErrorIs(t, err, rueidisstream.ErrUnsupported)
	_, err = rueidisstream.Do(context.Background(), failing{mock{c}}, get())
	require.ErrorIs(t, err, errMock)
	_, err = rueidisstream.Copy(context.Background(), failing{mock{c}}, get(), io.Discard)
	require.ErrorIs(t, err, errMock)
}

// Commands after which a reply is not to be had, or not where it must be, are refused before anything is sent.
func TestRefused(t *testing.T) {
	srv := redistest.NewFake(t, nil)
	c := caseDial(t, srv.Addr(), casePool(1), func(o *rueidis.ClientOption) { o.DisableCache = true })
	ctx := context.Background()
	for _, build := range []func() rueidis.Completed{
		func() rueidis.Completed { return c.B().Subscribe().Channel("c").Build() },
		func() rueidis.Completed { return c.B().Psubscribe().Pattern("c").Build() },
		func() rueidis.Completed { return c.B().Ssubscribe().Channel("c").Build() },
		func() rueidis.Completed { return c.B().Unsubscribe().Build() },
		func() rueidis.Completed { return c.B().Punsubscribe().Build() },
		func() rueidis.Completed { return c.B().Sunsubscribe().Build() },
		func() rueidis.Completed { return caseWords(c, "MONITOR") },
		func() rueidis.Completed { return caseWords(c, "monitor") },
		func() rueidis.Completed { return caseWords(c, "HELLO", "3") },
		func() rueidis.Completed { return caseWords(c, "Reset") },
		func() rueidis.Completed { return caseWords(c, "QUIT") },
		func() rueidis.Completed { return caseWords(c, "SYNC") },
		func() rueidis.Completed { return caseWords(c, "PSYNC", "?", "-1") },
		func() rueidis.Completed { return caseWords(c, "CLIENT", "REPLY", "OFF") },
		func() rueidis.Completed { return caseWords(c, "client", "reply", "skip") },
	} {
		cmd := build()
		name := strings.Join(cmd.Commands(), " ")
		_, err := rueidisstream.Do(ctx, c, build())
		require.ErrorIs(t, err, rueidisstream.ErrUnsupported, name)
		_, err = rueidisstream.Copy(ctx, c, build(), io.Discard)
		require.ErrorIs(t, err, rueidisstream.ErrUnsupported, name)
		for _, err = range rueidisstream.Values(ctx, c, build()) {
			require.ErrorIs(t, err, rueidisstream.ErrUnsupported, name)
		}
		_, err = rueidisstream.DoMulti(ctx, c, []rueidis.Completed{c.B().Ping().Build(), build()}).Next()
		require.ErrorIs(t, err, rueidisstream.ErrUnsupported, name)
	}
	require.Empty(t, srv.Commands(), "nothing was sent")
}

// An iterator is for one range, since its command is.
func TestReused(t *testing.T) {
	bothProtocols(t, func(t *testing.T, c rueidis.Client) {
		ctx := context.Background()
		values := rueidisstream.Values(ctx, c, c.B().Smembers().Key("none").Build())
		pairs := rueidisstream.Pairs(ctx, c, c.B().Hgetall().Key("none").Build())
		for _, err := range values {
			require.NoError(t, err)
		}
		for _, err := range pairs {
			require.NoError(t, err)
		}
		n := 0
		for _, err := range values {
			require.ErrorIs(t, err, rueidisstream.ErrReused)
			n++
		}
		for _, err := range pairs {
			require.ErrorIs(t, err, rueidisstream.ErrReused)
			n++
		}
		require.Equal(t, 2, n)
		_, err := rueidisstream.Do(ctx, c, rueidis.Completed{})
		require.ErrorIs(t, err, rueidisstream.ErrReused)
		_, err = rueidisstream.DoMulti(ctx, c, []rueidis.Completed{{}}).Next()
		require.ErrorIs(t, err, rueidisstream.ErrReused)
	})
}

// Commands that only read are sent again when the connection turns out to have been closed; others never.
func TestRetry(t *testing.T) {
	for _, readOnly := range []bool{true, false} {
		t.Run(map[bool]string{true: "reads", false: "writes"}[readOnly], func(t *testing.T) {
			redistest.NoLeak(t)
			f := redistest.NewFake(t, func(c *redistest.FakeConn, cmd []string) { c.Write(redistest.Bulk(strings.Join(cmd, " "))) })
			c := caseDial(t, f.Addr(), casePool(4), func(o *rueidis.ClientOption) { o.DisableCache = true })
			ctx := context.Background()
			build := func(words ...string) rueidis.Completed {
				if readOnly {
					return caseReadOnly(c, words...)
				}
				return caseWords(c, words...)
			}
			for name, call := range map[string]func() (string, error){
				"Do": func() (string, error) {
					r, err := rueidisstream.Do(ctx, c, build("DO", "key", "1"))
					if err != nil {
						return "", err
					}
					defer r.Close()
					return value(t, r), nil
				},
				"Copy": func() (string, error) {
					var b strings.Builder
					_, err := rueidisstream.Copy(ctx, c, build("GETEX", "key", "2"), &b)
					return b.String(), err
				},
				"DoMulti": func() (string, error) {
					rs := rueidisstream.DoMulti(ctx, c, []rueidis.Completed{build("ONE", "a"), build("TWO", "b", "c")})
					defer rs.Close()
					if _, err := rs.Next(); err != nil {
						return "", err
					}
					r, err := rs.Next()
					if err != nil {
						return "", err
					}
					return value(t, r), nil
				},
			} {
				want, err := call()
				require.NoError(t, err)
				before := len(f.Commands())
				f.CutAll()
				got, err := call()
				if readOnly {
					require.NoError(t, err, name)
					require.Equal(t, want, got, "the same words")
					continue
				}
				require.ErrorIs(t, err, io.ErrUnexpectedEOF, name)
				require.Len(t, f.Commands(), before, "%s: nothing arrived, and nothing was sent again", name)
				got, err = call()
				require.NoError(t, err, name)
				require.Equal(t, want, got)
			}
		})
	}
	t.Run("not for ever", func(t *testing.T) {
		f := redistest.NewFake(t, func(c *redistest.FakeConn, _ []string) { c.Cut() })
		c := caseDial(t, f.Addr(), casePool(1), func(o *rueidis.ClientOption) { o.DisableCache = true })
		_, err := rueidisstream.Do(context.Background(), c, caseReadOnly(c, "DO"))
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
		defer cancel()
		_, err = rueidisstream.Do(ctx, c, caseReadOnly(c, "DO"))
		require.Error(t, err)
	})
}
