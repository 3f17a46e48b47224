package wire

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
)

// answer returns a Fake that answers GET with the reply.
func answer(t *testing.T, reply string) *redistest.Fake {
	return redistest.NewFake(t, func(c *redistest.FakeConn, cmd []string) {
		if cmd[0] != "GET" {
			echo(c, cmd)
			return
		}
		c.Write(reply)
	})
}

func TestCopy(t *testing.T) { testCopy(t) }

// withLines makes the connections of a client Lines.
func withLines(o *rueidis.ClientOption) {
	o.DialCtxFn = func(ctx context.Context, addr string, d *net.Dialer, _ *tls.Config) (net.Conn, error) {
		conn, err := d.DialContext(ctx, "tcp", addr)
		if err != nil {
			return nil, err
		}
		return NewLine(conn, time.Minute), nil
	}
}

// Copy through Lines, and past them: once there are any, others' Copy begins with a PING.
func TestCopyWithLines(t *testing.T) {
	t.Run("through them", func(t *testing.T) { testCopy(t, withLines) })
	t.Run("past them", func(t *testing.T) { testCopy(t) })
	t.Run("commands that only read", func(t *testing.T) {
		f := answer(t, redistest.Bulk("hello"))
		c := newFakeClient(t, f, withLines)
		var b bytes.Buffer
		_, err := Copy(context.Background(), c, c.B().Get().Key("k").Build(), &b, 0)
		require.NoError(t, err)
		require.Equal(t, "hello", b.String())
		echoes(t, c)
		for _, cmd := range f.AllCommands() {
			require.NotContains(t, cmd, alone, "it stays here")
		}
	})
	t.Run("what the opening may be answered with", func(t *testing.T) {
		for _, reply := range []string{"-LOADING not yet\r\n", "+PONG\r\n", "$5\r\nhello\r\n", "$17\r\n" + strings.Repeat("x", 17) + "\r\n", "_\r\n"} {
			f := redistest.NewFake(t, func(c *redistest.FakeConn, cmd []string) {
				switch {
				case cmd[0] == "PING" && cmd[len(cmd)-1] == alone:
					c.Write(reply)
				case cmd[0] == "GET":
					c.Write(redistest.Bulk("hello"))
				case cmd[0] == "ECHO":
					echo(c, cmd)
				default:
					c.BuiltIn(cmd)
				}
			}, redistest.Intercept("PING"))
			c := newFakeClient(t, f)
			n, err := Copy(context.Background(), c, arbitrary(c, "GET", "k"), io.Discard, 0)
			require.Error(t, err, reply)
			require.Zero(t, n, reply)
			echoes(t, c)
		}
	})
}

func testCopy(t *testing.T, adjust ...func(*rueidis.ClientOption)) {
	chunked := "$?\r\n;5\r\nhello\r\n;6\r\n world\r\n;0\r\n"
	for _, row := range []struct {
		name, reply, want string
		err               error
	}{
		{"a string", redistest.Bulk("hello"), "hello", nil},
		{"an empty string", "$0\r\n\r\n", "", nil},
		{"a null", "$-1\r\n", "", rueidis.Nil},
		{"a null of RESP3", "_\r\n", "", rueidis.Nil},
		{"larger than the buffers", redistest.Bulk(strings.Repeat("$6\r\nFORGED\r\n", 200000)), strings.Repeat("$6\r\nFORGED\r\n", 200000), nil},
		{"a line", "+hello\r\n", "hello", nil},
		{"a number", ":42\r\n", "42", nil},
		{"chunks", chunked, "hello world", nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			redistest.NoLeak(t)
			f := answer(t, row.reply)
			c := newFakeClient(t, f, adjust...)
			for range 3 {
				var b bytes.Buffer
				n, err := Copy(context.Background(), c, arbitrary(c, "GET", "k"), &b, 0)
				require.Equal(t, row.err, err, "unwrapped")
				require.Equal(t, row.want, b.String())
				require.EqualValues(t, len(row.want), n)
				echoes(t, c)
			}
			require.Equal(t, 2, f.Conns(), "the connection was kept")
		})
	}
	t.Run("an error of the server", func(t *testing.T) {
		c := newFakeClient(t, answer(t, "-WRONGTYPE no\r\n"), adjust...)
		_, err := Copy(context.Background(), c, arbitrary(c, "GET", "k"), io.Discard, 0)
		require.IsType(t, (*rueidis.RedisError)(nil), err)
		echoes(t, c)
	})
	t.Run("a context that is done", func(t *testing.T) {
		c := newFakeClient(t, answer(t, "$1\r\nx\r\n"), adjust...)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, err := Copy(ctx, c, arbitrary(c, "GET", "k"), io.Discard, 0)
		require.ErrorIs(t, err, context.Canceled)
		echoes(t, c)
	})
}

