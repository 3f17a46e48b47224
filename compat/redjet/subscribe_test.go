package redjet_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/compat/redjet"
	"github.com/rueidisx/rueidisx/internal/redistest"
)

func TestSubscribe(t *testing.T) {
	for _, resp2 := range []bool{true, false} {
		t.Run(protocol(resp2), func(t *testing.T) {
			redistest.NoLeak(t)
			c, ctx := server(t, resp2), within(t)
			next := func(p *redjet.Pipeline) redjet.SubMessage {
				t.Helper()
				m, err := p.NextSubMessage()
				require.NoError(t, err)
				return *m
			}
			publish := func(channel, message string, want int) {
				t.Helper()
				n, err := c.Command(ctx, "PUBLISH", channel, message).Int()
				require.NoError(t, err)
				require.Equal(t, want, n)
			}
			for range 3 { // the connection that was subscribed is used again
				sub := c.Command(ctx, "subscribe", "one", "two")
				require.True(t, sub.Next())
				require.Equal(t, redjet.SubMessage{Type: redjet.SubMessageSubscribe, Channel: "one", Payload: "1"}, next(sub))
				require.Equal(t, redjet.SubMessage{Type: redjet.SubMessageSubscribe, Channel: "two", Payload: "2"}, next(sub))
				for _, m := range []string{"hello", "", "a\r\nb", strings.Repeat("long", 1<<18)} {
					publish("two", m, 1)
					require.Equal(t, redjet.SubMessage{Type: redjet.SubMessageMessage, Channel: "two", Payload: m}, next(sub))
				}
				publish("one", "in pieces", 1)
				require.True(t, sub.Next())
				n, err := sub.ArrayLength()
				require.NoError(t, err)
				require.Equal(t, 3, n)
				var got []string
				for range n {
					s, err := sub.String()
					require.NoError(t, err)
					got = append(got, s)
				}
				require.Equal(t, []string{"message", "one", "in pieces"}, got)
				require.NoError(t, sub.Close())
				require.False(t, sub.Next())
				_, err = sub.NextSubMessage()
				require.EqualError(t, err, "result closed")
				publish("two", "nobody", 0)
			}
			p := queue(ctx, c, "SET k v", "PSUBSCRIBE n?ws")
			require.NoError(t, p.Ok())
			require.Equal(t, redjet.SubMessage{Type: "psubscribe", Channel: "n?ws", Payload: "1"}, next(p))
			publish("news", "hello", 1)
			require.Equal(t, redjet.SubMessage{Type: "pmessage", Channel: "news", Payload: "hello"}, next(p))
			require.NoError(t, p.Close())
			s := c.Pipeline(ctx, nil, "SSUBSCRIBE", "shard")
			require.Equal(t, redjet.SubMessage{Type: "ssubscribe", Channel: "shard", Payload: "1"}, next(s))
			n, err := c.Command(ctx, "SPUBLISH", "shard", "hello").Int()
			require.NoError(t, err)
			require.Equal(t, 1, n)
			require.Equal(t, redjet.SubMessage{Type: "smessage", Channel: "shard", Payload: "hello"}, next(s))
			s = c.Pipeline(ctx, s, "GET", "k")
			require.ErrorContains(t, s.Ok(), "only messages")
			require.NoError(t, s.Close())
			hundred(t, c)
		})
	}
}

