package goredis_test

import (
	"context"
	"runtime"
	"strconv"
	"testing"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/compat/goredis"
	"github.com/rueidisx/rueidisx/internal/redistest"
)

// A reply of 10,000 elements takes few allocations for its bytes and its slice. (A map has some of its own; values of type any have
// one each, which Go's interfaces need.)
func TestAllocations(t *testing.T) {
	client := redistest.NewClient(t, redistest.Shared(t))
	fillKeys(t, client)
	ctx := context.Background()
	a := goredis.NewAdapter(client)
	for _, r := range []struct {
		name string
		most float64
		call func() error
	}{
		{"SMembers", 16, func() error { return a.SMembers(ctx, "{t}set:many").Err() }},
		{"SUnion", 16, func() error { return a.SUnion(ctx, "{t}set:many", "{t}set:one").Err() }},
		{"HKeys", 16, func() error { return a.HKeys(ctx, "{t}hash:many").Err() }},
		{"HVals", 16, func() error { return a.HVals(ctx, "{t}hash:many").Err() }},
		{"LRange", 16, func() error { return a.LRange(ctx, "{t}list:many", 0, -1).Err() }},
		{"ZRange", 16, func() error { return a.ZRange(ctx, "{t}zset:many", 0, -1).Err() }},
		{"ZRangeWithScores", 16, func() error { return a.ZRangeWithScores(ctx, "{t}zset:many", 0, -1).Err() }},
		{"ZRangeByScoreWithScores", 16, func() error {
			return a.ZRangeByScoreWithScores(ctx, "{t}zset:many", zrangeAll).Err()
		}},
		{"HGetAll", 100, func() error { return a.HGetAll(ctx, "{t}hash:many").Err() }},
		{"SMembersMap", 100, func() error { return a.SMembersMap(ctx, "{t}set:many").Err() }},
		{"SortInterfaces", many + 16, func() error { return a.SortInterfaces(ctx, "{t}set:many", sortAlpha).Err() }},
	} {
		var err error
		runs := 20
		if underRace {
			runs = 1
		}
		allocs := testing.AllocsPerRun(runs, func() {
			if e := r.call(); e != nil {
				err = e
			}
		})
		require.NoError(t, err)
		if underRace {
			continue
		}
		require.LessOrEqual(t, allocs, r.most, r.name)
	}
}

// The first call for a key is streamed, too, and a small one is read as by rueidiscompat: neither is slower for what is learned.
func TestFirstCallAllocations(t *testing.T) {
	client := redistest.NewClient(t, redistest.Shared(t))
	fillKeys(t, client)
	ctx := context.Background()
	warm := goredis.NewAdapter(client)
	for range 3 {
		require.NoError(t, warm.SMembers(ctx, "{t}set:many").Err())
	}
	a := goredis.NewAdapter(client)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	require.NoError(t, a.SMembers(ctx, "{t}set:many").Err())
	runtime.ReadMemStats(&after)
	if underRace {
		return // allocations are others
	}
	require.Less(t, after.Mallocs-before.Mallocs, uint64(200), "of which most are the server's and this test's")
}

// The header of a reply is believed only as far as memory for some elements goes.
func TestHostileLengths(t *testing.T) {
	for _, r := range []struct{ name, reply string }{
		{"array", "*2147483647\r\n$1\r\na\r\n"},
		{"set", "~2147483647\r\n$1\r\na\r\n"},
		{"more than there can be", "*4611686018427387904\r\n$1\r\na\r\n"},
		{"string", "*1\r\n$400000000\r\na\r\n"},
	} {
		t.Run(r.name, func(t *testing.T) {
			redistest.NoLeak(t)
			fake := redistest.NewFake(t, func(c *redistest.FakeConn, cmd []string) {
				if cmd[0] == "ECHO" {
					c.Write(redistest.Bulk(cmd[1]))
					return
				}
				c.Write(r.reply)
				c.Cut()
			})
			client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{fake.Addr()}, ForceSingleClient: true, DisableCache: true})
			require.NoError(t, err)
			t.Cleanup(client.Close)
			a := goredis.NewAdapter(client)
			ctx := newContext(t)
			hundredMore(t, a)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			require.Error(t, a.SMembers(ctx, "k").Err())
			require.Error(t, a.DoRaw(ctx, "SMEMBERS", "k").Err())
			runtime.ReadMemStats(&after)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(8<<20))
			hundredMore(t, a)
		})
	}
}

// Every string that comes out of a stream stays what it is, whatever is read later.
func TestViewsStay(t *testing.T) {
	client := redistest.NewClient(t, redistest.Shared(t))
	fillKeys(t, client)
	ctx := newContext(t)
	a := goredis.NewAdapter(client)
	first := a.LRange(ctx, "{t}list:many", 0, -1).Val()
	for range 5 {
		require.NoError(t, a.SMembers(ctx, "{t}set:many").Err())
		require.NoError(t, a.HGetAll(ctx, "{t}hash:many").Err())
	}
	require.Len(t, first, many)
	for i, e := range first {
		require.Equal(t, "element "+strconv.Itoa(i), e)
	}
}
