package goredis_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidiscompat"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/compat/goredis"
	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

type iterRow struct {
	name string
	make func(ctx context.Context, a *goredis.Adapter) *goredis.ScanIterator
	want func(ctx context.Context, c compat) []string // in any order
}

func flat(m map[string]string) (all []string) {
	for k, v := range m {
		all = append(all, k, v)
	}
	return all
}

func flatScores(zs []rueidiscompat.Z) (all []string) {
	for _, z := range zs {
		all = append(all, z.Member, strconv.FormatFloat(z.Score, 'g', -1, 64))
	}
	return all
}

func iterRows(what string) []iterRow {
	set, hash, list, zset := "{t}set:"+what, "{t}hash:"+what, "{t}list:"+what, "{t}zset:"+what
	members := func(ctx context.Context, c compat) []string { return c.SMembers(ctx, set).Val() }
	fields := func(ctx context.Context, c compat) []string { return flat(c.HGetAll(ctx, hash).Val()) }
	scores := func(ctx context.Context, c compat) []string {
		return flatScores(c.ZRangeWithScores(ctx, zset, 0, -1).Val())
	}
	keys := func(ctx context.Context, c compat) []string { return c.Keys(ctx, "{t}*:"+what).Val() }
	scan := rueidisstream.WithScan(100)
	type a = *goredis.Adapter
	type it = *goredis.ScanIterator
	return []iterRow{
		{"MembersIterator", func(ctx context.Context, a a) it { return a.MembersIterator(ctx, set) }, members},
		{"MembersIterator by pages", func(ctx context.Context, a a) it { return a.MembersIterator(ctx, set, scan) }, members},
		{"SScanIterator", func(ctx context.Context, a a) it { return a.SScanIterator(ctx, set, 0, "", 100) }, members},
		{"FieldsIterator", func(ctx context.Context, a a) it { return a.FieldsIterator(ctx, hash) }, fields},
		{"HScanIterator", func(ctx context.Context, a a) it { return a.HScanIterator(ctx, hash, 0, "*", 100) }, fields},
		{"ElementsIterator", func(ctx context.Context, a a) it { return a.ElementsIterator(ctx, list) }, func(ctx context.Context, c compat) []string {
			return c.LRange(ctx, list, 0, -1).Val()
		}},
		{"ScoresIterator", func(ctx context.Context, a a) it { return a.ScoresIterator(ctx, zset) }, scores},
		{"ZScanIterator", func(ctx context.Context, a a) it { return a.ZScanIterator(ctx, zset, 0, "", 0) }, scores},
		{"KeysIterator", func(ctx context.Context, a a) it { return a.KeysIterator(ctx, "{t}*:"+what) }, keys},
		{"ScanIterator", func(ctx context.Context, a a) it { return a.ScanIterator(ctx, 0, "{t}*:"+what, 3) }, keys},
		{"ScanTypeIterator", func(ctx context.Context, a a) it { return a.ScanTypeIterator(ctx, 0, "{t}*:"+what, 3, "set") }, func(ctx context.Context, c compat) []string {
			return c.Keys(ctx, "{t}set:"+what).Val()
		}},
	}
}

// normal makes the texts of scores comparable, and of pages with an element that was repeated.
func normal(all []string) []string {
	all = append([]string{}, all...)
	for i, s := range all {
		if f, err := strconv.ParseFloat(s, 64); err == nil {
			all[i] = strconv.FormatFloat(f, 'g', -1, 64)
		}
	}
	slices.Sort(all)
	return all
}

func TestIterators(t *testing.T) {
	everywhere(t, func(t *testing.T, client rueidis.Client) {
		ctx := newContext(t)
		fillKeys(t, client)
		a := goredis.NewAdapter(client)
		for _, what := range []string{"missing", "one", "many", "bytes", "empty"} {
			for _, r := range iterRows(what) {
				want := normal(r.want(ctx, rueidiscompat.NewAdapter(client)))
				it := r.make(ctx, a)
				require.Empty(t, it.Val())
				var got []string
				for it.Next(ctx) {
					got = append(got, it.Val())
				}
				require.NoError(t, it.Err(), r.name)
				require.False(t, it.Next(ctx))
				require.Equal(t, want, normal(got), "%s %s", what, r.name)
				require.NoError(t, it.Close())

				got = nil
				for val, err := range r.make(ctx, a).All() {
					require.NoError(t, err)
					got = append(got, val)
				}
				require.Equal(t, want, normal(got), "%s All of %s", what, r.name)

				got = nil
				it = r.make(ctx, a)
				if it.Next(ctx) {
					got = append(got, it.Val())
				}
				for val, err := range it.All() { // what is left
					require.NoError(t, err)
					got = append(got, val)
				}
				require.Equal(t, want, normal(got), "%s the rest of %s", what, r.name)

				for range r.make(ctx, a).All() {
					break
				}
				it = r.make(ctx, a)
				it.Next(ctx)
				require.NoError(t, it.Close())
				require.False(t, it.Next(ctx), "closed")
				require.NoError(t, it.Err())
				require.NoError(t, it.Close())
			}
		}
		hundredMore(t, a)
	})
}

