package goredis_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidiscompat"
	"github.com/redis/rueidis/rueidishook"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/compat/goredis"
	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisbatch"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

// hundredMore sends a hundred commands that must be right: over the shared connection, and over those of the pool.
func hundredMore(t testing.TB, a *goredis.Adapter) {
	t.Helper()
	ctx := newContext(t)
	for i := range 50 {
		word := "word " + strconv.Itoa(i)
		got, err := a.Echo(ctx, word).Result()
		require.NoError(t, err)
		require.Equal(t, word, got)
		raw, err := a.DoRaw(ctx, "ECHO", word).Result()
		require.NoError(t, err)
		require.Equal(t, redistest.Bulk(word), string(raw))
	}
}

// poolOfOne lets a client have one connection for streams.
func poolOfOne(o *rueidis.ClientOption) { o.BlockingPoolSize = 1 }

// K1: one client and one pool serve the adapter, the cached one, and the helpers of rueidisstream.
func TestCase_K1_OneClientForAll(t *testing.T) {
	redistest.NoLeak(t)
	srv := redistest.Standalone(t)
	client := redistest.NewClient(t, srv, poolOfOne, func(o *rueidis.ClientOption) { o.PipelineMultiplex = -1 })
	ctx := newContext(t)
	a := goredis.NewAdapter(client)
	require.True(t, a.Client() == client)
	require.NoError(t, a.SAdd(ctx, "set", "a", "b").Err())
	require.NoError(t, a.MSet(ctx, "k1", "v1", "k2", "v2").Err())
	require.NoError(t, a.HSet(ctx, "dir", "one", "k1", "two", "k2").Err())
	for range 3 {
		cached, err := a.Cache(time.Minute).SMembers(ctx, "set").Result()
		require.NoError(t, err)
		require.ElementsMatch(t, []string{"a", "b"}, cached)
		got, err := a.SMembers(ctx, "set").Result()
		require.NoError(t, err)
		require.ElementsMatch(t, []string{"a", "b"}, got)
		values, err := rueidis.MGetCache(a.Client(), ctx, time.Minute, []string{"k1", "k2"})
		require.NoError(t, err)
		require.Len(t, values, 2)
		var streamed []string
		for v, err := range rueidisstream.Members(ctx, a.Client(), "set", rueidisstream.WithSmall(0)) {
			require.NoError(t, err)
			streamed = append(streamed, v.String())
		}
		require.ElementsMatch(t, got, streamed)
		batched, err := rueidisbatch.MGet(ctx, a.Client(), []string{"k2", "missing", "k1"}, rueidisbatch.WithSmall(0), rueidisbatch.WithParallelism(2))
		require.NoError(t, err)
		require.Equal(t, [][]byte{[]byte("v2"), nil, []byte("v1")}, batched)
		entries := map[string]string{}
		for e, err := range rueidisbatch.Readdir(ctx, a.Client(), "dir", func(dst []byte, e rueidisbatch.Dirent) []byte { return append(dst, e.Value...) }) {
			require.NoError(t, err)
			entries[string(e.Name)] = string(e.Attr)
		}
		require.Equal(t, map[string]string{"one": "v1", "two": "v2"}, entries)
	}
	require.LessOrEqual(t, strings.Count(srv.Do(t, "CLIENT", "LIST", "TYPE", "normal"), " addr="), 3, "the shared one, the one for streams, and this one")
	hundredMore(t, a)
}

