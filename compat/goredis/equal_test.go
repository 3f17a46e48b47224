package goredis_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidiscompat"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/compat/goredis"
)

type (
	compat  = rueidiscompat.Cmdable
	outcome struct {
		val any
		err error
	}
	row struct {
		name string
		call func(ctx context.Context, c compat) outcome
	}
)

const many = 10_000

var binary = string([]byte{0, '\r', '\n', 0xff, '$', '-', '1', '\r', '\n'})

// fillKeys sets keys of each type, all in the slot of {t}: missing ones, ones with one element, many, bytes, and empty strings.
func fillKeys(t testing.TB, client rueidis.Client) {
	t.Helper()
	ctx := context.Background()
	do := func(words ...string) {
		require.NoError(t, client.Do(ctx, client.B().Arbitrary(words[0]).Keys(words[1]).Args(words[2:]...).Build()).Error())
	}
	del := func(key string) { do("DEL", key) }
	for _, typ := range []string{"set", "hash", "list", "zset", "stream"} {
		for _, what := range []string{"one", "many", "bytes", "empty"} {
			del("{t}" + typ + ":" + what)
		}
	}
	for _, s := range []struct{ what, val string }{{"one", "element"}, {"bytes", binary}, {"empty", ""}} {
		do("SADD", "{t}set:"+s.what, s.val)
		do("HSET", "{t}hash:"+s.what, s.val, s.val)
		do("RPUSH", "{t}list:"+s.what, s.val)
		do("ZADD", "{t}zset:"+s.what, "1.5", s.val)
		do("XADD", "{t}stream:"+s.what, "1-1", s.val, s.val)
	}
	do("RPUSH", "{t}list:bytes", "", binary+binary, strings.Repeat("x", 40_000), "", "y")
	do("SADD", "{t}set:bytes", "", strings.Repeat("x", 40_000))
	do("HSET", "{t}hash:bytes", "", strings.Repeat("x", 40_000), "k", "")
	do("ZADD", "{t}zset:bytes", "inf", "", "-inf", "minus", "1e-320", "tiny", "3", "three", "1.7976931348623157e308", "huge")
	do("XADD", "{t}stream:bytes", "1-2", "", "", "same", "first", "same", "second")
	var set, hash, list, zset []string
	for i := range many {
		e := "element " + strconv.Itoa(i)
		set, list = append(set, e), append(list, e)
		hash = append(hash, e, "value "+strconv.Itoa(i))
		zset = append(zset, strconv.Itoa(i/3), e)
	}
	for i := 0; i < many; i += 1000 {
		do(append([]string{"SADD", "{t}set:many"}, set[i:i+1000]...)...)
		do(append([]string{"RPUSH", "{t}list:many"}, list[i:i+1000]...)...)
		do(append([]string{"HSET", "{t}hash:many"}, hash[2*i:2*i+2000]...)...)
		do(append([]string{"ZADD", "{t}zset:many"}, zset[2*i:2*i+2000]...)...)
	}
	var cmds rueidis.Commands
	for i := range many {
		cmds = append(cmds, client.B().Xadd().Key("{t}stream:many").Id(fmt.Sprint(i+1, "-1")).FieldValue().
			FieldValue("n", strconv.Itoa(i)).FieldValue("text", "some text").Build())
	}
	for _, r := range client.DoMulti(ctx, cmds...) {
		require.NoError(t, r.Error())
	}
}

func result[T any](c interface {
	Result() (T, error)
}) outcome {
	v, err := c.Result()
	return outcome{v, err}
}

// unordered is for sets, whose order is the server's.
func unordered(c *rueidiscompat.StringSliceCmd) outcome {
	v, err := c.Result()
	if v != nil {
		v = slices.Clone(v)
		slices.Sort(v)
	}
	return outcome{v, err}
}

