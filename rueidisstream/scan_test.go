package rueidisstream_test

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

// scanPage is the reply of a scan.
func scanPage(cursor string, elements ...string) string {
	return redistest.Array(redistest.Bulk(cursor), redistest.Array(redistest.Bulks(elements...)...))
}

// scanFake is a server that answers cursors with pages, and INFO with a process that may change.
func scanFake(t testing.TB, pages map[string]string, process func() string) (rueidis.Client, *redistest.Fake) {
	f := redistest.NewFake(t, func(c *redistest.FakeConn, cmd []string) {
		switch {
		case cmd[0] == "INFO" && len(cmd) == 2 && process != nil:
			c.Write(process())
		case cmd[0] == "INFO":
			c.BuiltIn(cmd)
		case cmd[0] == "SCAN":
			c.Write(pages[cmd[1]])
		default:
			c.Write(pages[cmd[2]])
		}
	}, redistest.Intercept("INFO"))
	return caseDial(t, f.Addr(), casePool(1), func(o *rueidis.ClientOption) { o.DisableCache = true }), f
}

func runID(id string) string { return redistest.Bulk("# Server\r\nrun_id:" + id + "\r\nport:1\r\n") }

// H1: a rehash in mid-scan makes the server repeat elements. Each comes once, and none that stayed is missing.
func TestCase_H1_RehashRepeats(t *testing.T) {
	const fields, count = 20000, 100
	bothProtocols(t, func(t *testing.T, c rueidis.Client) {
		ctx := caseContext(t)
		// keepOnly deletes all fields but those.
		keepOnly := func(key string, keep map[string]bool) {
			var gone []string
			for i := range fields {
				if f := fmt.Sprintf("%015d", i); !keep[f] {
					gone = append(gone, f)
				}
			}
			for part := range slices.Chunk(gone, 1000) {
				require.NoError(t, c.Do(ctx, c.B().Hdel().Key(key).Field(part...).Build()).Error())
			}
		}
		// repeats tells how many fields HSCAN gives twice if all but those of a page are deleted behind that page.
		// It tells, too, how many came before that page, and what was on it.
		repeats := func(pages int) (n, before int, kept map[string]bool) {
			require.NoError(t, c.Do(ctx, c.B().Del().Key("raw").Build()).Error())
			collections[1].fill(t, c, "raw", fields)
			seen, cursor := map[string]bool{}, uint64(0)
			for page := 1; page == 1 || cursor != 0; page++ {
				e, err := c.Do(ctx, c.B().Hscan().Key("raw").Cursor(cursor).Count(count).Build()).AsScanEntry()
				require.NoError(t, err)
				last := map[string]bool{}
				for i := 0; i < len(e.Elements); i += 2 {
					if seen[e.Elements[i]] {
						n++
					}
					seen[e.Elements[i]], last[e.Elements[i]] = true, true
				}
				if page == pages {
					kept = last
					keepOnly("raw", last)
				}
				if page < pages {
					before += len(last)
				}
				cursor = e.Cursor
			}
			return n, before, kept
		}
		pages := 20
		n, before, kept := repeats(pages)
		for n == 0 && pages < 120 { // that depends on the seed of the server's hash tables
			pages++
			n, before, kept = repeats(pages)
		}
		t.Logf("HSCAN repeats %d fields after page %d", n, pages)
		require.Less(t, pages, 120, "the recipe does not do what it should")
		collections[1].fill(t, c, "hash", fields)
		var order []string
		seen := map[string]int{}
		for p, err := range rueidisstream.Fields(ctx, c, "hash", rueidisstream.WithScan(count)) {
			require.NoError(t, err)
			f := p.Key.String()
			seen[f]++
			if order = append(order, f); len(order) == before {
				// The page in question is read ahead now; it is the same, since both hashes are in one process.
				time.Sleep(50 * time.Millisecond)
				keepOnly("hash", kept)
			}
		}
		for f, n := range seen {
			require.Equal(t, 1, n, f)
		}
		left, err := c.Do(ctx, c.B().Hkeys().Key("hash").Build()).AsStrSlice()
		require.NoError(t, err)
		require.Len(t, left, len(kept))
		for _, f := range left {
			require.Equal(t, 1, seen[f])
		}
	})
	t.Run("each page twice", func(t *testing.T) {
		c, _ := scanFake(t, map[string]string{
			"0": scanPage("7", "a", "1", "", "2", "a", "3"), "7": scanPage("8", "a", "4", "b", "5"), "8": scanPage("0", "", "6", "b", "7"),
		}, nil)
		want := []string{"a=1", "=2", "b=5"}
		got, err := all(t, collections[1].read(caseContext(t), c, "key", rueidisstream.WithScan(2)))
		require.NoError(t, err)
		require.Equal(t, want, got)
		got, err = all(t, collections[0].read(caseContext(t), c, "key", rueidisstream.WithScan(2)))
		require.NoError(t, err)
		require.Equal(t, []string{"a", "1", "", "2", "3", "4", "b", "5", "6", "7"}, got)
	})
}