// K2: MGet on a cluster gives what it gives elsewhere, in the order of the keys.
func TestCase_K2_MGetOverSlots(t *testing.T) {
	cluster := sharedCluster(t)
	redistest.NoLeak(t)
	client := cluster.NewClient(t)
	a := goredis.NewAdapter(client)
	ctx := newContext(t)
	for _, n := range []int{0, 2, 5, 63, 64, 3_000} {
		t.Run(fmt.Sprint(n, " keys"), func(t *testing.T) {
			keys := make([]string, n)
			want := make([]any, n)
			for i := range keys {
				keys[i] = "key:" + strconv.Itoa(i%700)
				switch i % 700 % 7 {
				case 3: // missing
				case 4:
					require.NoError(t, a.Del(ctx, keys[i]).Err())
					require.NoError(t, a.RPush(ctx, keys[i], "of another type").Err())
				case 5:
					want[i] = ""
					require.NoError(t, a.Set(ctx, keys[i], "", 0).Err())
				default:
					want[i] = "value " + strconv.Itoa(i%700) + binary
					require.NoError(t, a.Set(ctx, keys[i], want[i], 0).Err())
				}
			}
			if n == 0 {
				require.ErrorContains(t, a.MGet(ctx).Err(), "wrong number of arguments")
				return
			}
			for _, from := range []int{-1, 0, 64} {
				got := a.WithStreamFrom(from).MGet(ctx, keys...)
				require.NoError(t, got.Err())
				require.Equal(t, want, got.Val(), "from %d", from)
			}
		})
	}
	t.Run("Scan", func(t *testing.T) {
		require.NoError(t, a.Set(ctx, "name", "Ada", 0).Err())
		require.NoError(t, a.Set(ctx, "born", 1815, 0).Err())
		for _, from := range []int{-1, 0} {
			var who struct {
				Name    string `redis:"name"`
				Born    int    `redis:"born"`
				Missing string `redis:"nothing"`
			}
			require.NoError(t, a.WithStreamFrom(from).MGet(ctx, "name", "nothing", "born").Scan(&who))
			require.Equal(t, "Ada", who.Name)
			require.Equal(t, 1815, who.Born)
		}
	})
	t.Run("a node that is gone", func(t *testing.T) {
		short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
		cancel()
		for _, from := range []int{-1, 0} {
			got := a.WithStreamFrom(from).MGet(short, "name", "born")
			require.ErrorIs(t, got.Err(), context.Canceled)
			require.Nil(t, got.Val())
		}
	})
	hundredMore(t, a)
}

// L6: nothing panics for keys in several slots.
func TestCase_L6_KeysInSeveralSlots(t *testing.T) {
	cluster := sharedCluster(t)
	redistest.NoLeak(t)
	client := cluster.NewClient(t)
	a := goredis.NewAdapter(client)
	ctx := newContext(t)
	var keys []string
	for i := range 100 {
		keys = append(keys, "key:"+strconv.Itoa(i))
		require.NoError(t, a.Set(ctx, keys[i], i, 0).Err())
	}
	n := func(c *rueidiscompat.IntCmd) int64 {
		require.NoError(t, c.Err())
		return c.Val()
	}
	require.EqualValues(t, 100, n(a.Exists(ctx, keys...)))
	require.EqualValues(t, 3, n(a.Exists(ctx, keys[0], keys[1], keys[0], "missing")), "as often as it is named")
	require.EqualValues(t, 1, n(a.Exists(ctx, keys[0])))
	require.EqualValues(t, 2, n(a.Touch(ctx, keys[0], keys[1], "missing")))
	require.EqualValues(t, 2, n(a.Del(ctx, keys[0], keys[1], keys[0], "missing")))
	require.EqualValues(t, 1, n(a.Del(ctx, keys[2])))
	require.EqualValues(t, 3, n(a.Unlink(ctx, keys[0], keys[3], keys[4], keys[5])))
	require.EqualValues(t, 94, n(a.Exists(ctx, keys...)))
	require.EqualValues(t, 94, n(a.Unlink(ctx, keys...)))
	require.EqualValues(t, 0, n(a.Exists(ctx, keys...)))

	store := rueidiscompat.ZStore{Keys: []string{"a", "b"}}
	for name, err := range map[string]error{
		"SInter": a.SInter(ctx, "a", "b").Err(), "SUnion": a.SUnion(ctx, "a", "b").Err(), "SDiff": a.SDiff(ctx, "a", "b").Err(),
		"ZInter": a.ZInter(ctx, store).Err(), "ZInterWithScores": a.ZInterWithScores(ctx, store).Err(),
		"ZUnion": a.ZUnion(ctx, store).Err(), "ZUnionWithScores": a.ZUnionWithScores(ctx, store).Err(),
		"ZDiff": a.ZDiff(ctx, "a", "b").Err(), "ZDiffWithScores": a.ZDiffWithScores(ctx, "a", "b").Err(),
	} {
		e, ok := rueidis.IsRedisErr(err)
		require.True(t, ok, name)
		require.Equal(t, srvError(t, cluster, "SINTER", "a", "b"), e.Error(), name)
	}
	hundredMore(t, a)
}

// srvError is what a node answers.
func srvError(t *testing.T, cluster *redistest.Cluster, words ...string) string {
	client := redistest.NewClient(t, cluster.Nodes[0])
	return client.Do(context.Background(), client.B().Arbitrary(words...).Build()).Error().Error()
}