// rows are all commands that the adapter has an own method for, with keys of their type and of another.
func rows() (rows []row) {
	for _, what := range []string{"missing", "one", "many", "bytes", "empty", "wrong"} {
		key := func(typ string) string {
			switch {
			case what != "wrong":
				return "{t}" + typ + ":" + what
			case typ == "list":
				return "{t}set:one"
			default:
				return "{t}list:one"
			}
		}
		add := func(name string, call func(ctx context.Context, c compat) outcome) {
			rows = append(rows, row{what + " " + name, call})
		}
		set, hash, list, zset, stream := key("set"), key("hash"), key("list"), key("zset"), key("stream")
		add("SMembers", func(ctx context.Context, c compat) outcome { return unordered(c.SMembers(ctx, set)) })
		add("SMembersMap", func(ctx context.Context, c compat) outcome { return result(c.SMembersMap(ctx, set)) })
		add("SInter", func(ctx context.Context, c compat) outcome { return unordered(c.SInter(ctx, set, "{t}set:many")) })
		add("SUnion", func(ctx context.Context, c compat) outcome { return unordered(c.SUnion(ctx, set, "{t}set:one")) })
		add("SDiff", func(ctx context.Context, c compat) outcome { return unordered(c.SDiff(ctx, set, "{t}set:one")) })
		add("HGetAll", func(ctx context.Context, c compat) outcome { return result(c.HGetAll(ctx, hash)) })
		add("HKeys", func(ctx context.Context, c compat) outcome { return unordered(c.HKeys(ctx, hash)) })
		add("HVals", func(ctx context.Context, c compat) outcome { return unordered(c.HVals(ctx, hash)) })
		other := "{t}zset:many"
		if what == "many" {
			other = "{t}zset:one"
		}
		for _, r := range [][2]int64{{0, -1}, {0, 0}, {1, 3}, {0, 200}, {-5, -1}, {-500, -2}, {5, 1}, {0, 63}, {0, 64}, {20_000, -1}, {math.MinInt64, 2}, {9_990, math.MaxInt64}} {
			name := fmt.Sprint(" ", r[0], " ", r[1])
			add("LRange"+name, func(ctx context.Context, c compat) outcome { return result(c.LRange(ctx, list, r[0], r[1])) })
			add("ZRange"+name, func(ctx context.Context, c compat) outcome { return result(c.ZRange(ctx, zset, r[0], r[1])) })
			add("ZRangeWithScores"+name, func(ctx context.Context, c compat) outcome { return result(c.ZRangeWithScores(ctx, zset, r[0], r[1])) })
			add("ZRevRange"+name, func(ctx context.Context, c compat) outcome { return result(c.ZRevRange(ctx, zset, r[0], r[1])) })
			add("ZRevRangeWithScores"+name, func(ctx context.Context, c compat) outcome {
				return result(c.ZRevRangeWithScores(ctx, zset, r[0], r[1]))
			})
		}
		for _, by := range []rueidiscompat.ZRangeBy{
			{Min: "-inf", Max: "+inf"}, {Min: "(1", Max: "3"}, {Min: "3", Max: "1"}, {Min: "-inf", Max: "+inf", Offset: 2, Count: 3},
			{Min: "-inf", Max: "+inf", Count: 500}, {Min: "3300", Max: "+inf", Offset: 1, Count: -1}, {Min: "-inf", Max: "+inf", Offset: 1},
			{Min: "no number", Max: "1"},
		} {
			name := fmt.Sprintf(" %+v", by)
			add("ZRangeByScore"+name, func(ctx context.Context, c compat) outcome { return result(c.ZRangeByScore(ctx, zset, by)) })
			add("ZRangeByScoreWithScores"+name, func(ctx context.Context, c compat) outcome {
				return result(c.ZRangeByScoreWithScores(ctx, zset, by))
			})
			add("ZRevRangeByScore"+name, func(ctx context.Context, c compat) outcome { return result(c.ZRevRangeByScore(ctx, zset, by)) })
			add("ZRevRangeByScoreWithScores"+name, func(ctx context.Context, c compat) outcome {
				return result(c.ZRevRangeByScoreWithScores(ctx, zset, by))
			})
			args := rueidiscompat.ZRangeArgs{Key: zset, Start: by.Min, Stop: by.Max, ByScore: true, Offset: by.Offset, Count: by.Count}
			add("ZRangeArgs"+name, func(ctx context.Context, c compat) outcome { return result(c.ZRangeArgs(ctx, args)) })
			add("ZRangeArgsWithScores"+name, func(ctx context.Context, c compat) outcome {
				return result(c.ZRangeArgsWithScores(ctx, args))
			})
		}
		add("ZRangeArgs rev", func(ctx context.Context, c compat) outcome {
			return result(c.ZRangeArgs(ctx, rueidiscompat.ZRangeArgs{Key: zset, Start: 0, Stop: -1, Rev: true}))
		})
		for _, by := range []rueidiscompat.ZRangeBy{{Min: "-", Max: "+"}, {Min: "[element 1", Max: "(element 2"}, {Min: "-", Max: "+", Count: 4}, {Min: "no lex", Max: "+"}} {
			name := fmt.Sprintf(" %+v", by)
			add("ZRangeByLex"+name, func(ctx context.Context, c compat) outcome { return result(c.ZRangeByLex(ctx, zset, by)) })
			add("ZRevRangeByLex"+name, func(ctx context.Context, c compat) outcome { return result(c.ZRevRangeByLex(ctx, zset, by)) })
		}
		store := rueidiscompat.ZStore{Keys: []string{zset, other}, Weights: []int64{2, 1}, Aggregate: "MAX"}
		add("ZInter", func(ctx context.Context, c compat) outcome { return result(c.ZInter(ctx, store)) })
		add("ZInterWithScores", func(ctx context.Context, c compat) outcome { return result(c.ZInterWithScores(ctx, store)) })
		add("ZUnion", func(ctx context.Context, c compat) outcome { return result(c.ZUnion(ctx, store)) })
		add("ZUnionWithScores", func(ctx context.Context, c compat) outcome { return result(c.ZUnionWithScores(ctx, store)) })
		add("ZDiff", func(ctx context.Context, c compat) outcome { return result(c.ZDiff(ctx, zset, "{t}zset:one")) })
		add("ZDiffWithScores", func(ctx context.Context, c compat) outcome {
			return result(c.ZDiffWithScores(ctx, zset, "{t}zset:one"))
		})
		add("XRange", func(ctx context.Context, c compat) outcome { return result(c.XRange(ctx, stream, "-", "+")) })
		add("XRange none", func(ctx context.Context, c compat) outcome { return result(c.XRange(ctx, stream, "99999", "+")) })
		add("XRange bad id", func(ctx context.Context, c compat) outcome { return result(c.XRange(ctx, stream, "x", "+")) })
		add("XRevRange", func(ctx context.Context, c compat) outcome { return result(c.XRevRange(ctx, stream, "+", "-")) })
		for _, n := range []int64{1, 20, 200, -1} {
			add(fmt.Sprint("XRangeN ", n), func(ctx context.Context, c compat) outcome { return result(c.XRangeN(ctx, stream, "-", "+", n)) })
			add(fmt.Sprint("XRevRangeN ", n), func(ctx context.Context, c compat) outcome { return result(c.XRevRangeN(ctx, stream, "+", "-", n)) })
		}
		for _, s := range []rueidiscompat.Sort{{Alpha: true}, {Alpha: true, Order: "desc"}, {Alpha: true, Offset: 1, Count: 2}, {Alpha: true, Count: 900}, {}} {
			name := fmt.Sprintf(" %+v", s)
			add("Sort"+name, func(ctx context.Context, c compat) outcome { return result(c.Sort(ctx, list, s)) })
			add("SortRO"+name, func(ctx context.Context, c compat) outcome { return result(c.SortRO(ctx, list, s)) })
			add("SortInterfaces"+name, func(ctx context.Context, c compat) outcome { return result(c.SortInterfaces(ctx, set, s)) })
		}
		add("Get", func(ctx context.Context, c compat) outcome { return result(c.Get(ctx, set)) })
		add("Exists", func(ctx context.Context, c compat) outcome { return result(c.Exists(ctx, set, hash, set)) })
		add("Touch", func(ctx context.Context, c compat) outcome { return result(c.Touch(ctx, set, hash)) })
		add("Keys", func(ctx context.Context, c compat) outcome { return unordered(c.Keys(ctx, "{t}*:"+what)) })
	}
	add := func(name string, call func(ctx context.Context, c compat) outcome) {
		rows = append(rows, row{name, call})
	}
	add("no keys SInter", func(ctx context.Context, c compat) outcome { return result(c.SInter(ctx)) })
	add("no keys ZDiff", func(ctx context.Context, c compat) outcome { return result(c.ZDiff(ctx)) })
	add("no keys MGet", func(ctx context.Context, c compat) outcome { return result(c.MGet(ctx)) })
	add("no keys Del", func(ctx context.Context, c compat) outcome { return result(c.Del(ctx)) })
	add("no keys ZInter", func(ctx context.Context, c compat) outcome { return result(c.ZInter(ctx, rueidiscompat.ZStore{})) })
	return rows
}

