package rueidisstream_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

// Replies are given up after any number of replies and elements.
func TestAdversary_AbandonAnywhere(t *testing.T) {
	srv := redistest.Shared(t)
	advFill(t, srv, "set", 30)
	srv.Do(t, "SET", "value", strings.Repeat("v", 300_000))
	advProtocols(t, func(t *testing.T, speak func(*rueidis.ClientOption)) {
		redistest.NoLeak(t)
		c := advClient(t, srv.Addr, speak)
		for _, drain := range []int{0, 1, 100, 1000, 256 << 10, 1 << 20} {
			for replies := range 7 {
				for elements := range 4 {
					rs := rueidisstream.DoMulti(advCtx(t), c, []rueidis.Completed{
						advCmd(c, "SMEMBERS", "set"), advCmd(c, "GET", "none"), advCmd(c, "LRANGE", "value", "0", "1"),
						advCmd(c, "GET", "value"), advCmd(c, "SMEMBERS", "set"),
					}, rueidisstream.WithDrain(drain))
					for range replies {
						r, err := rs.Next()
						for range elements {
							if err == nil {
								_, err = r.Next()
							}
						}
					}
					require.NoError(t, rs.Close())
					advEcho(t, c, 1)
				}
			}
		}
	})
}

// Ordinary oddities: each is what client.Do makes of it, and the connection lives.
func TestAdversary_Oddities(t *testing.T) {
	srv := redistest.Shared(t)
	redistest.NoLeak(t)
	c := advClient(t, srv.Addr)
	ctx := advCtx(t)
	before := advConnID(t, c)

	var none rueidis.Completed
	_, err := rueidisstream.Do(ctx, c, none)
	require.ErrorIs(t, err, rueidisstream.ErrReused)
	for _, words := range [][]string{{"PING"}, {"DBSIZE"}, {"TIME"}, {"COMMAND"}, {"INFO"}, {"EVALSHA", strings.Repeat("f", 40), "0"}, {"EXEC"}, {"GET"}, {"NOSUCH"}} {
		want := c.Do(ctx, advWrite(c, words...)).Error()
		_, err := advCollect(t, rueidisstream.Values(ctx, c, advWrite(c, words...)))
		require.Equal(t, want == nil, err == nil, "%v: %v, %v", words, want, err)
		if want != nil {
			require.Equal(t, want.Error(), err.Error())
		}
	}
	key := strings.Repeat("k", 8<<20)
	require.NoError(t, c.Do(ctx, advWrite(c, "SET", key, "huge")).Error())
	var b strings.Builder
	_, err = rueidisstream.Copy(ctx, c, advCmd(c, "GET", key), &b)
	require.NoError(t, err)
	require.Equal(t, "huge", b.String())

	rs := rueidisstream.DoMulti(ctx, c, []rueidis.Completed{
		advWrite(c, "MULTI"), advWrite(c, "SET", "s", "x"), advWrite(c, "LPUSH", "s", "y"), advWrite(c, "GET", "s"), advWrite(c, "EXEC"), advWrite(c, "ECHO", "z"),
	})
	var got []string
	for r, err := range rs.All() {
		require.NoError(t, err)
		for v, err := range r.Values() {
			require.NoError(t, err)
			got = append(got, fmt.Sprintf("%.5s %t", v.Kind(), v.Error() != nil))
		}
	}
	require.Equal(t, "simpl false simpl false simpl false simpl false simpl false simpl true bulk  false bulk  false", strings.Join(got, " "))

	past, cancel := context.WithDeadline(ctx, time.Now().Add(-time.Hour))
	defer cancel()
	_, err = rueidisstream.Do(past, c, advCmd(c, "PING"))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	_, err = rueidisstream.DoMulti(past, c, []rueidis.Completed{advCmd(c, "PING")}).Next()
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Equal(t, before, advConnID(t, c))
}

