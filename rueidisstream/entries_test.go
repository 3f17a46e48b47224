package rueidisstream_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

// At the edges of pages no entry is lost or doubled, be the ids as large as they can.
func TestEntriesPageEdges(t *testing.T) {
	const most = "18446744073709551615"
	ids := []string{"0-1", "0-2", "0-" + most, "1-0", "1-1", "5-" + most, "6-0", most + "-0", most + "-18446744073709551614", most + "-" + most}
	bothProtocols(t, func(t *testing.T, c rueidis.Client) {
		ctx := caseContext(t)
		for _, id := range ids {
			require.NoError(t, c.Do(ctx, c.B().Xadd().Key("stream").Id(id).FieldValue().FieldValue("f", "v").Build()).Error())
		}
		for count := 1; count <= len(ids)+1; count++ {
			var got []string
			for v, err := range rueidisstream.Entries(ctx, c, "stream", rueidisstream.WithScan(count)) {
				require.NoError(t, err)
				for id := range v.Values() {
					got = append(got, id.String())
					break
				}
			}
			require.Equal(t, ids, got, "pages of %d", count)
		}
	})
}

// Entries that are added meanwhile do not keep the loop going.
func TestEntriesAdded(t *testing.T) {
	bothProtocols(t, func(t *testing.T, c rueidis.Client) {
		ctx := caseContext(t)
		add := func() {
			require.NoError(t, c.Do(ctx, c.B().Xadd().Key("stream").Id("*").FieldValue().FieldValue("f", "v").Build()).Error())
		}
		for range 20 {
			add()
		}
		n := 0
		for _, err := range rueidisstream.Entries(ctx, c, "stream", rueidisstream.WithScan(1)) {
			require.NoError(t, err)
			n++
			add()
			add()
		}
		require.Equal(t, 20, n)
	})
}

// A server whose pages are not what was asked for is an error, not a loop.
func TestEntriesOddPages(t *testing.T) {
	entry := func(id string) string {
		return redistest.Array(redistest.Bulk(id), redistest.Array(redistest.Bulks("f", "v")...))
	}
	for name, pages := range map[string][2]string{ // XREVRANGE, XRANGE
		"the same page again":    {redistest.Array(entry("9-0")), redistest.Array(entry("1-0"))},
		"no id":                  {redistest.Array(entry("9-0")), redistest.Array(redistest.Array())},
		"an id of another form":  {redistest.Array(entry("9-0")), redistest.Array(entry("x-0"))},
		"an id without sequence": {redistest.Array(entry("9")), redistest.Array()},
		"an entry of no array":   {redistest.Array(redistest.Bulk("9-0")), redistest.Array()},
		"no array in a page":     {redistest.Array(entry("9-0")), redistest.Array(redistest.Bulk("x"))},
		"a null in an entry":     {redistest.Array("_\r\n"), redistest.Array()},
	} {
		t.Run(name, func(t *testing.T) {
			f := redistest.NewFake(t, func(c *redistest.FakeConn, cmd []string) {
				c.Write(pages[map[string]int{"XREVRANGE": 0, "XRANGE": 1}[cmd[0]]])
			})
			c := caseDial(t, f.Addr(), casePool(1), func(o *rueidis.ClientOption) { o.DisableCache = true })
			got, err := all(t, ofValues(rueidisstream.Entries(caseContext(t), c, "key", rueidisstream.WithScan(1))))
			require.Error(t, err)
			require.LessOrEqual(t, len(got), 1)
		})
	}
	t.Run("larger than asked for", func(t *testing.T) {
		f := redistest.NewFake(t, func(c *redistest.FakeConn, cmd []string) {
			switch {
			case cmd[0] == "XREVRANGE":
				c.Write(redistest.Array(entry("9-0")))
			case cmd[2] == "0-0":
				c.Write(redistest.Array(entry("1-0"), entry("2-0"), entry("3-0")))
			default:
				c.Write(redistest.Array())
			}
		})
		c := caseDial(t, f.Addr(), casePool(1), func(o *rueidis.ClientOption) { o.DisableCache = true })
		got, err := all(t, ofValues(rueidisstream.Entries(caseContext(t), c, "key", rueidisstream.WithScan(1))))
		require.NoError(t, err)
		require.Len(t, got, 3)
		require.Equal(t, []string{"XRANGE", "key", "3-1", "9-0", "COUNT", "1"}, f.Commands()[len(f.Commands())-1])
	})
}

// E5: LRANGE by pages while elements are pushed at the head: they may come twice, the loop ends, and, unless the list more
// than doubles, those that were there come at least once.
func TestCase_E5_PagedList(t *testing.T) {
	const size, count = 1000, 50
	bothProtocols(t, func(t *testing.T, c rueidis.Client) {
		for _, row := range []struct {
			name  string
			push  int // elements at the head after each page
			whole bool
		}{
			{"unchanged", 0, true},
			{"slowly", 10, true},
			{"as fast as it is read", count, false},
			{"faster", 3 * count, false},
		} {
			t.Run(row.name, func(t *testing.T) {
				ctx := caseContext(t)
				key := row.name
				require.Equal(t, "Elements", collections[3].name)
				collections[3].fill(t, c, key, size)
				n, seen := 0, map[string]int{}
				for v, err := range rueidisstream.Elements(ctx, c, key, rueidisstream.WithScan(count)) {
					require.NoError(t, err)
					seen[v.String()]++
					if n++; n%count == 0 {
						for range row.push {
							require.NoError(t, c.Do(ctx, c.B().Lpush().Key(key).Element("new").Build()).Error())
						}
					}
				}
				require.LessOrEqual(t, n, 2*size)
				if row.whole {
					delete(seen, "new")
					require.Len(t, seen, size)
				}
				if row.push == 0 {
					require.Equal(t, size, n)
				} else {
					require.Greater(t, n, size, "some came twice")
				}
			})
		}
	})
	t.Run("pages", func(t *testing.T) {
		var failing string
		f := redistest.NewFake(t, func(c *redistest.FakeConn, cmd []string) {
			switch {
			case cmd[0] == failing:
				c.Write("-ERR no\r\n")
			case cmd[0] == "LLEN" && failing == "":
				c.Write(":4\r\n")
			case cmd[0] == "LLEN":
				c.Write(redistest.Bulk(failing))
			case cmd[2] == "0":
				c.Write(redistest.Array(redistest.Bulks("a", "b", "c")...)) // larger than asked for
			default:
				c.Write(redistest.Array(redistest.Bulks("d")...))
			}
		})
		c := caseDial(t, f.Addr(), casePool(1), func(o *rueidis.ClientOption) { o.DisableCache = true })
		read := func() ([]string, error) {
			return all(t, ofValues(rueidisstream.Elements(context.Background(), c, "key", rueidisstream.WithScan(2))))
		}
		got, err := read()
		require.NoError(t, err)
		require.Equal(t, []string{"a", "b", "c", "d"}, got)
		require.Equal(t, "[[LLEN key] [LRANGE key 0 1] [LRANGE key 3 4]]", fmt.Sprint(f.Commands()))
		for _, failing = range []string{"LLEN", "a length"} {
			got, err = read()
			require.Empty(t, got)
			require.Error(t, err)
		}
	})
}
