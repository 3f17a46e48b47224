package rueidisstream_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

// small is the default of WithSmall.
const small = 128

// collection is one type of key, and the function that reads it.
type collection struct {
	name    string
	add     []string // a command that adds the i-th element to a key, as a format's words; %[1]s is i in 15 digits, %[2]d is i
	read    func(ctx context.Context, c rueidis.Client, key string, opts ...rueidisstream.Option) iter.Seq2[string, error]
	oracle  func(c rueidis.Client, key string) rueidis.Completed
	ordered bool // by WithScan, too
}

func ofValues(values iter.Seq2[rueidisstream.Value, error]) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for v, err := range values {
			if !yield(textOf(v), err) {
				return
			}
		}
	}
}

// textOf is ofValue of elements that have no error in them.
func textOf(v rueidisstream.Value) string {
	if !v.Kind().IsAggregate() {
		return v.String()
	}
	var parts []string
	for e := range v.Values() {
		parts = append(parts, textOf(e))
	}
	return "[" + strings.Join(parts, " ") + "]"
}

func ofPairs(pairs iter.Seq2[rueidisstream.Pair, error]) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for p, err := range pairs {
			if !yield(p.Key.String()+"="+p.Value.String(), err) {
				return
			}
		}
	}
}

var collections = []collection{
	{
		"Members",
		[]string{"SADD", "%[1]s"},
		func(ctx context.Context, c rueidis.Client, key string, opts ...rueidisstream.Option) iter.Seq2[string, error] {
			return ofValues(rueidisstream.Members(ctx, c, key, opts...))
		},
		func(c rueidis.Client, key string) rueidis.Completed { return c.B().Smembers().Key(key).Build() }, false,
	},
	{
		"Fields",
		[]string{"HSET", "%[1]s", "v%[2]d"},
		func(ctx context.Context, c rueidis.Client, key string, opts ...rueidisstream.Option) iter.Seq2[string, error] {
			return ofPairs(rueidisstream.Fields(ctx, c, key, opts...))
		},
		func(c rueidis.Client, key string) rueidis.Completed { return c.B().Hgetall().Key(key).Build() }, false,
	},
	{
		"Scores",
		[]string{"ZADD", "%[2]d.5", "%[1]s"},
		func(ctx context.Context, c rueidis.Client, key string, opts ...rueidisstream.Option) iter.Seq2[string, error] {
			return ofPairs(rueidisstream.Scores(ctx, c, key, opts...))
		},
		func(c rueidis.Client, key string) rueidis.Completed {
			return c.B().Zrange().Key(key).Min("0").Max("-1").Withscores().Build()
		}, false,
	},
	{
		"Elements",
		[]string{"RPUSH", "%[1]s"},
		func(ctx context.Context, c rueidis.Client, key string, opts ...rueidisstream.Option) iter.Seq2[string, error] {
			return ofValues(rueidisstream.Elements(ctx, c, key, opts...))
		},
		func(c rueidis.Client, key string) rueidis.Completed {
			return c.B().Lrange().Key(key).Start(0).Stop(-1).Build()
		}, true,
	},
	{
		"Entries",
		[]string{"XADD", "%[2]d-1", "field", "%[1]s", "", "empty"},
		func(ctx context.Context, c rueidis.Client, key string, opts ...rueidisstream.Option) iter.Seq2[string, error] {
			return ofValues(rueidisstream.Entries(ctx, c, key, opts...))
		},
		func(c rueidis.Client, key string) rueidis.Completed {
			return c.B().Xrange().Key(key).Start("-").End("+").Build()
		}, true,
	},
}

// fill adds n elements to key.
func (k collection) fill(t testing.TB, c rueidis.Client, key string, n int) {
	t.Helper()
	cmds := make([]rueidis.Completed, n)
	for i := range cmds {
		words := []string{k.add[0], key}
		for _, w := range k.add[1:] {
			words = append(words, strings.NewReplacer("%[1]s", fmt.Sprintf("%015d", i), "%[2]d", strconv.Itoa(i)).Replace(w))
		}
		cmds[i] = c.B().Arbitrary(words[0]).Keys(key).Args(words[2:]...).Build()
	}
	for _, r := range c.DoMulti(context.Background(), cmds...) {
		require.NoError(t, r.Error())
	}
}

// want returns what client.Do says of the key.
func (k collection) want(t testing.TB, c rueidis.Client, key string) (want []string) {
	t.Helper()
	m, err := c.Do(context.Background(), k.oracle(c, key)).ToMessage()
	require.NoError(t, err)
	switch k.name {
	case "Fields":
		fields, err := m.AsStrMap()
		require.NoError(t, err)
		for f, v := range fields {
			want = append(want, f+"="+v)
		}
	case "Scores":
		scores, err := m.AsZScores()
		require.NoError(t, err)
		for _, s := range scores {
			want = append(want, s.Member+"="+strconv.FormatFloat(s.Score, 'g', -1, 64))
		}
	default:
		elements, err := m.ToArray()
		require.NoError(t, err)
		for _, e := range elements {
			want = append(want, textOfMessage(e))
		}
	}
	return want
}

