package goredis_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidiscompat"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/compat/goredis"
	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

// Expirations are as in Set.
func TestSetFromReader(t *testing.T) {
	everywhere(t, func(t *testing.T, client rueidis.Client) {
		ctx := newContext(t)
		a := goredis.NewAdapter(client)
		big := strings.Repeat("0123456789", 100_000)
		for _, r := range []struct {
			name       string
			expiration time.Duration
			low, high  time.Duration // of TTL afterwards
		}{
			{"none", 0, -1, -1},
			{"seconds", time.Hour, 59 * time.Minute, time.Hour},
			{"not whole seconds", 90*time.Second + 500*time.Millisecond, time.Minute, 91 * time.Second},
			{"kept", rueidiscompat.KeepTTL, 9 * time.Minute, 10 * time.Minute},
			{"negative", -time.Second, -1, -1},
		} {
			require.NoError(t, a.Set(ctx, "k", "old", 10*time.Minute).Err())
			got := a.SetFromReader(ctx, "k", strings.NewReader(big), r.expiration)
			require.NoError(t, got.Err(), r.name)
			require.Equal(t, "OK", got.Val())
			require.True(t, big == a.Get(ctx, "k").Val(), r.name)
			ttl := a.PTTL(ctx, "k").Val()
			require.GreaterOrEqual(t, ttl, r.low, r.name)
			require.LessOrEqual(t, ttl, r.high, r.name)
		}
		require.NoError(t, a.SetFromReader(ctx, "k", strings.NewReader("gone"), time.Nanosecond).Err())
		require.Eventually(t, func() bool { return a.Get(ctx, "k").Err() == rueidiscompat.Nil }, 5*time.Second, time.Millisecond, "a millisecond at least, as Set")
		require.NoError(t, a.Set(ctx, "k", "old", 0).Err())
		got := a.SetFromReader(ctx, "k", io.MultiReader(strings.NewReader(big), broken{}), 0)
		require.ErrorIs(t, got.Err(), errSink)
		require.Empty(t, got.Val())
		require.Equal(t, "old", a.Get(ctx, "k").Val())
		hundredMore(t, a)
	})
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errSink }

func TestGetReader(t *testing.T) {
	bothProtocols(t, func(t *testing.T, client rueidis.Client) {
		ctx := newContext(t)
		a := goredis.NewAdapter(client)
		require.NoError(t, a.SAdd(ctx, "set", "x").Err())
		for _, size := range []int{0, 1, 100_000, 2 << 20} {
			value := strings.Repeat("v", size)
			require.NoError(t, a.Set(ctx, "k", value, 0).Err())
			r, n, err := a.GetReader(ctx, "k")
			require.NoError(t, err)
			require.EqualValues(t, size, n)
			got, err := io.ReadAll(r)
			require.NoError(t, errors.Join(err, r.Close()))
			require.True(t, value == string(got))
			r, _, err = a.GetReader(ctx, "k")
			require.NoError(t, err)
			require.NoError(t, r.Close(), "nothing was read")
		}
		for range 3 {
			_, _, err := a.GetReader(ctx, "missing")
			require.True(t, err == rueidiscompat.Nil)
			_, _, err = a.GetReader(ctx, "set")
			require.ErrorContains(t, err, "WRONGTYPE")
			got := a.GetToBuffer(ctx, "missing", make([]byte, 10))
			require.True(t, got.Err() == rueidiscompat.Nil)
			require.Zero(t, got.Val())
			require.ErrorContains(t, a.GetToBuffer(ctx, "set", make([]byte, 10)).Err(), "WRONGTYPE")
		}
		buf := []byte("changed afterwards")
		require.NoError(t, a.SetFromBuffer(ctx, "k", buf).Err())
		copy(buf, "CHANGED")
		require.Equal(t, "changed afterwards", a.Get(ctx, "k").Val())
		hundredMore(t, a)
	})
}

