package rueidisstream_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

// scripted is a client of a server that answers everything with reply.
func scripted(t testing.TB, reply string, adjust ...func(*rueidis.ClientOption)) (rueidis.Client, *redistest.Fake) {
	f := redistest.NewFake(t, func(c *redistest.FakeConn, _ []string) { c.Write(reply) })
	return caseDial(t, f.Addr(), append([]func(*rueidis.ClientOption){casePool(1), func(o *rueidis.ClientOption) { o.DisableCache = true }}, adjust...)...), f
}

// The fast path takes no reply for what it is not, and an element that no key can have is an error.
func TestSmallReplies(t *testing.T) {
	page := func(cursor string, elements ...string) string {
		return redistest.Array(redistest.Bulk(cursor), redistest.Array(elements...))
	}
	a, b := redistest.Bulk("a"), redistest.Bulk("b")
	for _, row := range []struct {
		name, read, reply string
		want              []string
		err               error
	}{
		{"a page", "Members", page("0", a, b), []string{"a", "b"}, nil},
		{"larger than asked for", "Members", page("0", strings.Split(strings.Repeat(a+" ", 2*small)[:2*small*8-1], " ")...), make([]string, 2*small), nil},
		{"a null in a page", "Members", page("0", a, "_\r\n"), []string{"a", ""}, nil},
		{"no page", "Members", redistest.Array(a), nil, rueidisstream.ErrShape},
		{"a page of no array", "Members", redistest.Array(redistest.Bulk("0"), a), nil, rueidisstream.ErrShape},
		{"a cursor of no string", "Members", redistest.Array("_\r\n", redistest.Array(a)), nil, rueidisstream.ErrShape},
		{"an integer in a page", "Members", page("0", a, ":1\r\n"), []string{"a"}, rueidisstream.ErrShape},
		{"a null", "Members", "_\r\n", nil, rueidis.Nil},
		{"a string", "Elements", "+OK\r\n", nil, nil},
		{"pairs", "Fields", page("0", a, b), []string{"a=b"}, nil},
		{"odd", "Fields", page("0", a, b, a), []string{"a=b"}, rueidisstream.ErrShape},
		{"an integer for a key", "Fields", page("0", ":1\r\n", a), nil, rueidisstream.ErrShape},
		{"an integer for a value", "Fields", page("0", a, ":1\r\n"), nil, rueidisstream.ErrShape},
		{"nested", "Scores", redistest.Array(redistest.Array(a, ",1.5\r\n"), redistest.Array(b, ",inf\r\n")), []string{"a=1.5", "b=inf"}, nil},
		{"nested, odd", "Scores", redistest.Array(redistest.Array(a)), nil, rueidisstream.ErrShape},
		{"flat", "Scores", redistest.Array(a, redistest.Bulk("1.5")), []string{"a=1.5"}, nil},
		{"an entry", "Entries", redistest.Array(redistest.Array(a, redistest.Array(b, redistest.Bulk("")))), []string{"[a [b ]]"}, nil},
		{"an entry without fields", "Entries", redistest.Array(redistest.Array(a, "_\r\n")), []string{"[a ]"}, nil},
		{"an integer in an entry", "Entries", redistest.Array(redistest.Array(a, ":1\r\n")), nil, rueidisstream.ErrShape},
		{"an integer deep in an entry", "Entries", redistest.Array(redistest.Array(a, redistest.Array(":1\r\n"))), nil, rueidisstream.ErrShape},
		{"an error", "Entries", "-ERR ERR no\r\n", nil, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			c, f := scripted(t, row.reply)
			for _, k := range collections {
				if k.name != row.read {
					continue
				}
				got, err := all(t, k.read(caseContext(t), c, t.Name()))
				require.Len(t, got, len(row.want))
				if len(row.want) < small {
					require.Equal(t, row.want, got)
				}
				switch {
				case row.err != nil:
					require.ErrorIs(t, err, row.err)
				case row.want == nil:
					require.Error(t, err)
				default:
					require.NoError(t, err)
				}
				require.Len(t, f.Commands(), 1, "one question")
			}
		})
	}
	c, _ := scripted(t, "-ERR ERR no\r\n")
	_, err := all(t, collections[0].read(caseContext(t), c, t.Name()))
	require.EqualError(t, err, "ERR no", "as client.Do returns it")
	t.Run("cut", func(t *testing.T) {
		f := redistest.NewFake(t, func(c *redistest.FakeConn, _ []string) { c.Cut() })
		c := caseDial(t, f.Addr(), casePool(1), func(o *rueidis.ClientOption) { o.DisableCache, o.DisableRetry = true, true })
		_, err := all(t, collections[0].read(caseContext(t), c, t.Name()))
		require.Error(t, err)
		require.False(t, err == io.EOF)
	})
}

// WithMaxBytes holds for the fast path, too.
func TestSmallTooBig(t *testing.T) {
	bothProtocols(t, func(t *testing.T, c rueidis.Client) {
		for _, k := range collections {
			k.fill(t, c, k.name, 3)
			for _, m := range modes {
				got, err := all(t, k.read(caseContext(t), c, k.name, append(m.opts, rueidisstream.WithMaxBytes(4))...))
				require.Empty(t, got, k.name+" "+m.name)
				require.ErrorIs(t, err, rueidisstream.ErrTooBig, k.name+" "+m.name)
			}
		}
	})
}

// A small key is one command, and takes no connection of the pool: the only one is busy.
func TestSmallSharesConnection(t *testing.T) {
	bothProtocols(t, func(t *testing.T, c rueidis.Client) {
		ctx := caseContext(t)
		fillSet(t, c, bigSet, 20000)
		r, err := rueidisstream.Do(ctx, c, c.B().Smembers().Key(bigSet).Build())
		require.NoError(t, err)
		for _, k := range collections {
			k.fill(t, c, k.name, small)
			got, err := all(t, k.read(ctx, c, k.name))
			require.NoError(t, err)
			require.Len(t, got, small)
		}
		require.NoError(t, r.Close())
	})
}

// Kinds and lengths are those of a stream.
func TestSmallKinds(t *testing.T) {
	bothProtocols(t, func(t *testing.T, c rueidis.Client) {
		ctx := context.Background()
		for _, k := range collections {
			k.fill(t, c, k.name, 3)
		}
		type shape struct {
			kind rueidisstream.Kind
			size int64
		}
		of := func(v rueidisstream.Value) shape { return shape{v.Kind(), v.Len()} }
		shapes := func(opts ...rueidisstream.Option) (got []shape) {
			for v := range rueidisstream.Members(ctx, c, "Members", opts...) {
				got = append(got, of(v))
			}
			for p := range rueidisstream.Fields(ctx, c, "Fields", opts...) {
				got = append(got, of(p.Key), of(p.Value))
			}
			for p := range rueidisstream.Scores(ctx, c, "Scores", opts...) {
				got = append(got, of(p.Key), of(p.Value))
			}
			for v := range rueidisstream.Elements(ctx, c, "Elements", opts...) {
				got = append(got, of(v))
			}
			for v := range rueidisstream.Entries(ctx, c, "Entries", opts...) {
				got = append(got, of(v))
				for e := range v.Values() {
					got = append(got, of(e))
				}
			}
			return got
		}
		require.Equal(t, shapes(rueidisstream.WithSmall(0)), shapes())
	})
}