type sink struct {
	take int // bytes before it fails
	fail func(n int) (int, error)
	got  []byte
}

func (s *sink) Write(p []byte) (int, error) {
	if n := s.take - len(s.got); n < len(p) {
		s.got = append(s.got, p[:max(n, 0)]...)
		return s.fail(max(n, 0))
	}
	s.got = append(s.got, p...)
	return len(p), nil
}

// L1: whatever the writer does wrong, the next commands are right; the connection is kept if what is left is within the limit.
func TestCopyToFailing(t *testing.T) {
	full := errors.New("disk full")
	for _, size := range []int{30, 1000, 3 << 20} {
		value := strings.Repeat("$6\r\nFORGED\r\n", size/12+1)[:size]
		for _, row := range []struct {
			name string
			fail func(n int) (int, error)
			want error
		}{
			{"fails", func(n int) (int, error) { return n, full }, full},
			{"writes short", func(n int) (int, error) { return n, nil }, io.ErrShortWrite},
			{"lies high", func(int) (int, error) { return 1 << 30, nil }, nil},
			{"lies low", func(int) (int, error) { return -1, nil }, nil},
		} {
			for _, drain := range []int64{0, 100, 1 << 20, 8 << 20} {
				t.Run(fmt.Sprintf("size=%d/%s/drain=%d", size, row.name, drain), func(t *testing.T) {
					redistest.NoLeak(t)
					f := answer(t, redistest.Bulk(value))
					c := newFakeClient(t, f)
					s := &sink{take: 10, fail: row.fail}
					n, err := Copy(context.Background(), c, arbitrary(c, "GET", "k"), s, drain)
					var sinkErr *SinkError
					require.ErrorAs(t, err, &sinkErr)
					require.NotEmpty(t, err.Error())
					if row.want != nil {
						require.ErrorIs(t, err, row.want)
						require.EqualValues(t, 10, n)
					}
					require.Equal(t, value[:10], string(s.got))
					echoes(t, c)
					kept := f.Conns() == 2
					if int64(size) <= drain {
						require.True(t, kept, "all that is left is within the limit")
					}
					if int64(size) > drain+1<<20 {
						require.False(t, kept, "far more is left than the limit")
					}
				})
			}
		}
	}
}

// A writer that panics or ends its goroutine leaves no connection behind that is out of step.
func TestCopyPanic(t *testing.T) {
	for _, end := range []struct {
		name string
		do   func()
	}{{"panic", func() { panic("no") }}, {"Goexit", runtime.Goexit}} {
		t.Run(end.name, func(t *testing.T) {
			redistest.NoLeak(t)
			f := answer(t, redistest.Bulk(strings.Repeat("x", 1<<20)))
			c := newFakeClient(t, f)
			for range 5 {
				done := make(chan struct{})
				go func() {
					defer close(done)
					defer func() { _ = recover() }()
					_, _ = Copy(context.Background(), c, arbitrary(c, "GET", "k"), &sink{fail: func(int) (int, error) { end.do(); return 0, nil }}, 1<<30)
				}()
				<-done
				echoes(t, c)
			}
		})
	}
}