// A connection that is cut in the middle is an error, whatever reads; the next commands are right.
func TestCut(t *testing.T) {
	redistest.NoLeak(t)
	srv := redistest.Shared(t)
	proxy := redistest.NewProxy(t, srv.Addr)
	client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{proxy.Addr()}, ForceSingleClient: true, DisableCache: true, DisableRetry: true})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	direct := redistest.NewClient(t, srv)
	fillKeys(t, direct)
	ctx := newContext(t)
	a := goredis.NewAdapter(client).WithStreamFrom(0)
	require.NoError(t, a.Set(ctx, "k", strings.Repeat("v", 1<<20), 0).Err())
	for name, call := range map[string]func() error{
		"SMembers":         func() error { return a.SMembers(ctx, "{t}set:many").Err() },
		"HGetAll":          func() error { return a.HGetAll(ctx, "{t}hash:many").Err() },
		"ZRangeWithScores": func() error { return a.ZRangeWithScores(ctx, "{t}zset:many", 0, -1).Err() },
		"XRange":           func() error { return a.XRange(ctx, "{t}stream:many", "-", "+").Err() },
		"SMembersMap":      func() error { return a.SMembersMap(ctx, "{t}set:many").Err() },
		"SortInterfaces":   func() error { return a.SortInterfaces(ctx, "{t}set:many", sortAlpha).Err() },
		"GetToBuffer":      func() error { return a.GetToBuffer(ctx, "k", make([]byte, 1<<20)).Err() },
		"DoRaw":            func() error { return a.DoRaw(ctx, "GET", "k").Err() },
		"GetReader": func() error {
			r, _, err := a.GetReader(ctx, "k")
			if err != nil {
				return err
			}
			defer r.Close()
			_, err = io.ReadAll(r)
			return err
		},
		"MembersIterator": func() error {
			it := a.MembersIterator(ctx, "{t}set:many", rueidisstream.WithSmall(0))
			for it.Next(ctx) {
			}
			return it.Err()
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, call())
			proxy.Set(redistest.Fault{CutAfter: 100_000, Once: true})
			err := call()
			proxy.Clear()
			require.ErrorIs(t, err, io.ErrUnexpectedEOF)
			require.True(t, err != io.EOF)
			require.NoError(t, call())
			hundredMore(t, a)
		})
	}
}

// mock is a client of which nothing can be had but Do.
type mock struct{ rueidis.Client }

var errMock = errors.New("mocked")

func (mock) DoMultiStream(context.Context, ...rueidis.Completed) rueidis.MultiRedisResultStream {
	return rueidis.MultiRedisResultStream(rueidis.NewErrorResultStream(errMock))
}

func (mock) DoStream(context.Context, rueidis.Completed) rueidis.RedisResultStream {
	return rueidis.NewErrorResultStream(errMock)
}

// unready is a client whose streams have no reader to hand out.
type unready struct{ rueidis.Client }

func (unready) DoMultiStream(context.Context, ...rueidis.Completed) rueidis.MultiRedisResultStream {
	return rueidis.MultiRedisResultStream{}
}

// Where no stream can be had, everything is rueidiscompat's.
func TestNoStreams(t *testing.T) {
	bothProtocols(t, func(t *testing.T, client rueidis.Client) {
		ctx := newContext(t)
		fillKeys(t, client)
		want := rueidiscompat.NewAdapter(client)
		for _, c := range []rueidis.Client{mock{client}, unready{client}} {
			for _, from := range []int{0, 64} {
				a := goredis.NewAdapter(c).WithStreamFrom(from)
				for range 2 {
					requireSame(t, unordered(want.SMembers(ctx, "{t}set:many")), unordered(a.SMembers(ctx, "{t}set:many")))
					requireSame(t, result(want.HGetAll(ctx, "{t}hash:many")), result(a.HGetAll(ctx, "{t}hash:many")))
					require.Equal(t, want.MGet(ctx, "a", "b").Val(), a.MGet(ctx, "a", "b").Val())
					require.Len(t, a.Keys(ctx, "{t}*:many").Val(), 5)
				}
			}
		}
		require.ErrorIs(t, goredis.NewAdapter(unready{client}).DoRaw(ctx, "GET", "k").Err(), rueidisstream.ErrUnsupported)
		require.ErrorIs(t, goredis.NewAdapter(mock{client}).DoRaw(ctx, "GET", "k").Err(), errMock)
		require.ErrorIs(t, goredis.NewAdapter(mock{client}).GetToBuffer(ctx, "k", nil).Err(), errMock)
	})
	t.Run("a closed client", func(t *testing.T) {
		client := redistest.NewClient(t, redistest.Shared(t))
		client.Close()
		a := goredis.NewAdapter(client)
		require.Equal(t, rueidiscompat.NewAdapter(client).SMembers(newContext(t), "k").Err(), a.SMembers(newContext(t), "k").Err())
	})
}