// H2: COUNT is a hint. A page of all is taken, and an empty one is not the end.
func TestCase_H2_PageSizes(t *testing.T) {
	bothProtocols(t, func(t *testing.T, c rueidis.Client) {
		ctx := caseContext(t)
		collections[1].fill(t, c, "hash", small) // a listpack with each server's defaults
		e, err := c.Do(ctx, c.B().Hscan().Key("hash").Cursor(0).Count(10).Build()).AsScanEntry()
		require.NoError(t, err)
		require.Zero(t, e.Cursor, "all in one page of 10")
		got, err := all(t, collections[1].read(ctx, c, "hash", rueidisstream.WithScan(10)))
		require.NoError(t, err)
		require.Len(t, got, small)
	})
	t.Run("empty pages, and cursors of 64 bits", func(t *testing.T) {
		c, f := scanFake(t, map[string]string{
			"0": scanPage("18446744073709551615"), "18446744073709551615": scanPage("9223372036854775808", "a"),
			"9223372036854775808": scanPage("1"), "1": scanPage("0", strings.Split(strings.Repeat("b,", 1000)+"c", ",")...),
		}, nil)
		for name, values := range map[string][]string{"SSCAN": {"a", "b", "c"}, "SCAN": {"a", "b", "c"}} {
			values2 := rueidisstream.Members(caseContext(t), c, "key", rueidisstream.WithScan(1))
			if name == "SCAN" {
				values2 = rueidisstream.Keys(caseContext(t), c, "*", rueidisstream.WithScan(1))
			}
			got, err := all(t, ofValues(values2))
			require.NoError(t, err)
			require.Equal(t, values, got)
		}
		require.Len(t, f.Commands(), 2*2*4, "a question and INFO for each page")
	})
}

