package compatgoredis

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidiscompat"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/compat/goredis"
	"github.com/rueidisx/rueidisx/internal/redistest"
)

func TestMain(m *testing.M) { redistest.Main(m) }

// native is a client of go-redis.
type native interface {
	redis.UniversalClient
	DoRaw(ctx context.Context, args ...any) *redis.RawCmd
	DoRawWriteTo(ctx context.Context, w io.Writer, args ...any) *redis.RawWriteToCmd
}

// clients are three of one server, or of one cluster.
type clients struct {
	goredis native
	compat  rueidiscompat.Cmdable
	ours    []*goredis.Adapter // by hints, all by streams
}

func newClients(t testing.TB, client rueidis.Client, n native) clients {
	t.Cleanup(func() { _ = n.Close() })
	return clients{n, rueidiscompat.NewAdapter(client), []*goredis.Adapter{goredis.NewAdapter(client), goredis.NewAdapter(client).WithStreamFrom(0)}}
}

// everywhere runs a test over both protocols, on a standalone server and on a cluster.
func everywhere(t *testing.T, test func(t *testing.T, c clients)) {
	protocols := []int{3, 2}
	for _, p := range protocols {
		t.Run(fmt.Sprint("RESP", p), func(t *testing.T) {
			srv := redistest.Shared(t)
			client := redistest.NewClient(t, srv, func(o *rueidis.ClientOption) { o.AlwaysRESP2, o.DisableCache = p == 2, p == 2 })
			test(t, newClients(t, client, redis.NewClient(&redis.Options{Addr: srv.Addr, Protocol: p})))
		})
	}
	t.Run("cluster", func(t *testing.T) {
		cluster := redistest.NewCluster(t)
		for _, p := range protocols {
			t.Run(fmt.Sprint("RESP", p), func(t *testing.T) {
				client := cluster.NewClient(t, func(o *rueidis.ClientOption) { o.AlwaysRESP2, o.DisableCache = p == 2, p == 2 })
				test(t, newClients(t, client, redis.NewClusterClient(&redis.ClusterOptions{Addrs: cluster.Addrs, Protocol: p})))
			})
		}
	})
}