// Del of keys in several slots is one command for each slot; those that fail do not undo the others.
func TestDelPartly(t *testing.T) {
	redistest.NoLeak(t)
	cluster := redistest.NewCluster(t)
	client := cluster.NewClient(t)
	a := goredis.NewAdapter(client)
	ctx := newContext(t)
	bad := "{" + "bad" + "}k"
	require.NoError(t, a.Set(ctx, bad, 1, 0).Err())
	for _, node := range cluster.Nodes {
		node.Do(t, "ACL", "SETUSER", "default", "resetkeys", "~good*")
	}
	t.Cleanup(func() {
		for _, node := range cluster.Nodes {
			node.Do(t, "ACL", "SETUSER", "default", "allkeys")
		}
	})
	require.NoError(t, a.Set(ctx, "good1", 1, 0).Err())
	require.NoError(t, a.Set(ctx, "good2", 1, 0).Err())
	c := a.Del(ctx, "good1", bad, "good2")
	require.ErrorContains(t, c.Err(), "NOPERM")
	require.EqualValues(t, 2, c.Val())
	require.ErrorContains(t, a.MGet(ctx, "good1", bad).Err(), "NOPERM")
	require.ErrorContains(t, a.WithStreamFrom(0).MGet(ctx, "good1", bad).Err(), "NOPERM")
}

// L10: the results of MGet are one for each key, in their order, repeated keys included.
func TestCase_L10_PositionalMGet(t *testing.T) {
	everywhere(t, func(t *testing.T, client rueidis.Client) {
		ctx := newContext(t)
		a := goredis.NewAdapter(client)
		require.NoError(t, a.Set(ctx, "{l}a", "A", 0).Err())
		require.NoError(t, a.Set(ctx, "{l}b", "B", 0).Err())
		require.NoError(t, a.SAdd(ctx, "{l}set", "x").Err())
		for _, from := range []int{-1, 0, 3, 64} {
			got, err := a.WithStreamFrom(from).MGet(ctx, "{l}a", "{l}b", "{l}a", "{l}missing", "{l}set", "{l}b").Result()
			require.NoError(t, err)
			require.Equal(t, []any{"A", "B", "A", nil, nil, "B"}, got)
		}
	})
}

// L15: what rueidiscompat lacks is there, and a transaction is rueidiscompat's.
func TestCase_L15_WhatRueidiscompatLacks(t *testing.T) {
	everywhere(t, func(t *testing.T, client rueidis.Client) {
		ctx := newContext(t)
		a := goredis.NewAdapter(client)
		require.NoError(t, a.Del(ctx, "{15}set").Err())
		require.NoError(t, a.SAdd(ctx, "{15}set", "one").Err())
		it := a.SScanIterator(ctx, "{15}set", 0, "", 0)
		require.True(t, it.Next(ctx))
		require.Equal(t, "one", it.Val())
		require.False(t, it.Next(ctx))
		require.NoError(t, it.Err())
		require.Equal(t, "OK", a.SetFromBuffer(ctx, "{15}k", []byte("value")).Val())
		buf := make([]byte, 10)
		require.Equal(t, "value", string(a.GetToBuffer(ctx, "{15}k", buf).Bytes()))
		require.Equal(t, "$5\r\nvalue\r\n", string(a.DoRaw(ctx, "GET", "{15}k").Val()))
		require.NoError(t, a.Watch(ctx, func(tx rueidiscompat.Tx) error {
			members, err := tx.SMembers(ctx, "{15}set").Result()
			require.NoError(t, err)
			require.Equal(t, []string{"one"}, members)
			_, err = tx.TxPipelined(ctx, func(p rueidiscompat.Pipeliner) error {
				p.SAdd(ctx, "{15}set", "two")
				return nil
			})
			return err
		}, "{15}set"))
		cmds, err := a.Pipelined(ctx, func(p rueidiscompat.Pipeliner) error {
			p.SMembers(ctx, "{15}set")
			p.Get(ctx, "{15}k")
			return nil
		})
		require.NoError(t, err)
		require.Len(t, cmds, 2)
		require.Equal(t, "value", cmds[1].(*rueidiscompat.StringCmd).Val())
	})
}