func TestSubscribeEnds(t *testing.T) {
	wait := func(t *testing.T, p *redjet.Pipeline) <-chan error {
		_, err := p.NextSubMessage()
		require.NoError(t, err)
		ended := make(chan error, 1)
		go func() {
			_, err := p.NextSubMessage()
			ended <- err
		}()
		time.Sleep(50 * time.Millisecond)
		return ended
	}
	t.Run("Close on another goroutine", func(t *testing.T) {
		redistest.NoLeak(t)
		c, ctx := server(t, false), within(t)
		p := c.Command(ctx, "SUBSCRIBE", "c")
		ended := wait(t, p)
		require.NoError(t, p.Close())
		require.EqualError(t, <-ended, "result closed")
		hundred(t, c)
	})
	t.Run("the context", func(t *testing.T) {
		redistest.NoLeak(t)
		c := server(t, false)
		ctx, cancel := context.WithCancel(context.Background())
		p := c.Command(ctx, "SUBSCRIBE", "c")
		ended := wait(t, p)
		cancel()
		require.ErrorIs(t, <-ended, context.Canceled)
		require.False(t, p.Next())
		_, err := p.NextSubMessage()
		require.ErrorIs(t, err, context.Canceled)
		require.NoError(t, p.Close())
		hundred(t, c)
	})
	t.Run("the connection", func(t *testing.T) {
		redistest.NoLeak(t)
		srv := redistest.Shared(t)
		proxy := redistest.NewProxy(t, srv.Addr)
		o := srv.ClientOption()
		o.InitAddress = []string{proxy.Addr()}
		rc, err := rueidis.NewClient(o)
		require.NoError(t, err)
		defer rc.Close()
		p := redjet.New(rc).Command(within(t), "SUBSCRIBE", "c")
		ended := wait(t, p)
		proxy.CutAll()
		require.Error(t, <-ended)
		require.NotEmpty(t, p.Error())
		require.NoError(t, p.Close())
		hundred(t, redjet.New(rc))
	})
	t.Run("an error of the server", func(t *testing.T) {
		redistest.NoLeak(t)
		c, _ := faked(t, func(c *redistest.FakeConn, _ []string) { c.Write("-NOPERM no\r\n") })
		p := c.Command(within(t), "SUBSCRIBE", "c")
		_, err := p.NextSubMessage()
		require.EqualError(t, err, "NOPERM no")
		require.IsType(t, (*redjet.Error)(nil), err)
		require.NoError(t, p.Close())
	})
	t.Run("not begun", func(t *testing.T) {
		redistest.NoLeak(t)
		c, ctx := server(t, false), within(t)
		p := queue(ctx, c, "SET k v", "SUBSCRIBE c")
		require.NoError(t, p.Close())
		require.Equal(t, "v[]", elements(queue(ctx, c, "GET k")), "what was before it is executed")
		p = queue(ctx, c, "MULTI", "SUBSCRIBE c")
		require.ErrorContains(t, p.Ok(), "not within MULTI")
		p = queue(ctx, c, "SUBSCRIBE c", "GET k")
		require.ErrorContains(t, p.Ok(), "only messages")
	})
	t.Run("no connection to be had", func(t *testing.T) {
		redistest.NoLeak(t)
		c, ctx := server(t, false), within(t)
		first := c.Command(ctx, "SUBSCRIBE", "c")
		_, err := first.NextSubMessage()
		require.NoError(t, err)
		soon, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
		defer cancel()
		second := c.Command(soon, "SUBSCRIBE", "c")
		_, err = second.NextSubMessage()
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NoError(t, second.Close())
		third := c.Command(ctx, "SUBSCRIBE", "c")
		ended := make(chan error, 1)
		go func() {
			_, err := third.NextSubMessage()
			ended <- err
		}()
		time.Sleep(50 * time.Millisecond)
		require.NoError(t, third.Close())
		require.EqualError(t, <-ended, "result closed")
		require.NoError(t, first.Close())
		fourth := c.Command(ctx, "SUBSCRIBE", "c")
		_, err = fourth.NextSubMessage()
		require.NoError(t, err, "the others have given the connection back")
		require.NoError(t, fourth.Close())
		hundred(t, c)
	})
	t.Run("not a message", func(t *testing.T) {
		redistest.NoLeak(t)
		c, ctx := server(t, false), within(t)
		_, err := c.Command(ctx, "STRLEN", "c").NextSubMessage()
		require.ErrorContains(t, err, "expected array")
		p := c.Command(ctx, "MGET", "c", "d")
		_, err = p.NextSubMessage()
		require.EqualError(t, err, "expected 3 elements, got 2")
		require.NoError(t, p.Close())
		hundred(t, c)
	})
}

// TestSubscribeClosedAtOnce is a Close that comes at any moment of the beginning, while there is no connection to be had.
func TestSubscribeClosedAtOnce(t *testing.T) {
	redistest.NoLeak(t)
	c, ctx := server(t, false), within(t)
	first := c.Command(ctx, "SUBSCRIBE", "c")
	_, err := first.NextSubMessage()
	require.NoError(t, err)
	for i := range 2000 {
		p := c.Command(ctx, "SUBSCRIBE", "c")
		begun, ended := make(chan struct{}), make(chan error, 1)
		go func() {
			close(begun)
			_, err := p.NextSubMessage()
			ended <- err
		}()
		<-begun
		for range i % 100 {
			runtime.Gosched()
		}
		require.NoError(t, p.Close())
		require.EqualError(t, <-ended, "result closed")
	}
	require.NoError(t, first.Close())
	hundred(t, c)
}

// TestSubscribeSlowly is a reader that does not keep up: nobody else waits for it, and in the end it is given up.
func TestSubscribeSlowly(t *testing.T) {
	redistest.NoLeak(t)
	c, ctx := server(t, false), within(t)
	p := c.Command(ctx, "SUBSCRIBE", "c")
	_, err := p.NextSubMessage()
	require.NoError(t, err)
	message := strings.Repeat("x", 1<<20)
	for i := range 20 {
		require.NoError(t, c.Command(ctx, "PUBLISH", "c", fmt.Sprint(i, message)).Close())
	}
	hundred(t, c)
	for i := range 20 {
		m, err := p.NextSubMessage()
		require.NoError(t, err)
		require.Equal(t, fmt.Sprint(i, message), m.Payload)
	}
	for range 100 {
		require.NoError(t, c.Command(ctx, "PUBLISH", "c", message).Close())
	}
	for err == nil {
		_, err = p.NextSubMessage()
	}
	require.ErrorContains(t, err, "waiting to be read")
	require.NoError(t, p.Close())
	hundred(t, c)
}