// Replies that no server gives are what rueidiscompat makes of them.
func TestOddReplies(t *testing.T) {
	for _, reply := range []string{
		"+OK\r\n", ":1\r\n", "_\r\n", "$-1\r\n", "*-1\r\n", "*3\r\n$1\r\na\r\n:1\r\n_\r\n", "%1\r\n$1\r\na\r\n$1\r\nb\r\n", "*1\r\n$1\r\na\r\n",
		"*2\r\n$1\r\na\r\n$1\r\nx\r\n", "*2\r\n$1\r\na\r\n$4\r\n-nan\r\n", "*1\r\n*2\r\n$1\r\na\r\n,1.5\r\n", "*1\r\n*2\r\n$3\r\n1-1\r\n*2\r\n+f\r\n+v\r\n",
		"*1\r\n*2\r\n$3\r\n1-1\r\n_\r\n", "*1\r\n*2\r\n$3\r\n1-1\r\n*1\r\n+f\r\n", "*1\r\n*1\r\n$3\r\n1-1\r\n", "*1\r\n*2\r\n:1\r\n*0\r\n", "*0\r\n", "~0\r\n",
		"%0\r\n", "*2\r\n-ERR x\r\n+y\r\n", "*2\r\n,1.5\r\n#t\r\n", "!5\r\nERR x\r\n", "*1\r\n*2\r\n$3\r\n1-1\r\n%1\r\n+f\r\n+v\r\n", "*2\r\n:1\r\n:2\r\n",
	} {
		t.Run(fmt.Sprintf("%.40q", reply), func(t *testing.T) {
			redistest.NoLeak(t)
			client := fakeClient(t, redistest.NewFake(t, func(c *redistest.FakeConn, _ []string) { c.Write(reply) }))
			ctx := newContext(t)
			want, got := rueidiscompat.NewAdapter(client), goredis.NewAdapter(client).WithStreamFrom(0)
			for name, call := range map[string]func(c compat) outcome{
				"SMembers":    func(c compat) outcome { return result(c.SMembers(ctx, "k")) },
				"SMembersMap": func(c compat) outcome { return result(c.SMembersMap(ctx, "k")) },
				"HGetAll":     func(c compat) outcome { return result(c.HGetAll(ctx, "k")) },
				"LRange":      func(c compat) outcome { return result(c.LRange(ctx, "k", 0, -1)) },
				"MGet":        func(c compat) outcome { return result(c.MGet(ctx, "k", "l")) },
				"Sort":        func(c compat) outcome { return result(c.SortInterfaces(ctx, "k", sortAlpha)) },
				"XRange":      func(c compat) outcome { return result(c.XRange(ctx, "k", "-", "+")) },
				"ZRange":      func(c compat) outcome { return result(c.ZRangeWithScores(ctx, "k", 0, -1)) },
			} {
				w, g := call(want), call(got)
				if fmt.Sprint(w.val) == "[{a NaN}]" {
					w.val, g.val = fmt.Sprint(w.val), fmt.Sprint(g.val)
				}
				requireSame(t, w, g, name)
			}
		})
	}
}

// An order that is none panics as it does in rueidiscompat, and does no harm.
func TestSortPanics(t *testing.T) {
	a := goredis.NewAdapter(exampleClient).WithStreamFrom(0)
	require.PanicsWithValue(t, "invalid sort order sideways", func() { a.Sort(context.Background(), "k", rueidiscompat.Sort{Order: "sideways"}) })
	require.Equal(t, []string{"1", "2"}, a.Sort(context.Background(), "k", rueidiscompat.Sort{}).Val())
}

// A string whose header has no length is an error of GetToBuffer, and no harm is done.
func TestGetToBufferChunkedString(t *testing.T) {
	redistest.NoLeak(t)
	client := fakeClient(t, redistest.NewFake(t, func(c *redistest.FakeConn, _ []string) { c.Write("$?\r\n;3\r\nabc\r\n;0\r\n") }))
	r := goredis.NewAdapter(client).GetToBuffer(newContext(t), "k", make([]byte, 10))
	require.ErrorIs(t, r.Err(), rueidisstream.ErrShape)
	require.Zero(t, r.Val())
}