func newContext(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

var binary = string([]byte{0, '\r', '\n', 0xff, '$', '-', '1', '\r', '\n'})

const many = 10_000

// fillKeys sets keys of each type, all in the slot of {t}: one element, many, bytes and empty strings.
func fillKeys(t testing.TB, c rueidiscompat.Cmdable) {
	ctx := newContext(t)
	for _, typ := range []string{"set", "hash", "list", "zset", "stream", "string"} {
		for _, what := range []string{"one", "many", "bytes", "empty"} {
			require.NoError(t, c.Del(ctx, "{t}"+typ+":"+what).Err())
		}
	}
	for what, vals := range map[string][]string{"one": {"element"}, "empty": {""}, "bytes": {binary, "", strings.Repeat("x", 40_000)}} {
		require.NoError(t, c.Set(ctx, "{t}string:"+what, vals[0], 0).Err())
		for i, v := range vals {
			require.NoError(t, c.SAdd(ctx, "{t}set:"+what, v).Err())
			require.NoError(t, c.HSet(ctx, "{t}hash:"+what, v, v).Err())
			require.NoError(t, c.RPush(ctx, "{t}list:"+what, v).Err())
			require.NoError(t, c.ZAdd(ctx, "{t}zset:"+what, rueidiscompat.Z{Member: v, Score: float64(i) + 0.5}).Err())
			require.NoError(t, c.XAdd(ctx, rueidiscompat.XAddArgs{Stream: "{t}stream:" + what, ID: fmt.Sprint(i+1, "-0"), Values: []string{"f", v, v, ""}}).Err())
		}
	}
	for score, member := range map[string]string{"inf": "plus", "-inf": "minus", "1e-320": "tiny", "1.7976931348623157e308": "huge"} {
		client := c.Client()
		require.NoError(t, client.Do(ctx, client.B().Arbitrary("ZADD").Keys("{t}zset:bytes").Args(score, member).Build()).Error())
	}
	require.NoError(t, c.Set(ctx, "{t}string:many", strings.Repeat("$6\r\nFORGED\r\n", many), 0).Err())
	for at := 0; at < many; at += 1000 {
		var list, hash []any
		var zs []rueidiscompat.Z
		for i := at; i < at+1000; i++ {
			e := "element " + strconv.Itoa(i)
			list, hash, zs = append(list, e), append(hash, e, "value "+strconv.Itoa(i)), append(zs, rueidiscompat.Z{Member: e, Score: float64(i / 3)})
		}
		require.NoError(t, c.SAdd(ctx, "{t}set:many", list...).Err())
		require.NoError(t, c.RPush(ctx, "{t}list:many", list...).Err())
		require.NoError(t, c.HSet(ctx, "{t}hash:many", hash...).Err())
		require.NoError(t, c.ZAdd(ctx, "{t}zset:many", zs...).Err())
	}
	_, err := c.Pipelined(ctx, func(p rueidiscompat.Pipeliner) error {
		for i := range many {
			p.XAdd(ctx, rueidiscompat.XAddArgs{Stream: "{t}stream:many", ID: fmt.Sprint(i+1, "-0"), Values: []string{"n", strconv.Itoa(i)}})
		}
		return nil
	})
	require.NoError(t, err)
}

// outcome is a value and an error as all three have them.
type outcome struct {
	val any
	err error
}

func of[T any](c interface{ Result() (T, error) }) outcome {
	val, err := c.Result()
	switch v := any(val).(type) {
	case []redis.Z:
		same := make([]rueidiscompat.Z, len(v))
		for i := range v {
			same[i] = rueidiscompat.Z{Member: v[i].Member.(string), Score: v[i].Score}
		}
		return outcome{same, err}
	case []redis.XMessage:
		same := make([]rueidiscompat.XMessage, len(v))
		for i := range v {
			same[i] = rueidiscompat.XMessage{ID: v[i].ID, Values: v[i].Values}
		}
		return outcome{same, err}
	}
	return outcome{val, err}
}

// sorted is for replies in no order.
func sorted[C interface{ Result() ([]string, error) }](c C) outcome {
	val, err := c.Result()
	val = slices.Clone(val)
	slices.Sort(val)
	return outcome{val, err}
}

// requireSame wants one value and one error, though the three have types of their own for errors. What is not there is nil
// in one and empty in another; that ours is as rueidiscompat's is tested beside the adapter.
func requireSame(t testing.TB, want, got outcome, what string) {
	t.Helper()
	if want.err != nil || got.err != nil {
		require.Error(t, want.err, what)
		require.Error(t, got.err, what)
		require.Equal(t, strings.TrimPrefix(want.err.Error(), "ERR "), strings.TrimPrefix(got.err.Error(), "ERR "), what)
		require.Equal(t, want.err == redis.Nil, got.err == rueidiscompat.Nil, what)
		return
	}
	if want.val == nil || fmt.Sprint(want.val) == "[]" || fmt.Sprint(want.val) == "map[]" {
		require.Equal(t, fmt.Sprint(want.val), fmt.Sprint(got.val), what)
		return
	}
	require.Equal(t, want.val, got.val, what)
}

// TestSame gives one command to go-redis, rueidiscompat and the adapter.
func TestSame(t *testing.T) {
	everywhere(t, func(t *testing.T, c clients) {
		ctx := newContext(t)
		fillKeys(t, c.compat)
		same := func(what string, native outcome, call func(c rueidiscompat.Cmdable) outcome) {
			t.Helper()
			requireSame(t, native, call(c.compat), "rueidiscompat "+what)
			for _, a := range c.ours {
				requireSame(t, native, call(a), "compat/goredis "+what)
			}
		}
		type cm = rueidiscompat.Cmdable
		n := c.goredis
		for _, what := range []string{"missing", "one", "many", "bytes", "empty", "wrong"} {
			key := func(typ string) string {
				switch {
				case what != "wrong":
					return "{t}" + typ + ":" + what
				case typ == "list":
					return "{t}set:one"
				}
				return "{t}list:one"
			}
			set, hash, list, zset, stream := key("set"), key("hash"), key("list"), key("zset"), key("stream")
			same("SMembers "+what, sorted(n.SMembers(ctx, set)), func(c cm) outcome { return sorted(c.SMembers(ctx, set)) })
			same("SMembersMap "+what, of(n.SMembersMap(ctx, set)), func(c cm) outcome { return of(c.SMembersMap(ctx, set)) })
			same("SInter "+what, sorted(n.SInter(ctx, set, set)), func(c cm) outcome { return sorted(c.SInter(ctx, set, set)) })
			same("SUnion "+what, sorted(n.SUnion(ctx, set, "{t}set:one")), func(c cm) outcome { return sorted(c.SUnion(ctx, set, "{t}set:one")) })
			same("SDiff "+what, sorted(n.SDiff(ctx, set, "{t}set:one")), func(c cm) outcome { return sorted(c.SDiff(ctx, set, "{t}set:one")) })
			same("HGetAll "+what, of(n.HGetAll(ctx, hash)), func(c cm) outcome { return of(c.HGetAll(ctx, hash)) })
			same("HKeys "+what, sorted(n.HKeys(ctx, hash)), func(c cm) outcome { return sorted(c.HKeys(ctx, hash)) })
			same("HVals "+what, sorted(n.HVals(ctx, hash)), func(c cm) outcome { return sorted(c.HVals(ctx, hash)) })
			for _, r := range [][2]int64{{0, -1}, {0, 2}, {-3, -1}, {5, 1}, {0, 100}} {
				w := fmt.Sprint(" ", what, r)
				same("LRange"+w, of(n.LRange(ctx, list, r[0], r[1])), func(c cm) outcome { return of(c.LRange(ctx, list, r[0], r[1])) })
				same("ZRange"+w, of(n.ZRange(ctx, zset, r[0], r[1])), func(c cm) outcome { return of(c.ZRange(ctx, zset, r[0], r[1])) })
				same("ZRangeWithScores"+w, of(n.ZRangeWithScores(ctx, zset, r[0], r[1])), func(c cm) outcome { return of(c.ZRangeWithScores(ctx, zset, r[0], r[1])) })
				same("ZRevRange"+w, of(n.ZRevRange(ctx, zset, r[0], r[1])), func(c cm) outcome { return of(c.ZRevRange(ctx, zset, r[0], r[1])) })
				same("ZRevRangeWithScores"+w, of(n.ZRevRangeWithScores(ctx, zset, r[0], r[1])), func(c cm) outcome { return of(c.ZRevRangeWithScores(ctx, zset, r[0], r[1])) })
			}
			for _, by := range []rueidiscompat.ZRangeBy{{Min: "-inf", Max: "+inf"}, {Min: "(1", Max: "3"}, {Min: "-inf", Max: "+inf", Offset: 1, Count: 2}, {Min: "none", Max: "1"}} {
				w, nb := fmt.Sprint(" ", what, by), redis.ZRangeBy(by)
				same("ZRangeByScore"+w, of(n.ZRangeByScore(ctx, zset, &nb)), func(c cm) outcome { return of(c.ZRangeByScore(ctx, zset, by)) })
				same("ZRangeByScoreWithScores"+w, of(n.ZRangeByScoreWithScores(ctx, zset, &nb)), func(c cm) outcome { return of(c.ZRangeByScoreWithScores(ctx, zset, by)) })
				same("ZRevRangeByScore"+w, of(n.ZRevRangeByScore(ctx, zset, &nb)), func(c cm) outcome { return of(c.ZRevRangeByScore(ctx, zset, by)) })
				same("ZRevRangeByScoreWithScores"+w, of(n.ZRevRangeByScoreWithScores(ctx, zset, &nb)), func(c cm) outcome { return of(c.ZRevRangeByScoreWithScores(ctx, zset, by)) })
				args := rueidiscompat.ZRangeArgs{Key: zset, Start: by.Min, Stop: by.Max, ByScore: true, Offset: by.Offset, Count: by.Count}
				na := redis.ZRangeArgs{Key: zset, Start: by.Min, Stop: by.Max, ByScore: true, Offset: by.Offset, Count: by.Count}
				same("ZRangeArgs"+w, of(n.ZRangeArgs(ctx, na)), func(c cm) outcome { return of(c.ZRangeArgs(ctx, args)) })
				same("ZRangeArgsWithScores"+w, of(n.ZRangeArgsWithScores(ctx, na)), func(c cm) outcome { return of(c.ZRangeArgsWithScores(ctx, args)) })
			}
			lex, nlex := rueidiscompat.ZRangeBy{Min: "-", Max: "[f"}, redis.ZRangeBy{Min: "-", Max: "[f"}
			same("ZRangeByLex "+what, of(n.ZRangeByLex(ctx, zset, &nlex)), func(c cm) outcome { return of(c.ZRangeByLex(ctx, zset, lex)) })
			same("ZRevRangeByLex "+what, of(n.ZRevRangeByLex(ctx, zset, &nlex)), func(c cm) outcome { return of(c.ZRevRangeByLex(ctx, zset, lex)) })
			store, nstore := rueidiscompat.ZStore{Keys: []string{zset, "{t}zset:bytes"}}, redis.ZStore{Keys: []string{zset, "{t}zset:bytes"}}
			same("ZInter "+what, of(n.ZInter(ctx, &nstore)), func(c cm) outcome { return of(c.ZInter(ctx, store)) })
			same("ZInterWithScores "+what, of(n.ZInterWithScores(ctx, &nstore)), func(c cm) outcome { return of(c.ZInterWithScores(ctx, store)) })
			same("ZUnion "+what, of(n.ZUnion(ctx, nstore)), func(c cm) outcome { return of(c.ZUnion(ctx, store)) })
			same("ZUnionWithScores "+what, of(n.ZUnionWithScores(ctx, nstore)), func(c cm) outcome { return of(c.ZUnionWithScores(ctx, store)) })
			same("ZDiff "+what, of(n.ZDiff(ctx, zset, "{t}zset:one")), func(c cm) outcome { return of(c.ZDiff(ctx, zset, "{t}zset:one")) })
			same("ZDiffWithScores "+what, of(n.ZDiffWithScores(ctx, zset, "{t}zset:one")), func(c cm) outcome { return of(c.ZDiffWithScores(ctx, zset, "{t}zset:one")) })
			same("XRange "+what, of(n.XRange(ctx, stream, "-", "+")), func(c cm) outcome { return of(c.XRange(ctx, stream, "-", "+")) })
			same("XRangeN "+what, of(n.XRangeN(ctx, stream, "-", "+", 70)), func(c cm) outcome { return of(c.XRangeN(ctx, stream, "-", "+", 70)) })
			same("XRevRange "+what, of(n.XRevRange(ctx, stream, "+", "-")), func(c cm) outcome { return of(c.XRevRange(ctx, stream, "+", "-")) })
			same("XRevRangeN "+what, of(n.XRevRangeN(ctx, stream, "+", "-", 2)), func(c cm) outcome { return of(c.XRevRangeN(ctx, stream, "+", "-", 2)) })
			same("Sort "+what, of(n.Sort(ctx, list, &redis.Sort{Alpha: true, Order: "DESC"})), func(c cm) outcome {
				return of(c.Sort(ctx, list, rueidiscompat.Sort{Alpha: true, Order: "DESC"}))
			})
			same("Sort numbers "+what, of(n.Sort(ctx, list, &redis.Sort{})), func(c cm) outcome { return of(c.Sort(ctx, list, rueidiscompat.Sort{})) })
			same("SortRO "+what, of(n.SortRO(ctx, list, &redis.Sort{Alpha: true, Count: 70})), func(c cm) outcome {
				return of(c.SortRO(ctx, list, rueidiscompat.Sort{Alpha: true, Count: 70}))
			})
			keysOf := sorted(n.Keys(ctx, "{t}*:"+what))
			if c.compat.Client().Mode() == rueidis.ClientModeCluster { // go-redis asks one node alone
				keysOf = sorted(c.compat.Keys(ctx, "{t}*:"+what))
			}
			same("Keys "+what, keysOf, func(c cm) outcome { return sorted(c.Keys(ctx, "{t}*:"+what)) })
			keys := []string{"{t}string:" + what, "{t}missing", set, "{t}string:empty", "{t}string:" + what}
			same("MGet "+what, of(n.MGet(ctx, keys...)), func(c cm) outcome { return of(c.MGet(ctx, keys...)) })
			same("Exists "+what, of(n.Exists(ctx, keys...)), func(c cm) outcome { return of(c.Exists(ctx, keys...)) })
			same("Touch "+what, of(n.Touch(ctx, keys...)), func(c cm) outcome { return of(c.Touch(ctx, keys...)) })
		}
	})
}

// K3: what rueidiscompat lacks does as go-redis does.
func TestCase_K3_AsGoRedis(t *testing.T) {
	everywhere(t, func(t *testing.T, c clients) {
		ctx := newContext(t)
		fillKeys(t, c.compat)
		a, n := c.ours[0], c.goredis
		for _, args := range [][]any{
			{"GET", "{t}string:one"}, {"GET", "{t}string:many"}, {"GET", "{t}string:empty"}, {"GET", "{t}missing"}, {"GET", "{t}set:one"},
			{"SMEMBERS", "{t}set:many"}, {"HGETALL", "{t}hash:bytes"}, {"ZRANGE", "{t}zset:bytes", 0, -1, "WITHSCORES"}, {"XRANGE", "{t}stream:many", "-", "+"},
			{"LRANGE", "{t}list:many", 0, -1}, {"SET", "{t}raw", 1.5}, {"SET", "{t}raw", float32(0.25)}, {"GET", "{t}raw"}, {"SET", "{t}raw", 1e21}, {"GET", "{t}raw"}, {"EXISTS", "{t}raw", "{t}raw"},
			{"NOSUCHCOMMAND", "{t}raw"}, {"GET"}, {"SET", "{t}raw", nil}, {"SET", "{t}raw", true}, {"SET", "{t}raw", time.Second}, {"GET", "{t}raw"},
			{"EVAL", "return {1, 'two', {3.5, false}}", 1, "{t}raw"}, {"SCAN", 0, "COUNT", 1}, {"BLPOP", "{t}missing", 0.01},
		} {
			if args[0] == "SCAN" && a.Client().Mode() == rueidis.ClientModeCluster {
				continue // any node
			}
			want, got := n.DoRaw(ctx, args...), a.DoRaw(ctx, args...)
			require.Equal(t, want.Err(), got.Err(), "%v", args)
			require.Equal(t, string(want.Val()), string(got.Val()), "%v", args)
			var wb, gb bytes.Buffer
			ww, gw := n.DoRawWriteTo(ctx, &wb, args...), a.DoRawWriteTo(ctx, &gb, args...)
			require.Equal(t, ww.Err(), gw.Err(), "%v", args)
			require.Equal(t, ww.Val(), gw.Val(), "%v", args)
			require.True(t, bytes.Equal(wb.Bytes(), gb.Bytes()), "%v", args)
		}
		require.Equal(t, n.DoRaw(ctx, "SET", "{t}raw", struct{}{}).Err().Error(), a.DoRaw(ctx, "SET", "{t}raw", struct{}{}).Err().Error())
		sink := errors.New("sink")
		want, got := n.DoRawWriteTo(ctx, failing{sink}, "GET", "{t}string:many"), a.DoRawWriteTo(ctx, failing{sink}, "GET", "{t}string:many")
		require.ErrorIs(t, want.Err(), sink)
		require.ErrorIs(t, got.Err(), sink)
		require.Equal(t, want.Val(), got.Val())

		size := int(n.StrLen(ctx, "{t}string:many").Val())
		for _, key := range []string{"{t}string:one", "{t}string:many", "{t}string:empty", "{t}missing", "{t}set:one"} {
			for _, room := range []int{0, 1, 7, size - 1, size, size + 1, size + 2, size + 100} {
				wb, gb := make([]byte, room), make([]byte, room)
				want, got := n.GetToBuffer(ctx, key, wb), a.GetToBuffer(ctx, key, gb)
				what := fmt.Sprint(key, room)
				require.Equal(t, want.Val(), got.Val(), what)
				require.Equal(t, string(want.Bytes()), string(got.Bytes()), what)
				if want.Err() == nil {
					require.NoError(t, got.Err(), what)
					continue
				}
				require.Equal(t, want.Err() == redis.Nil, got.Err() == rueidiscompat.Nil, what)
				if want.Err() != redis.Nil {
					require.Equal(t, want.Err().Error(), got.Err().Error(), what)
				}
			}
		}
		buf := []byte(binary)
		require.Equal(t, n.SetFromBuffer(ctx, "{t}a", buf).Val(), a.SetFromBuffer(ctx, "{t}b", buf).Val())
		require.Equal(t, n.Get(ctx, "{t}a").Val(), n.Get(ctx, "{t}b").Val())
		r, length, err := a.GetReader(ctx, "{t}a")
		require.NoError(t, err)
		all, err := io.ReadAll(r)
		require.NoError(t, errors.Join(err, r.Close()))
		require.EqualValues(t, len(buf), length)
		require.Equal(t, buf, all)

		for name, pair := range map[string][2]iterator{
			"SScan":   {n.SScan(ctx, "{t}set:many", 0, "*7", 50).Iterator(), a.SScanIterator(ctx, "{t}set:many", 0, "*7", 50)},
			"HScan":   {n.HScan(ctx, "{t}hash:many", 0, "", 50).Iterator(), a.HScanIterator(ctx, "{t}hash:many", 0, "", 50)},
			"ZScan":   {n.ZScan(ctx, "{t}zset:many", 0, "", 50).Iterator(), a.ZScanIterator(ctx, "{t}zset:many", 0, "", 50)},
			"missing": {n.SScan(ctx, "{t}missing", 0, "", 50).Iterator(), a.SScanIterator(ctx, "{t}missing", 0, "", 50)},
			"wrong":   {n.SScan(ctx, "{t}list:one", 0, "", 50).Iterator(), a.SScanIterator(ctx, "{t}list:one", 0, "", 50)},
		} {
			want, got := drain(ctx, pair[0]), drain(ctx, pair[1])
			requireSame(t, want, got, name)
		}
	})
}

type iterator interface {
	Next(ctx context.Context) bool
	Val() string
	Err() error
}

func drain(ctx context.Context, it iterator) outcome {
	all := []string{}
	for it.Next(ctx) {
		all = append(all, it.Val())
	}
	slices.Sort(all)
	return outcome{all, it.Err()}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