// 10,000 commands in one DoMulti, and in one transaction, keep their order.
func TestAdversary_TenThousandCommands(t *testing.T) {
	srv := redistest.Shared(t)
	redistest.NoLeak(t)
	c := advClient(t, srv.Addr)
	echo := func(n int) (cmds []rueidis.Completed) {
		for i := range n {
			cmds = append(cmds, advWrite(c, "ECHO", fmt.Sprint(i)))
		}
		return cmds
	}
	for i, s := range advReplies(t, rueidisstream.DoMulti(advCtx(t), c, echo(10_000))) {
		require.Equal(t, fmt.Sprint(i), s)
	}
	cmds := append(append([]rueidis.Completed{advWrite(c, "MULTI")}, echo(10_000)...), advWrite(c, "EXEC"))
	replies, last := 0, 0
	for r, err := range rueidisstream.DoMulti(advCtx(t), c, cmds).All() {
		require.NoError(t, err)
		if replies++; r.Header().Kind.IsAggregate() {
			for v, err := range r.Values() {
				require.NoError(t, err)
				require.Equal(t, fmt.Sprint(last), v.String())
				last++
			}
		}
	}
	require.Equal(t, 10_002, replies)
	require.Equal(t, 10_000, last)
	advEcho(t, c, 100)
}

// advHooked is a client in a wrapper, as rueidishook makes it.
type advHooked struct {
	rueidis.Client
	streams int
}

func (h *advHooked) DoStream(ctx context.Context, cmd rueidis.Completed) rueidis.RedisResultStream {
	h.streams++
	return h.Client.DoStream(ctx, cmd)
}

func (h *advHooked) DoMultiStream(ctx context.Context, multi ...rueidis.Completed) rueidis.MultiRedisResultStream {
	h.streams++
	return h.Client.DoMultiStream(ctx, multi...)
}

// advMock is a client that answers nothing, as a mock does.
type advMock struct{ rueidis.Client }

func (advMock) DoMultiStream(context.Context, ...rueidis.Completed) (s rueidis.MultiRedisResultStream) {
	return s
}

// A wrapped client is as good as its own, a closed one is an error, and one that hands out nothing is unsupported.
func TestAdversary_OtherClients(t *testing.T) {
	srv := redistest.Shared(t)
	advFill(t, srv, "set", 200_000)
	redistest.NoLeak(t)
	c := advClient(t, srv.Addr)
	h := &advHooked{Client: c}
	advEcho(t, h, 100)
	require.Equal(t, 100, h.streams)
	_, err := rueidisstream.Do(advCtx(t), advMock{c}, advCmd(c, "PING"))
	require.ErrorIs(t, err, rueidisstream.ErrUnsupported)

	n := 0
	for v, err := range rueidisstream.Values(advCtx(t), c, advCmd(c, "SMEMBERS", "set")) {
		require.NoError(t, err)
		require.Len(t, v.Bytes(), 16)
		if n++; n == 10 {
			c.Close()
		}
	}
	require.Equal(t, 200_000, n, "a stream that was open when the client was closed")
	_, err = rueidisstream.Do(advCtx(t), c, advCmd(c, "PING"))
	require.ErrorIs(t, err, rueidis.ErrClosing)
	_, err = rueidisstream.Copy(advCtx(t), c, advCmd(c, "GET", "x"), io.Discard)
	require.ErrorIs(t, err, rueidis.ErrClosing)
}

// Several replies one behind the other on one *bufio.Reader, each closed at another place.
func TestAdversary_NewReaderStandsBehindReply(t *testing.T) {
	br := bufio.NewReaderSize(strings.NewReader(strings.Repeat("*2\r\n$3\r\nabc\r\n*1\r\n:1\r\n", 50)+"+end\r\n"), 16)
	for i := range 50 {
		r := rueidisstream.NewReader(br)
		for range i % 5 {
			if _, err := r.Next(); err != nil {
				break
			}
		}
		require.NoError(t, r.Close())
	}
	v, err := rueidisstream.NewReader(br).Value()
	require.NoError(t, err)
	require.Equal(t, "end", v.String())
}