// H3: all pages come from one server, whatever the client does with its commands that read.
func TestCase_H3_CursorIsPinned(t *testing.T) {
	const fields, runs = 1000, 50
	counts := func(t *testing.T, c rueidis.Client) {
		for range runs {
			got, err := all(t, collections[1].read(caseContext(t), c, "hash", rueidisstream.WithScan(10)))
			require.NoError(t, err)
			require.Len(t, got, fields)
		}
	}
	always := func(rueidis.Completed) bool { return true }
	t.Run("cluster", func(t *testing.T) {
		redistest.NoLeak(t)
		cluster := redistest.NewCluster(t)
		collections[1].fill(t, cluster.NewClient(t), "hash", fields)
		c := cluster.NewClient(t, func(o *rueidis.ClientOption) {
			o.SendToReplicas = always
			o.InitAddress = cluster.Addrs[:3]
		})
		counts(t, c)
		slot := cluster.Slot(t, "hash")
		for _, s := range cluster.ReplicasOf(t, slot) {
			require.NotContains(t, s.Do(t, "INFO", "commandstats"), "cmdstat_hscan", "a replica was asked")
		}
		for _, k := range collections {
			for _, m := range modes {
				if m.scan {
					key := k.name + m.name
					k.fill(t, cluster.NewClient(t), key, 200)
					got, err := all(t, k.read(caseContext(t), c, key, m.opts...))
					require.NoError(t, err)
					require.Len(t, got, 200, key)
				}
			}
		}
		t.Run("failover", func(t *testing.T) {
			n := 0
			var last error
			for _, err := range rueidisstream.Fields(caseContext(t), c, "hash", rueidisstream.WithScan(10)) {
				if last = err; err != nil {
					break
				}
				if n++; n == 100 {
					cluster.KillPrimary(t, slot)
				}
			}
			if last == nil {
				require.Equal(t, fields, n)
			}
			require.False(t, last == io.EOF)
			t.Logf("after %d of %d: %v", n, fields, last)
		})
	})
	t.Run("replicas of a standalone server", func(t *testing.T) {
		redistest.NoLeak(t)
		primary, replica := redistest.Replica(t)
		collections[1].fill(t, redistest.NewClient(t, primary), "hash", fields)
		c := redistest.NewClient(t, primary, func(o *rueidis.ClientOption) {
			o.ForceSingleClient = false
			o.SendToReplicas = always
			o.Standalone.ReplicaAddress = []string{replica.Addr}
		})
		counts(t, c)
		require.NotContains(t, replica.Do(t, "INFO", "commandstats"), "cmdstat_hscan")
		got, err := all(t, ofValues(rueidisstream.Keys(caseContext(t), c, "*")))
		require.NoError(t, err)
		require.Equal(t, []string{"hash"}, got)
		primary.Stop(t)
		_, err = all(t, collections[1].read(caseContext(t), c, "hash", rueidisstream.WithScan(10)))
		require.Error(t, err)
	})
	t.Run("another process answers", func(t *testing.T) {
		// Its hash table has another order: the cursor 5 of the first one would leave b and c out.
		var asked atomic.Int64
		c, f := scanFake(t, map[string]string{"0": scanPage("5", "a", "b"), "5": scanPage("0", "d"), "6": scanPage("0")}, func() string {
			if asked.Add(1) == 1 {
				return runID("first")
			}
			return runID("second")
		})
		got, err := all(t, collections[0].read(caseContext(t), c, "key", rueidisstream.WithScan(2)))
		require.NoError(t, err)
		require.Equal(t, []string{"a", "b", "d"}, got)
		require.EqualValues(t, 4, asked.Load(), "0, 5 in vain, 0, 5")
		require.Len(t, f.Commands(), 8)
	})
	t.Run("a new process each time", func(t *testing.T) {
		var asked atomic.Int64
		c, _ := scanFake(t, map[string]string{"0": scanPage("5", "a"), "5": scanPage("0", "b")}, func() string {
			return runID(strconv.FormatInt(asked.Add(1), 10))
		})
		got, err := all(t, collections[0].read(caseContext(t), c, "key", rueidisstream.WithScan(2)))
		require.ErrorContains(t, err, "another server answered")
		require.Equal(t, []string{"a"}, got)
	})
	t.Run("INFO refused", func(t *testing.T) {
		c, _ := scanFake(t, map[string]string{"0": scanPage("5", "a"), "5": scanPage("0", "b")}, func() string { return "-NOPERM no\r\n" })
		got, err := all(t, collections[0].read(caseContext(t), c, "key", rueidisstream.WithScan(2)))
		require.NoError(t, err)
		require.Equal(t, []string{"a", "b"}, got)
	})
	t.Run("INFO is an array", func(t *testing.T) {
		c, _ := scanFake(t, map[string]string{"0": scanPage("0", "a")}, func() string { return "*1\r\n$1\r\nx\r\n" })
		_, err := all(t, collections[0].read(caseContext(t), c, "key", rueidisstream.WithScan(2)))
		require.NoError(t, err)
	})
	t.Run("INFO is cut", func(t *testing.T) {
		c, f := scanFake(t, nil, func() string { return "$100\r\nhalf" })
		go func() {
			for len(f.Commands()) == 0 {
				time.Sleep(time.Millisecond)
			}
			time.Sleep(20 * time.Millisecond)
			f.CutAll()
		}()
		_, err := all(t, collections[0].read(caseContext(t), c, "key", rueidisstream.WithScan(2)))
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	})
}

