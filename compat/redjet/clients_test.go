package redjet_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidishook"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/compat/redjet"
	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

// everything uses a client in each way.
func everything(t *testing.T, c *redjet.Client) {
	t.Helper()
	ctx := within(t)
	var cmds, want []string
	for i := range 100 {
		cmds = append(cmds, fmt.Sprintf("SET {%d}k %d", i, i), fmt.Sprintf("GET {%d}k", i), fmt.Sprintf("GET {%d}missing", i))
		want = append(want, "OK[]", fmt.Sprint(i, "[]"), "[]")
	}
	p := queue(ctx, c, cmds...)
	require.Equal(t, strings.Join(want, " "), elements(p), "in the order of the commands")
	require.NoError(t, p.Close())
	p = queue(ctx, c, cmds...)
	require.NoError(t, p.Ok())
	require.NoError(t, p.Close(), "early")
	p = queue(ctx, c, "MULTI", "SET {t}a 1", "INCR {t}a", "EXEC", "GET {t}a")
	require.Equal(t, "OK[] QUEUED[] QUEUED[] 2[2] OK[1] 2[] 2[]", elements(p))
	require.NoError(t, p.Close())
	p = queue(ctx, c, "ZADD z 1 a", "ZUNION 1 z WITHSCORES", "ZINTERCARD 1 z", "XADD x 1-1 f v", "XREAD COUNT 5 STREAMS x 0", "XINFO STREAM none",
		"OBJECT ENCODING x", "BITOP NOT {d}est {d}src", "LMPOP 1 none LEFT", "BZMPOP 0.01 1 none MIN", "BLPOP none 0.01")
	require.Equal(t, "1[] 2[2] a[1] 1[] 1[] 1-1[] 1[1] 2[1 2] x[1 1] 1[1 1 1] 2[1 1 1 2] 1-1[1 1 1 1] 2[1 1 1 1 2] f[1 1 1 1 1] v[] error ERR no such key[] stream[] 0[] [] [] []",
		elements(p))
	require.NoError(t, p.Close())
	n, err := c.Command(ctx, "EVAL", "return redis.call('SET', KEYS[1], ARGV[1])", 1, "script", "v").String()
	require.NoError(t, err)
	require.Equal(t, "OK", n)
	require.NoError(t, c.Command(ctx, "SET", "big", strings.NewReader(strings.Repeat("x", 1<<20)), "EX", 100).Ok())
	size, err := c.Command(ctx, "GET", "big").WriteTo(io.Discard)
	require.NoError(t, err)
	require.EqualValues(t, 1<<20, size)
	sub := c.Command(ctx, "SUBSCRIBE", "channel")
	_, err = sub.NextSubMessage()
	require.NoError(t, err)
	require.NoError(t, c.Command(ctx, "PUBLISH", "channel", "hello").Close())
	m, err := sub.NextSubMessage()
	require.NoError(t, err)
	require.Equal(t, "hello", m.Payload)
	require.NoError(t, sub.Close())
	hundred(t, c)
}

func TestCluster(t *testing.T) {
	redistest.NoLeak(t)
	cluster := redistest.NewCluster(t)
	rc := cluster.NewClient(t)
	c := redjet.New(rc)
	everything(t, c)
	ctx := within(t)
	_, err := c.Command(ctx, "MGET", "a", "b").Strings()
	require.ErrorContains(t, err, "CROSSSLOT")

	// D3: one node is down, and the commands of the others have their replies.
	var cmds []string
	for i := range 30 {
		cmds = append(cmds, fmt.Sprintf("ECHO %d", i), fmt.Sprintf("GET {%d}k", i))
	}
	down := cluster.Nodes[0]
	down.Stop(t)
	p := queue(ctx, c, cmds...)
	replies, failed := 0, 0
	for p.Next() {
		if _, err := p.String(); err != nil {
			failed++
		} else {
			replies++
		}
	}
	require.Equal(t, len(cmds), replies+failed)
	require.NoError(t, p.Close())
	require.Positive(t, replies)
	down.Start(t)
}

func TestHook(t *testing.T) {
	redistest.NoLeak(t)
	rc := redistest.NewClient(t, redistest.Shared(t))
	h := new(counting)
	c := redjet.New(rueidishook.WithHook(rc, h))
	everything(t, c)
	require.Positive(t, h.streams.Load(), "the hook sees the streams")
	for _, err := range rueidisstream.Members(within(t), c.Client(), "none") {
		require.NoError(t, err)
	}
}

// counting passes everything on.
type counting struct{ streams atomic.Int64 }

func (*counting) Do(c rueidis.Client, ctx context.Context, cmd rueidis.Completed) rueidis.RedisResult {
	return c.Do(ctx, cmd)
}

func (*counting) DoMulti(c rueidis.Client, ctx context.Context, multi ...rueidis.Completed) []rueidis.RedisResult {
	return c.DoMulti(ctx, multi...)
}

func (*counting) DoCache(c rueidis.Client, ctx context.Context, cmd rueidis.Cacheable, ttl time.Duration) rueidis.RedisResult {
	return c.DoCache(ctx, cmd, ttl)
}

func (*counting) DoMultiCache(c rueidis.Client, ctx context.Context, multi ...rueidis.CacheableTTL) []rueidis.RedisResult {
	return c.DoMultiCache(ctx, multi...)
}

func (*counting) Receive(c rueidis.Client, ctx context.Context, subscribe rueidis.Completed, fn func(msg rueidis.PubSubMessage)) error {
	return c.Receive(ctx, subscribe, fn)
}

func (h *counting) DoStream(c rueidis.Client, ctx context.Context, cmd rueidis.Completed) rueidis.RedisResultStream {
	h.streams.Add(1)
	return c.DoStream(ctx, cmd)
}

func (h *counting) DoMultiStream(c rueidis.Client, ctx context.Context, multi ...rueidis.Completed) rueidis.MultiRedisResultStream {
	h.streams.Add(1)
	return c.DoMultiStream(ctx, multi...)
}