// A key of another type is the server's error, and a context that is done the context's, in either idiom.
func TestIteratorErrors(t *testing.T) {
	bothProtocols(t, func(t *testing.T, client rueidis.Client) {
		ctx := newContext(t)
		a := goredis.NewAdapter(client)
		require.NoError(t, a.Set(ctx, "{t}set:wrong", "a string", 0).Err())
		for _, typ := range []string{"hash", "list", "zset"} {
			require.NoError(t, a.Set(ctx, "{t}"+typ+":wrong", "a string", 0).Err())
		}
		fillKeys(t, client)
		for _, r := range iterRows("wrong") {
			if strings.Contains(r.name, "KeysI") || strings.HasPrefix(r.name, "Scan") {
				continue
			}
			it := r.make(ctx, a)
			require.False(t, it.Next(ctx))
			_, ok := rueidis.IsRedisErr(it.Err())
			require.True(t, ok, "%s: %v", r.name, it.Err())
			require.ErrorContains(t, it.Err(), "WRONGTYPE")
			require.Empty(t, it.Val())
			require.False(t, it.Next(ctx))
			n := 0
			for val, err := range r.make(ctx, a).All() {
				require.Empty(t, val)
				require.ErrorContains(t, err, "WRONGTYPE")
				n++
			}
			require.Equal(t, 1, n)
		}
		for _, r := range iterRows("many") {
			short, cancel := context.WithCancel(ctx)
			it := r.make(short, a)
			cancel()
			for it.Next(short) { // a page that is there is no reason to stop
			}
			if r.name != "ScanIterator" && r.name != "ScanTypeIterator" { // which may be through
				require.ErrorIs(t, it.Err(), context.Canceled, r.name)
			}
			var last error
			for _, err := range r.make(short, a).All() {
				last = err
			}
			require.True(t, last == context.Canceled, "%s: %v", r.name, last)
		}
		hundredMore(t, a)
	})
}

// An error on a later page is seen after the loop; empty pages are no end.
func TestIteratorPages(t *testing.T) {
	page := func(cursor string, members ...string) string {
		return redistest.Array(redistest.Bulk(cursor), redistest.Array(redistest.Bulks(members...)...))
	}
	for _, r := range []struct {
		name  string
		pages []string
		want  []string
		err   string
	}{
		{"an error on page 3", []string{page("7", "a"), page("8", "b"), "-ERR broken\r\n"}, []string{"a", "b"}, "broken"},
		{"empty pages", []string{page("7"), page("8"), page("9", "a"), page("10"), page("0")}, []string{"a"}, ""},
		{"repeated", []string{page("7", "a"), page("0", "a")}, []string{"a", "a"}, ""},
		{"no page", []string{"+OK\r\n"}, nil, "rueidis"},
		{"a large cursor", []string{page("18446744073709551615", "a"), page("0", "b")}, []string{"a", "b"}, ""},
	} {
		t.Run(r.name, func(t *testing.T) {
			redistest.NoLeak(t)
			n := 0
			fake := redistest.NewFake(t, func(c *redistest.FakeConn, _ []string) {
				c.Write(r.pages[n])
				n++
			})
			client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{fake.Addr()}, ForceSingleClient: true, DisableCache: true})
			require.NoError(t, err)
			t.Cleanup(client.Close)
			ctx := newContext(t)
			a := goredis.NewAdapter(client)
			it := a.HScanNoValuesIterator(ctx, "k", 5, "m*", 10)
			var got []string
			for it.Next(ctx) {
				got = append(got, it.Val())
			}
			require.Equal(t, r.want, got)
			if r.err == "" {
				require.NoError(t, it.Err())
			} else {
				require.ErrorContains(t, it.Err(), r.err)
			}
			cmds := fake.Commands()
			require.Equal(t, []string{"HSCAN", "k", "5", "MATCH", "m*", "COUNT", "10", "NOVALUES"}, cmds[0])
			if r.name == "a large cursor" {
				require.Equal(t, "18446744073709551615", cmds[1][2])
			}
		})
	}
}

// On a cluster a cursor is of one node.
func TestScanIteratorCluster(t *testing.T) {
	redistest.NoLeak(t)
	cluster := redistest.NewCluster(t)
	client := cluster.NewClient(t, func(o *rueidis.ClientOption) { o.SendToReplicas = func(rueidis.Completed) bool { return true } })
	a := goredis.NewAdapter(client)
	ctx := newContext(t)
	var want []string
	for i := range 300 {
		want = append(want, "key:"+strconv.Itoa(i))
		require.NoError(t, a.Set(ctx, want[i], i, 0).Err())
	}
	slices.Sort(want)
	for _, seq := range []iter.Seq2[string, error]{a.ScanIterator(ctx, 0, "", 7).All(), a.ScanTypeIterator(ctx, 0, "key:*", 0, "string").All(), a.KeysIterator(ctx, "key:*").All()} {
		var got []string
		for key, err := range seq {
			require.NoError(t, err)
			got = append(got, key)
		}
		slices.Sort(got)
		require.Equal(t, want, slices.Compact(got))
	}
	it := a.ScanIterator(ctx, 17, "", 0)
	require.False(t, it.Next(ctx))
	require.ErrorContains(t, it.Err(), "begins at 0")
	gone, cancel := context.WithCancel(ctx)
	cancel()
	it = a.ScanIterator(gone, 0, "", 0)
	require.False(t, it.Next(ctx))
	require.True(t, errors.Is(it.Err(), context.Canceled))

	require.NoError(t, a.ForEachMaster(ctx, func(ctx context.Context, node compat) error {
		_, ok := node.(*goredis.Adapter)
		require.True(t, ok)
		return node.Ping(ctx).Err()
	}))
	require.ElementsMatch(t, want, a.Keys(ctx, "key:*").Val())
}