// H5: an error on a later page comes behind the elements before it, odd pages are errors, and a loop may be left.
func TestCase_H5_ScanErrors(t *testing.T) {
	for _, row := range []struct {
		name  string
		third string
		is    error
		more  []string // of the third page
	}{
		{"error", "-ERR no\r\n", nil, nil},
		{"null", "_\r\n", rueidis.Nil, nil},
		{"odd", scanPage("0", "e", "5", "f"), rueidisstream.ErrShape, nil},
		{"no cursor", scanPage("x"), rueidisstream.ErrShape, nil},
		{"a negative cursor", scanPage("-1"), rueidisstream.ErrShape, nil},
		{"a cursor of 65 bits", scanPage("18446744073709551616"), rueidisstream.ErrShape, nil},
		{"a string", "+OK\r\n", rueidisstream.ErrShape, nil},
		{"three elements", "*3\r\n$1\r\n0\r\n*0\r\n*0\r\n", rueidisstream.ErrShape, nil},
		{"a page of no array", "*2\r\n$1\r\n0\r\n$1\r\nx\r\n", rueidisstream.ErrShape, nil},
		{"an aggregate as cursor", "*2\r\n*0\r\n*0\r\n", rueidisstream.ErrShape, nil},
		{"no RESP", "*2\r\n?", rueidisstream.ErrProtocol, nil},
		{"no RESP for elements", "*2\r\n$1\r\n0\r\n?", rueidisstream.ErrProtocol, nil},
		{"no RESP for an element", "*2\r\n$1\r\n0\r\n*4\r\n$1\r\ne\r\n$1\r\n5\r\n?", rueidisstream.ErrProtocol, []string{"e=5"}},
		{"a bad cursor", "*2\r\n$x\r\n", rueidisstream.ErrProtocol, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			redistest.NoLeak(t)
			c, _ := scanFake(t, map[string]string{"0": scanPage("1", "a", "1", "b", "2"), "1": scanPage("2", "c", "3"), "2": row.third}, nil)
			got, err := all(t, collections[1].read(caseContext(t), c, "key", rueidisstream.WithScan(2)))
			require.Equal(t, append([]string{"a=1", "b=2", "c=3"}, row.more...), got)
			require.Error(t, err)
			if row.is != nil {
				require.ErrorIs(t, err, row.is)
			}
			for range rueidisstream.Fields(caseContext(t), c, "key", rueidisstream.WithScan(2)) {
				break
			}
		})
	}
	t.Run("an element of a set is not RESP", func(t *testing.T) {
		c, _ := scanFake(t, map[string]string{"0": "*2\r\n$1\r\n0\r\n*2\r\n$1\r\ne\r\n?"}, nil)
		got, err := all(t, collections[0].read(caseContext(t), c, "key", rueidisstream.WithScan(2)))
		require.Equal(t, []string{"e"}, got)
		require.ErrorIs(t, err, rueidisstream.ErrProtocol)
	})
}