// TestEqual compares the adapter with rueidiscompat: the same command, the same value, nil or empty, and the same error.
func TestEqual(t *testing.T) {
	everywhere(t, func(t *testing.T, client rueidis.Client) {
		ctx := newContext(t)
		fillKeys(t, client)
		want := rueidiscompat.NewAdapter(client)
		adapters := []struct {
			name  string
			a     *goredis.Adapter
			tries int
		}{
			{"hints ", goredis.NewAdapter(client), 2}, // the second time something is known of the key
			{"all by streams ", goredis.NewAdapter(client).WithStreamFrom(0), 1},
			{"none by streams ", goredis.NewAdapter(client).WithStreamFrom(-1), 1},
		}
		for _, r := range rows() {
			w := r.call(ctx, want)
			for _, a := range adapters {
				for try := range a.tries {
					requireSame(t, w, r.call(ctx, a.a), r.name, a.name, try)
				}
			}
		}
	})
}

// requireSame wants the same value, nil or empty, and an error of the same type and text; rueidis.Nil itself.
func requireSame(t *testing.T, want, got outcome, what ...any) {
	t.Helper()
	require.IsType(t, want.err, got.err, fmt.Sprint(what...))
	if want.err != nil {
		require.Equal(t, want.err.Error(), got.err.Error(), fmt.Sprint(what...))
		require.Equal(t, want.err == rueidis.Nil, got.err == rueidis.Nil, fmt.Sprint(what...))
	}
	require.Equal(t, want.val, got.val, fmt.Sprint(what...))
}

var (
	zrangeAll = rueidiscompat.ZRangeBy{Min: "-inf", Max: "+inf"}
	sortAlpha = rueidiscompat.Sort{Alpha: true}
)