func textOfMessage(m rueidis.RedisMessage) string {
	if s, err := m.ToString(); err == nil {
		return s
	}
	elements, _ := m.ToArray()
	var parts []string
	for _, e := range elements {
		parts = append(parts, textOfMessage(e))
	}
	return "[" + strings.Join(parts, " ") + "]"
}

// all returns what the iterator gives, and its error, which must be the last thing.
func all(t testing.TB, values iter.Seq2[string, error]) (got []string, last error) {
	t.Helper()
	for v, err := range values {
		require.NoError(t, last, "after an error nothing comes")
		if last = err; err == nil {
			got = append(got, v)
		}
	}
	return got, last
}

type mode struct {
	name string
	opts []rueidisstream.Option
	scan bool
}

var modes = []mode{
	{"default", nil, false},
	{"snapshot", []rueidisstream.Option{rueidisstream.WithScan(1), rueidisstream.WithSnapshot()}, false},
	{"never small", []rueidisstream.Option{rueidisstream.WithSmall(0)}, false},
	{"negative small", []rueidisstream.Option{rueidisstream.WithSmall(-1)}, false},
	{"small up to 1", []rueidisstream.Option{rueidisstream.WithSmall(1)}, false},
	{"always small", []rueidisstream.Option{rueidisstream.WithSmall(1 << 40)}, false},
	{"scan", []rueidisstream.Option{rueidisstream.WithScan(0)}, true},
	{"scan by 50", []rueidisstream.Option{rueidisstream.WithScan(50)}, true},
	{"scan by all", []rueidisstream.Option{rueidisstream.WithScan(5000)}, true},
}

// Whatever the size and the way of reading, the elements are those that client.Do gives.
func TestCollections(t *testing.T) {
	bothProtocols(t, func(t *testing.T, c rueidis.Client) {
		for _, k := range collections {
			for _, n := range []int{0, 1, 2, small - 1, small, small + 1, 5000} {
				key := fmt.Sprint(k.name, n)
				k.fill(t, c, key, n)
				want := k.want(t, c, key)
				require.Len(t, want, n)
				for _, m := range modes {
					t.Run(fmt.Sprintf("%s/%d/%s", k.name, n, m.name), func(t *testing.T) {
						got, err := all(t, k.read(caseContext(t), c, key, m.opts...))
						require.NoError(t, err)
						want := slices.Clone(want)
						if !k.ordered && (k.name != "Scores" || m.scan) {
							slices.Sort(got)
							slices.Sort(want)
						}
						require.Equal(t, want, got)
					})
				}
			}
		}
	})
}

// A key of another type is the server's own error.
func TestCollectionsWrongType(t *testing.T) {
	bothProtocols(t, func(t *testing.T, c rueidis.Client) {
		require.NoError(t, c.Do(context.Background(), c.B().Set().Key("string").Value("v").Build()).Error())
		for _, k := range collections {
			for _, m := range modes {
				got, err := all(t, k.read(caseContext(t), c, "string", m.opts...))
				require.Empty(t, got)
				require.IsType(t, &rueidis.RedisError{}, err, k.name+" "+m.name)
				require.EqualError(t, err, c.Do(context.Background(), k.oracle(c, "string")).Error().Error(), k.name+" "+m.name)
			}
		}
	})
}

// Nothing is sent before the range, and a second range is an error.
func TestCollectionsOnce(t *testing.T) {
	bothProtocols(t, func(t *testing.T, c rueidis.Client) {
		for _, k := range collections {
			for _, m := range modes {
				key := k.name + m.name
				values := k.read(caseContext(t), c, key, m.opts...)
				k.fill(t, c, key, 3)
				got, err := all(t, values)
				require.NoError(t, err)
				require.Len(t, got, 3, "what was there when ranged")
				got, err = all(t, values)
				require.Empty(t, got)
				require.ErrorIs(t, err, rueidisstream.ErrReused)
			}
		}
	})
}

// Within a loop, with a pool of one connection, other commands run by client.Do, and a loop may be left in any way.
func TestCollectionsLeaving(t *testing.T) {
	bothProtocols(t, func(t *testing.T, c rueidis.Client) {
		ctx := caseContext(t)
		for _, k := range collections {
			for _, n := range []int{10, 5000} {
				key := fmt.Sprint(k.name, n)
				k.fill(t, c, key, n)
				for _, m := range modes {
					name := fmt.Sprint(key, " ", m.name)
					seen := 0
					for _, err := range k.read(ctx, c, key, m.opts...) {
						require.NoError(t, err, name)
						if seen++; seen%500 == 1 {
							require.NoError(t, c.Do(ctx, c.B().Set().Key("beside").Value("x").Build()).Error(), name)
						}
					}
					require.Equal(t, n, seen, name)
					for range k.read(ctx, c, key, m.opts...) {
						break
					}
					goroutine(func() {
						for range k.read(ctx, c, key, m.opts...) {
							panic("no more")
						}
					})
					goroutine(func() {
						for range k.read(ctx, c, key, m.opts...) {
							runtime.Goexit()
						}
					})
				}
			}
		}
		members, err := all(t, collections[0].read(ctx, c, "Members10"))
		require.NoError(t, err)
		require.Len(t, members, 10)
	})
}