// One page is read ahead while the loop works on the one before, not more, and an early end waits for nobody.
func TestScanReadsAhead(t *testing.T) {
	redistest.NoLeak(t)
	pages := map[string]string{}
	for i := range 10 {
		pages[strconv.Itoa(i)] = scanPage(strconv.Itoa((i+1)%10), fmt.Sprint("a", i), fmt.Sprint("b", i))
	}
	c, f := scanFake(t, pages, nil)
	for range rueidisstream.Members(caseContext(t), c, "key", rueidisstream.WithScan(2)) {
		require.Eventually(t, func() bool { return len(f.Commands()) == 4 }, caseTime, time.Millisecond)
		time.Sleep(20 * time.Millisecond)
		require.Len(t, f.Commands(), 4, "INFO and SSCAN, for two pages")
		break
	}
	require.Len(t, f.Commands(), 4)
	got, err := all(t, collections[0].read(context.Background(), c, "key", rueidisstream.WithScan(2)))
	require.NoError(t, err)
	require.Len(t, got, 20)

	t.Run("a page that does not come", func(t *testing.T) {
		f := redistest.NewFake(t, func(c *redistest.FakeConn, cmd []string) {
			if cmd[2] == "1" {
				c.Block(nil)
			}
			c.Write(scanPage("1", "a"))
		})
		c := caseDial(t, f.Addr(), casePool(1), func(o *rueidis.ClientOption) { o.DisableCache = true })
		ctx, cancel := context.WithCancel(caseContext(t))
		defer cancel()
		begin := time.Now()
		for range rueidisstream.Members(ctx, c, "key", rueidisstream.WithScan(2)) {
			time.AfterFunc(100*time.Millisecond, cancel)
			break // the page under way is waited for, until the context ends
		}
		require.Less(t, time.Since(begin), 10*time.Second)
	})
}

// What a scan remembers is as WithScan says, whatever the size of elements.
func TestScanMemory(t *testing.T) {
	const n = 200000
	bothProtocols(t, func(t *testing.T, c rueidis.Client) {
		fillSet(t, c, "set", n)
		top := redistest.PeakHeap(func() {
			require.Equal(t, n, countOf(rueidisstream.Members(context.Background(), c, "set", rueidisstream.WithScan(0))))
		})
		t.Logf("%d bytes for each element at the peak, growing tables included", top/n)
		if !caseRace { // which changes what things take
			require.Less(t, top/n, int64(150))
		}
	})
}

// A page whose connection ends is asked for again, of the same server and of no other; what it has given already does not come twice.
func TestScanPageIsCut(t *testing.T) {
	second := scanPage("0", "c", "d", "e")
	for _, row := range []struct {
		name    string
		cuts    int64 // pages that are cut in the middle
		process func(cuts int64) string
		want    []string
		fails   bool
	}{
		{"once", 1, func(int64) string { return runID("one") }, []string{"a", "b", "c", "d", "e"}, false},
		{"as often as it is tried", 3, func(int64) string { return runID("one") }, []string{"a", "b", "c", "d", "e"}, false},
		{"always", 1 << 40, func(int64) string { return runID("one") }, []string{"a", "b", "c"}, true},
		{"by a restart", 1, func(cuts int64) string { return runID(strconv.FormatInt(cuts, 10)) }, []string{"a", "b", "c"}, true},
		{"by nobody knows whom", 1, func(int64) string { return "-NOPERM no INFO\r\n" }, []string{"a", "b", "c"}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			redistest.NoLeak(t)
			var cuts atomic.Int64
			f := redistest.NewFake(t, func(c *redistest.FakeConn, cmd []string) {
				switch {
				case cmd[0] == "INFO" && len(cmd) == 2:
					c.Write(row.process(cuts.Load()))
				case cmd[0] == "INFO":
					c.BuiltIn(cmd)
				case cmd[0] == "ECHO":
					c.Write(redistest.Bulk(cmd[1]))
				case cmd[2] == "0":
					c.Write(scanPage("7", "a", "b"))
				case cuts.Load() < row.cuts:
					cuts.Add(1)
					c.Write(second[:strings.Index(second, "d")])
					c.Cut()
				default:
					c.Write(second)
				}
			}, redistest.Intercept("INFO"))
			c := caseDial(t, f.Addr(), casePool(1), func(o *rueidis.ClientOption) { o.DisableCache = true })
			var got []string
			var last error
			for v, err := range rueidisstream.Members(caseContext(t), c, "set", rueidisstream.WithScan(10)) {
				if last = err; err == nil {
					got = append(got, v.String())
				}
			}
			require.LessOrEqual(t, cuts.Load(), int64(5), "questions")
			require.Equal(t, row.want, got)
			if row.fails {
				require.ErrorIs(t, last, io.ErrUnexpectedEOF)
			} else {
				require.NoError(t, last)
			}
			caseEchoes(t, c, 100)
		})
	}
}
