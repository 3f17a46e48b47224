package rueidisstream_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

// advTime is the bound of what has to be done some time: generous, for machines that are busy.
const advTime = 30 * time.Second

// advMoment lets what was written arrive.
const advMoment = 50 * time.Millisecond

// advCtx returns a context in which nothing hangs for ever.
func advCtx(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), advTime)
	t.Cleanup(cancel)
	return ctx
}

// advPool sets the number of connections for streams.
func advPool(n int) func(*rueidis.ClientOption) {
	return func(o *rueidis.ClientOption) { o.BlockingPoolSize = n }
}

// advClient returns a client of the server or fake at addr with a pool of one, closed when the test ends.
func advClient(t testing.TB, addr string, adjust ...func(*rueidis.ClientOption)) rueidis.Client {
	t.Helper()
	opt := rueidis.ClientOption{InitAddress: []string{addr}, ForceSingleClient: true, DisableCache: true, BlockingPoolSize: 1}
	for _, a := range adjust {
		a(&opt)
	}
	c, err := rueidis.NewClient(opt)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

// advProtocols runs f under RESP2 and RESP3; adjust makes a client speak it.
func advProtocols(t *testing.T, f func(t *testing.T, adjust func(*rueidis.ClientOption))) {
	for _, resp2 := range []bool{false, true} {
		t.Run(map[bool]string{false: "RESP3", true: "RESP2"}[resp2], func(t *testing.T) {
			f(t, func(o *rueidis.ClientOption) { o.AlwaysRESP2, o.DisableCache = resp2, true })
		})
	}
}

// advCmd makes a command that may be sent again.
func advCmd(c rueidis.Client, words ...string) rueidis.Completed {
	return c.B().Arbitrary(words...).ReadOnly()
}

// advWrite makes a command that may not be sent again.
func advWrite(c rueidis.Client, words ...string) rueidis.Completed {
	return c.B().Arbitrary(words...).Build()
}

var advWords atomic.Int64

// advEcho checks that n ECHOs of unique words come back right, by the several ways in turn.
func advEcho(t testing.TB, c rueidis.Client, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), advTime)
	defer cancel()
	for i := range n {
		word := fmt.Sprintf("word:%d", advWords.Add(1))
		switch i % 4 {
		case 0:
			var b strings.Builder
			_, err := rueidisstream.Copy(ctx, c, advWrite(c, "ECHO", word), &b)
			require.NoError(t, err)
			require.Equal(t, word, b.String())
		case 1:
			r, err := rueidisstream.Do(ctx, c, advWrite(c, "ECHO", word))
			require.NoError(t, err)
			b, err := io.ReadAll(r)
			require.NoError(t, err)
			require.Equal(t, word, string(b))
			require.NoError(t, r.Close())
		case 2:
			seen := 0
			for v, err := range rueidisstream.Values(ctx, c, advWrite(c, "ECHO", word)) {
				require.NoError(t, err)
				require.Equal(t, word, v.String())
				seen++
			}
			require.Equal(t, 1, seen)
		case 3:
			rs := rueidisstream.DoMulti(ctx, c, []rueidis.Completed{advWrite(c, "ECHO", word), advWrite(c, "ECHO", word+"!")})
			require.Equal(t, []string{word, word + "!"}, advReplies(t, rs))
		}
	}
}

// advReplies returns the replies, which are strings, and errors as "error: ...".
func advReplies(t testing.TB, rs *rueidisstream.Replies) (got []string) {
	t.Helper()
	for r, err := range rs.All() {
		if err != nil {
			require.Nil(t, r)
			got = append(got, "error: "+err.Error())
			continue
		}
		require.NotNil(t, r)
		v, err := r.Value()
		require.NoError(t, err)
		got = append(got, v.String())
	}
	return got
}

// advFill makes the set key of n members of 16 bytes by a script, on the server.
func advFill(t testing.TB, s *redistest.Server, key string, n int) {
	t.Helper()
	script := `for i = 1, tonumber(ARGV[1]) do redis.call('SADD', KEYS[1], string.format('member:%09d', i)) end return 'done'`
	require.Equal(t, "done", s.Do(t, "EVAL", script, "1", key, fmt.Sprint(n)))
}

// advCollect reads all of an iterator; an error ends it and has to be the last.
func advCollect(t testing.TB, seq func(yield func(rueidisstream.Value, error) bool)) (got []string, err error) {
	t.Helper()
	for v, e := range seq {
		require.NoError(t, err, "something comes after the error")
		if e != nil {
			err = e
			continue
		}
		got = append(got, v.String())
	}
	return got, err
}

// advPairs reads all of an iterator of pairs.
func advPairs(t testing.TB, seq func(yield func(rueidisstream.Pair, error) bool)) (got []string, err error) {
	t.Helper()
	for p, e := range seq {
		require.NoError(t, err, "something comes after the error")
		if e != nil {
			err = e
			continue
		}
		got = append(got, p.Key.String()+"="+p.Value.String())
	}
	return got, err
}

// advEnds fails the test at once if f does not end in bounded time. f must not end the test itself.
func advEnds(t testing.TB, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(advTime):
		require.FailNow(t, "hangs: "+what)
	}
}

// advCounter makes a client count the bytes that it reads.
func advCounter(n *atomic.Int64) func(*rueidis.ClientOption) {
	return func(o *rueidis.ClientOption) {
		o.DialCtxFn = func(ctx context.Context, addr string, d *net.Dialer, _ *tls.Config) (net.Conn, error) {
			conn, err := d.DialContext(ctx, "tcp", addr)
			if err != nil {
				return nil, err
			}
			return &advCounting{conn, n}, nil
		}
	}
}

type advCounting struct {
	net.Conn
	n *atomic.Int64
}

func (c *advCounting) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.n.Add(int64(n))
	return n, err
}

// advWriter is a function as a writer.
type advWriter func([]byte) (int, error)

func (f advWriter) Write(b []byte) (int, error) { return f(b) }

// advEchoOr is a fake server that knows ECHO, and has the one reply to all else.
func advEchoOr(reply string) redistest.Handler {
	return func(c *redistest.FakeConn, cmd []string) {
		if cmd[0] == "ECHO" {
			c.Write(redistest.Bulk(cmd[1]))
			return
		}
		c.Write(reply)
	}
}

// advConnID returns the server's number of the connection in a pool of one.
func advConnID(t testing.TB, c rueidis.Client) (id int64) {
	t.Helper()
	for v, err := range rueidisstream.Values(advCtx(t), c, advCmd(c, "CLIENT", "ID")) {
		require.NoError(t, err)
		id, err = v.AsInt64()
		require.NoError(t, err)
	}
	return id
}

// advPlaces checks that all n places of the pool can be taken at the same time: none is lost, or holds a dead connection.
func advPlaces(t testing.TB, c rueidis.Client, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for i := range n {
		r, err := rueidisstream.Do(ctx, c, advCmd(c, "ECHO", "place"))
		require.NoError(t, err, "only %d of %d places in the pool are left", i, n)
		defer r.Close()
	}
}