// Cut or stalled anywhere, the error says so and w has an exact prefix.
func TestCopyCut(t *testing.T) {
	reply := redistest.Bulk("0123456789")
	for cut := range len(reply) {
		f := redistest.NewFake(t, func(c *redistest.FakeConn, cmd []string) {
			if cmd[0] != "GET" {
				echo(c, cmd)
				return
			}
			c.Write(reply[:cut])
			c.Cut()
		})
		c := newFakeClient(t, f)
		var b bytes.Buffer
		n, err := Copy(context.Background(), c, arbitrary(c, "GET", "k"), &b, 100)
		require.Error(t, err, "cut at %d", cut)
		require.True(t, strings.HasPrefix("0123456789", b.String()))
		require.EqualValues(t, b.Len(), n)
		echoes(t, c)
		f.Close()
	}
}

func TestCopyTime(t *testing.T) {
	stalled := func(t *testing.T) rueidis.Client {
		redistest.NoLeak(t)
		f := redistest.NewFake(t, func(c *redistest.FakeConn, cmd []string) {
			if cmd[0] != "GET" {
				echo(c, cmd)
				return
			}
			c.Write("$1000000\r\nhalf")
			if cmd[1] == "slow" {
				c.Pause(600 * time.Millisecond)
				c.Write(strings.Repeat("x", 999996) + "\r\n")
			}
		})
		return newFakeClient(t, f, func(o *rueidis.ClientOption) { o.ConnWriteTimeout = 300 * time.Millisecond })
	}
	t.Run("cancel", func(t *testing.T) {
		c := stalled(t)
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(100*time.Millisecond, cancel)
		begin := time.Now()
		n, err := Copy(ctx, c, arbitrary(c, "GET", "k"), io.Discard, 0)
		require.Error(t, err)
		require.Error(t, ctx.Err())
		require.EqualValues(t, 4, n)
		require.Less(t, time.Since(begin), 5*time.Second)
		echoes(t, c)
	})
	t.Run("cancelled before the wait", func(t *testing.T) {
		c := stalled(t)
		ctx, cancel := context.WithCancel(context.Background())
		_, err := Copy(ctx, c, arbitrary(c, "GET", "k"), &sink{take: 1, fail: func(int) (int, error) { cancel(); return 3, nil }}, 1<<30)
		require.Error(t, err)
		echoes(t, c)
	})
	t.Run("a value that takes longer than ConnWriteTimeout", func(t *testing.T) {
		c := stalled(t)
		n, err := Copy(context.Background(), c, arbitrary(c, "GET", "slow"), io.Discard, 0)
		require.NoError(t, err)
		require.EqualValues(t, 1000000, n)
		echoes(t, c)
	})
}

// What rueidis' parser makes of hostile headers in place of a string comes back as an error, panics included.
func TestCopyHostile(t *testing.T) {
	for _, reply := range []string{"*-2\r\n", "*9223372036854775807\r\n", "$-5\r\nab", "$-2\r\n", "x\r\n"} {
		redistest.NoLeak(t)
		f := answer(t, reply)
		c := newFakeClient(t, f, func(o *rueidis.ClientOption) { o.ConnWriteTimeout = 500 * time.Millisecond })
		_, err := Copy(context.Background(), c, arbitrary(c, "GET", "k"), io.Discard, 0)
		require.Error(t, err, "%q", reply)
		echoes(t, c)
		f.Close()
	}
}

// A sink that panics on a line in place of a string costs nobody a wait.
func TestCopyLinePanic(t *testing.T) {
	redistest.NoLeak(t)
	c := newFakeClient(t, answer(t, "+line\r\n"))
	begin := time.Now()
	require.Panics(t, func() {
		_, _ = Copy(context.Background(), c, arbitrary(c, "GET", "k"), &sink{fail: func(int) (int, error) { panic("no") }}, 0)
	})
	require.Less(t, time.Since(begin), 5*time.Second)
	echoes(t, c)
}