// The context's end is seen before the question, in a loop over pages and while waiting.
func TestCollectionsContext(t *testing.T) {
	bothProtocols(t, func(t *testing.T, c rueidis.Client) {
		for _, k := range collections {
			key := k.name
			k.fill(t, c, key, 5000)
			for _, m := range modes {
				ctx, cancel := context.WithCancel(context.Background())
				cancel()
				got, err := all(t, k.read(ctx, c, key, m.opts...))
				require.Empty(t, got)
				require.ErrorIs(t, err, context.Canceled, k.name+" "+m.name)
			}
			ctx, cancel := context.WithCancel(context.Background())
			var last error
			n := 0
			for _, err := range k.read(ctx, c, key, rueidisstream.WithScan(10)) {
				if n++; n == 5 {
					cancel()
				}
				last = err
			}
			require.ErrorIs(t, last, context.Canceled, k.name)
			require.Less(t, n, 5000)
			cancel()
		}
	})
	t.Run("no answer", func(t *testing.T) {
		redistest.NoLeak(t)
		f := redistest.NewFake(t, func(c *redistest.FakeConn, _ []string) { c.Block(nil) })
		c := caseDial(t, f.Addr(), casePool(1), func(o *rueidis.ClientOption) { o.DisableCache = true })
		for _, k := range collections {
			for _, m := range modes {
				ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
				_, err := all(t, k.read(ctx, c, "key", m.opts...))
				require.ErrorIs(t, err, context.DeadlineExceeded, k.name+" "+m.name)
				cancel()
			}
		}
	})
}

// Big keys cost as many allocations as others that are big.
func TestCollectionsAllocations(t *testing.T) {
	bothProtocols(t, func(t *testing.T, c rueidis.Client) {
		for _, k := range []string{"Members", "Fields", "Scores", "Elements", "Entries"} {
			count := func(key string, opts ...rueidisstream.Option) (n int) {
				ctx := context.Background()
				switch k {
				case "Members":
					n = countOf(rueidisstream.Members(ctx, c, key, opts...))
				case "Fields":
					n = countOf(rueidisstream.Fields(ctx, c, key, opts...))
				case "Scores":
					n = countOf(rueidisstream.Scores(ctx, c, key, opts...))
				case "Elements":
					n = countOf(rueidisstream.Elements(ctx, c, key, opts...))
				case "Entries":
					n = countOf(rueidisstream.Entries(ctx, c, key, opts...))
				}
				return n
			}
			of := collections[slices.IndexFunc(collections, func(c collection) bool { return c.name == k })]
			of.fill(t, c, k+"1000", 1000)
			of.fill(t, c, k+"10000", 10000)
			require.Equal(t, 10000, count(k+"10000"))
			off := rueidisstream.WithSmall(0)
			few, many := redistest.Allocs(func() { count(k+"1000", off) }), redistest.Allocs(func() { count(k+"10000", off) })
			if caseRace {
				continue // sync.Pool drops things at random
			}
			require.Equal(t, few, many, k)
			require.LessOrEqual(t, many, uint64(12), k)
			few, many = redistest.Allocs(func() { count(k + "1000") }), redistest.Allocs(func() { count(k + "10000") })
			// The page of the first question has some elements more or less.
			require.InDelta(t, few, many, 40, k)
		}
	}, func(o *rueidis.ClientOption) { o.Dialer.KeepAlive = time.Hour })
}

func countOf[T any](values iter.Seq2[T, error]) (n int) {
	for _, err := range values {
		if err == nil {
			n++
		}
	}
	return n
}

// When the client is no rueidis client, the error of its Do comes through.
func TestCollectionsMock(t *testing.T) {
	f := redistest.NewFake(t, nil)
	c := caseDial(t, f.Addr(), func(o *rueidis.ClientOption) { o.DisableCache = true })
	for _, k := range collections {
		_, err := all(t, k.read(context.Background(), mock{c}, "key", rueidisstream.WithSmall(0)))
		require.ErrorIs(t, err, rueidisstream.ErrUnsupported)
		_, err = all(t, k.read(context.Background(), c, "key"))
		var e *rueidis.RedisError
		require.True(t, errors.As(err, &e), "the fake knows no commands")
	}
}
