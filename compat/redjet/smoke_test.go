package redjet_test

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/compat/redjet"
	"github.com/rueidisx/rueidisx/internal/redistest"
)

func TestSmoke(t *testing.T) {
	for _, resp2 := range []bool{false, true} {
		redistest.NoLeak(t)
		rc := redistest.NewClient(t, redistest.Shared(t), func(o *rueidis.ClientOption) { o.AlwaysRESP2, o.DisableCache = resp2, true; o.BlockingPoolSize = 1 })
		c := redjet.New(rc)
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		require.NoError(t, c.Command(ctx, "SET", "foo", "bar").Ok())
		s, err := c.Command(ctx, "get", "foo").String()
		require.NoError(t, err)
		require.Equal(t, "bar", s)
		var b bytes.Buffer
		n, err := c.Command(ctx, "get", "foo").WriteTo(&b)
		require.NoError(t, err)
		require.EqualValues(t, 3, n)
		p := c.Pipeline(ctx, nil, "XADD", "x", "1-1", "a", "b")
		p = c.Pipeline(ctx, p, "XADD", "x", "1-2", "a", "b")
		p = c.Pipeline(ctx, p, "XRANGE", "x", "-", "+")
		p = c.Pipeline(ctx, p, "XREAD", "STREAMS", "x", "0")
		p = c.Pipeline(ctx, p, "ZADD", "z", 1, "a", 2.5, "b")
		p = c.Pipeline(ctx, p, "ZRANGE", "z", 0, -1, "WITHSCORES")
		p = c.Pipeline(ctx, p, "HSET", "h", "f", "v")
		p = c.Pipeline(ctx, p, "HGETALL", "h")
		p = c.Pipeline(ctx, p, "NOSUCH", "h")
		p = c.Pipeline(ctx, p, "GET", "missing")
		p = c.Pipeline(ctx, p, "GET", "foo")
		var got []string
		for p.Next() {
			s, err := p.String()
			if err != nil {
				s = err.Error()
			}
			got = append(got, s)
		}
		require.NoError(t, p.Close())
		t.Log(got)
		sub := c.Command(ctx, "SUBSCRIBE", "ch", "ch2")
		for range 2 {
			m, err := sub.NextSubMessage()
			require.NoError(t, err)
			t.Log(*m)
		}
		k, err := c.Command(ctx, "PUBLISH", "ch2", "hello").Int()
		require.NoError(t, err)
		require.Equal(t, 1, k)
		m, err := sub.NextSubMessage()
		require.NoError(t, err)
		t.Log(*m)
		require.NoError(t, sub.Close())
		big := strings.Repeat("x", 1<<20)
		require.NoError(t, c.Command(ctx, "SET", "big", strings.NewReader(big), "EX", 100).Ok())
		n, err = c.Command(ctx, "GET", "big").WriteTo(io.Discard)
		require.NoError(t, err)
		require.EqualValues(t, 1<<20, n)
		t.Log(c.Command(ctx, "TTL", "big").Int())
		require.NoError(t, c.Command(ctx, "FLUSHALL").Close())
	}
}