// A6: a buffer that is too small is a typed error that says what is needed, and the connection stays in step.
func TestCase_A6_BufferTooSmall(t *testing.T) {
	for _, size := range []int{1, 100, 100_000, 600_000, 3 << 20} {
		t.Run(strconv.Itoa(size), func(t *testing.T) {
			redistest.NoLeak(t)
			a := goredis.NewAdapter(redistest.NewClient(t, redistest.Shared(t), poolOfOne))
			ctx := newContext(t)
			value := strings.Repeat("$6\r\nFORGED\r\n", size/12+1)[:size]
			require.NoError(t, a.Set(ctx, "k", value, 0).Err())
			untouched := bytes.Repeat([]byte{'-'}, size)
			for range 5 {
				buf := bytes.Clone(untouched[:size-1])
				got := a.GetToBuffer(ctx, "k", buf)
				var small *goredis.BufferTooSmallError
				require.ErrorAs(t, got.Err(), &small)
				require.Equal(t, goredis.BufferTooSmallError{Need: size, Have: size - 1}, *small)
				require.Equal(t, fmt.Sprintf("redis: buffer too small: need %d bytes, have %d", size, size-1), got.Err().Error())
				require.ErrorIs(t, got.Err(), io.ErrShortBuffer)
				require.Zero(t, got.Val())
				require.Empty(t, got.Bytes())
				require.Equal(t, untouched[:size-1], buf)
			}
			for _, room := range []int{size, size + 1, size + 2, size + 100} {
				buf := make([]byte, room)
				got := a.GetToBuffer(ctx, "k", buf)
				require.NoError(t, got.Err())
				require.Equal(t, size, got.Val())
				require.True(t, value == string(got.Bytes()))
				require.True(t, &buf[0] == &got.Bytes()[0], "the buffer itself")
				require.Equal(t, make([]byte, room-size), buf[size:])
			}
			hundredMore(t, a)
		})
	}
}

// hook notes the commands that pass through it.
type hook struct {
	rueidishook.Hook
	mu               sync.Mutex
	shared, streamed []string
}

func (h *hook) note(to *[]string, cmds ...rueidis.Completed) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range cmds {
		*to = append(*to, strings.Join(cmds[i].Commands(), " "))
	}
}

func (h *hook) Do(c rueidis.Client, ctx context.Context, cmd rueidis.Completed) rueidis.RedisResult {
	h.note(&h.shared, cmd)
	return c.Do(ctx, cmd)
}

func (h *hook) DoMulti(c rueidis.Client, ctx context.Context, multi ...rueidis.Completed) []rueidis.RedisResult {
	h.note(&h.shared, multi...)
	return c.DoMulti(ctx, multi...)
}

func (h *hook) DoStream(c rueidis.Client, ctx context.Context, cmd rueidis.Completed) rueidis.RedisResultStream {
	h.note(&h.streamed, cmd)
	return c.DoStream(ctx, cmd)
}

func (h *hook) DoMultiStream(c rueidis.Client, ctx context.Context, multi ...rueidis.Completed) rueidis.MultiRedisResultStream {
	h.note(&h.streamed, multi...)
	return c.DoMultiStream(ctx, multi...)
}

// K4: a client that is wrapped by a hook works, and the hook sees the stream.
func TestCase_K4_HookedClient(t *testing.T) {
	everywhere(t, func(t *testing.T, client rueidis.Client) {
		ctx := newContext(t)
		h := new(hook)
		a := goredis.NewAdapter(rueidishook.WithHook(client, h))
		fillKeys(t, client)
		want := rueidiscompat.NewAdapter(client)
		requireSame(t, unordered(want.SMembers(ctx, "{t}set:many")), unordered(a.SMembers(ctx, "{t}set:many")))
		require.Contains(t, h.streamed, "SMEMBERS {t}set:many")
		require.Empty(t, h.shared)
		for range 2 {
			require.Equal(t, []string{"element"}, a.SMembers(ctx, "{t}set:one").Val())
		}
		require.Contains(t, h.shared, "SMEMBERS {t}set:one", "once it is known to be small")
		require.Equal(t, want.LRange(ctx, "{t}list:many", 0, -1).Val(), a.LRange(ctx, "{t}list:many", 0, -1).Val())
		require.Contains(t, h.streamed, "LRANGE {t}list:many 0 -1")
		require.NoError(t, a.SetFromReader(ctx, "{t}string", strings.NewReader("from a reader"), 0).Err())
		r, n, err := a.GetReader(ctx, "{t}string")
		require.NoError(t, err)
		require.EqualValues(t, 13, n)
		got, err := io.ReadAll(r)
		require.NoError(t, errors.Join(err, r.Close()))
		require.Equal(t, "from a reader", string(got))
		require.Contains(t, h.streamed, "GET {t}string")
		require.Equal(t, "$13\r\nfrom a reader\r\n", string(a.DoRaw(ctx, "get", "{t}string").Val()))
		require.Contains(t, h.streamed, "get {t}string")
		n = 0
		for _, err := range a.MembersIterator(ctx, "{t}set:many").All() {
			require.NoError(t, err)
			n++
		}
		require.EqualValues(t, many, n)
		require.Len(t, a.Keys(ctx, "{t}set:*").Val(), 4)
		require.Equal(t, []any{"from a reader", nil}, a.MGet(ctx, "{t}string", "elsewhere").Val())
		hundredMore(t, a)
	})
}
