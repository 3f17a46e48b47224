package wire

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
)

// newFakeClient returns a client of f with a pool of one.
func newFakeClient(t testing.TB, f *redistest.Fake, adjust ...func(*rueidis.ClientOption)) rueidis.Client {
	opt := rueidis.ClientOption{
		InitAddress: []string{f.Addr()}, ForceSingleClient: true, DisableCache: true, BlockingPoolSize: 1, DisableRetry: true,
	}
	for _, a := range adjust {
		a(&opt)
	}
	c, err := rueidis.NewClient(opt)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

func arbitrary(c rueidis.Client, words ...string) rueidis.Completed {
	return c.B().Arbitrary(words...).Build()
}

// echoes checks that the client's pool is whole: 100 commands on its one connection give their own replies.
func echoes(t testing.TB, c rueidis.Client) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for i := range 100 {
		want := fmt.Sprintf("word %d", i)
		var b strings.Builder
		s := c.DoStream(ctx, arbitrary(c, "ECHO", want))
		_, err := s.WriteTo(&b)
		require.NoError(t, err)
		require.Equal(t, want, b.String())
	}
}

func echo(c *redistest.FakeConn, cmd []string) {
	switch cmd[0] {
	case "ECHO":
		c.Write(redistest.Bulk(cmd[1]))
	case "LINES":
		c.Write("+" + strings.Join(cmd[1:], "\r\n+") + "\r\n")
	case "FORGED":
		c.Write("$60\r\n" + strings.Repeat("$6\r\nFORGED\r\n", 5) + "\r\n")
	case "HALF":
		c.Write("$1000000\r\n" + strings.Repeat("-", 500000))
	case "NOTHING":
	}
}

func readLine(t testing.TB, br *bufio.Reader, want string) {
	t.Helper()
	got, err := br.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, want+"\r\n", got)
}

func TestBracket(t *testing.T) {
	for _, mode := range []Mode{Primary, ReadOnly} {
		for _, resp2 := range []bool{false, true} {
			for _, k := range []int{1, 2, 3, 20, 1000, MaxCommands} {
				t.Run(fmt.Sprintf("mode=%d/resp2=%v/commands=%d", mode, resp2, k), func(t *testing.T) {
					redistest.NoLeak(t)
					f := redistest.NewFake(t, echo)
					c := newFakeClient(t, f, func(o *rueidis.ClientOption) { o.AlwaysRESP2 = resp2 })
					for range 3 {
						cmds := make([]rueidis.Completed, k)
						for i := range cmds {
							cmds[i] = arbitrary(c, "LINES", fmt.Sprint(i))
						}
						w, err := Open(context.Background(), c, cmds, mode)
						require.NoError(t, err)
						for i := range k {
							readLine(t, w.Reader(), fmt.Sprintf("+%d", i))
						}
						require.NoError(t, w.Close())
						echoes(t, c)
					}
					require.Equal(t, 2, f.Conns(), "one connection beside the shared one, kept")
				})
			}
		}
	}
}

// A bracket on a Line is there before the server's first byte, and what the server says to the opening is the first reply.
func TestBracketOnALine(t *testing.T) {
	redistest.NoLeak(t)
	f := redistest.NewFake(t, echo)
	c := newFakeClient(t, f, withLines)
	for _, blocking := range []bool{false, true} {
		cmd := arbitrary(c, "LINES", "1")
		if blocking {
			cmd = c.B().Arbitrary("LINES", "1").Blocking()
		}
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		w, err := Open(ctx, c, []rueidis.Completed{cmd}, Primary)
		require.NoError(t, err)
		require.Equal(t, opening, w.Opening())
		require.NoError(t, w.Wait()())
		require.Equal(t, blocking, w.guard.line.patient)
		readLine(t, w.Reader(), fmt.Sprintf("$%d", len(opening)))
		readLine(t, w.Reader(), opening)
		readLine(t, w.Reader(), "+1")
		w.Between(false)
		require.False(t, w.guard.line.patient)
		require.NoError(t, w.Close())
		echoes(t, c)
	}
	ctx, cancel := context.WithCancel(context.Background())
	w, err := Open(ctx, c, []rueidis.Completed{arbitrary(c, "NOTHING")}, Primary)
	require.NoError(t, err)
	readLine(t, w.Reader(), fmt.Sprintf("$%d", len(opening)))
	readLine(t, w.Reader(), opening)
	for range strings.Split(bulk(closing(1)), "\r\n")[1:] { // the closing reply: there is none to the command
		_, err := w.Reader().ReadString('\n')
		require.NoError(t, err)
	}
	time.AfterFunc(10*time.Millisecond, cancel)
	_, err = w.Reader().ReadByte()
	require.Error(t, err)
	w.Abandon()
	echoes(t, c)
	require.Equal(t, 3, f.Conns(), "the last one was given up")
}

func TestOpenRefuses(t *testing.T) {
	f := redistest.NewFake(t, echo)
	c := newFakeClient(t, f)
	_, err := Open(context.Background(), c, nil, Primary)
	require.Error(t, err)
	_, err = Open(context.Background(), c, make([]rueidis.Completed, MaxCommands+1), Primary)
	require.Error(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = Open(ctx, c, []rueidis.Completed{arbitrary(c, "LINES", "1")}, Primary)
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, f.Commands())
	echoes(t, c)
}

// Whatever is unread when a bracket is given up, the next commands are right, and nothing is waited for.
func TestAbandon(t *testing.T) {
	for _, cmd := range []string{"LINES", "FORGED", "HALF", "NOTHING"} {
		for _, read := range []int{0, 1, 7, 9} {
			if cmd == "NOTHING" && read > 0 || cmd == "LINES" && read > 4 {
				continue
			}
			t.Run(fmt.Sprintf("%s/read=%d", cmd, read), func(t *testing.T) {
				redistest.NoLeak(t)
				f := redistest.NewFake(t, echo)
				c := newFakeClient(t, f)
				for range 5 {
					w, err := Open(context.Background(), c, []rueidis.Completed{arbitrary(c, cmd, "a"), arbitrary(c, "LINES", "b")}, Primary)
					require.NoError(t, err)
					_, err = io.ReadFull(w.Reader(), make([]byte, read))
					require.NoError(t, err)
					begin := time.Now()
					w.Abandon()
					require.Less(t, time.Since(begin), 500*time.Millisecond)
					echoes(t, c)
				}
				require.Equal(t, 7, f.Conns(), "each time the connection was closed")
			})
		}
	}
}

// A reply too much, one too few, or other bytes than the proof: the connection goes, with an error.
func TestOutOfStep(t *testing.T) {
	for _, row := range []struct {
		name, lines string
		reply       string // to the closing PING; "" is the right one
	}{
		{"a reply too much", "two", ""},
		{"queued", "one", "+QUEUED\r\n"},
		{"another length", "one", "$5\r\n_\r\n_x\r\n"},
		{"another payload", "one", "$4\r\n_\r\nx\r\n"},
		{"an array", "one", "*1\r\n$4\r\n_\r\n_\r\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := redistest.NewFake(t, func(c *redistest.FakeConn, cmd []string) {
				switch {
				case cmd[0] == "PING" && row.reply != "" && len(cmd) == 2 && strings.HasPrefix(cmd[1], "_"):
					c.Write(row.reply)
				case cmd[0] == "PING":
					c.BuiltIn(cmd)
				default:
					if row.lines == "two" && cmd[0] == "LINES" {
						c.Write("+0\r\n")
					}
					echo(c, cmd)
				}
			}, redistest.Intercept("PING"))
			c := newFakeClient(t, f)
			w, err := Open(context.Background(), c, []rueidis.Completed{arbitrary(c, "LINES", "0")}, Primary)
			require.NoError(t, err)
			readLine(t, w.Reader(), "+0")
			require.ErrorIs(t, w.Close(), ErrOutOfStep)
			echoes(t, c)
			require.Equal(t, 3, f.Conns())
		})
	}
}

// The opening PING may be answered by something else than its message.
func TestOpening(t *testing.T) {
	for _, row := range []struct {
		name, reply string
		want        error
	}{
		{"a line", "+PONG\r\n", ErrUnsupported},
		{"another string", "$20\r\n01234567890123456789\r\n", ErrUnsupported},
		{"an error", "-NOPERM no ping\r\n", nil},
		{"a null", "$-1\r\n", rueidis.Nil},
		{"a number", ":1\r\n", ErrUnsupported},
		{"an array", "*2\r\n:1\r\n:2\r\n", nil},
		{"no RESP", "HTTP/1.1 400\r\n\r\n", nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			redistest.NoLeak(t)
			f := redistest.NewFake(t, func(c *redistest.FakeConn, cmd []string) {
				if cmd[0] == "PING" && len(cmd) == 2 {
					c.Write(row.reply)
					return
				}
				if cmd[0] == "PING" {
					c.BuiltIn(cmd)
					return
				}
				echo(c, cmd)
			}, redistest.Intercept("PING"))
			c := newFakeClient(t, f)
			for range 5 {
				_, err := Open(context.Background(), c, []rueidis.Completed{arbitrary(c, "FORGED"), arbitrary(c, "LINES", "0")}, Primary)
				require.Error(t, err)
				if row.want != nil {
					require.ErrorIs(t, err, row.want)
				}
				echoes(t, c)
			}
		})
	}
}

// Cut at each byte of the exchange, Open, reading or Close fails, and the pool is whole.
func TestCut(t *testing.T) {
	const exchange = len("$1\r\nx\r\n+a\r\n+b\r\n$7\r\n_\r\n_\r\n_\r\n")
	for cut := range exchange {
		var first bool
		f := redistest.NewFake(t, func(c *redistest.FakeConn, cmd []string) {
			if cmd[0] == "PING" && len(cmd) == 2 && cmd[1] == opening && !first {
				first = true
				c.Write("$1\r\nx\r\n+a\r\n+b\r\n$7\r\n_\r\n_\r\n_\r\n"[:cut])
				c.Cut()
				return
			}
			if cmd[0] == "PING" {
				c.BuiltIn(cmd)
				return
			}
			echo(c, cmd)
		}, redistest.Intercept("PING"))
		c := newFakeClient(t, f)
		w, err := Open(context.Background(), c, []rueidis.Completed{arbitrary(c, "LINES", "a"), arbitrary(c, "LINES", "b")}, Primary)
		if err == nil {
			if _, err = io.ReadFull(w.Reader(), make([]byte, len("+a\r\n+b\r\n"))); err == nil {
				err = w.Close()
				require.NotErrorIs(t, err, io.EOF)
			} else {
				w.Abandon()
			}
		}
		require.Error(t, err, "cut at %d", cut)
		echoes(t, c)
		f.Close()
	}
}

func TestWait(t *testing.T) {
	open := func(t *testing.T, ctx context.Context) (*Conn, rueidis.Client, *redistest.Fake) {
		redistest.NoLeak(t)
		f := redistest.NewFake(t, echo)
		c := newFakeClient(t, f, func(o *rueidis.ClientOption) { o.ConnWriteTimeout = 200 * time.Millisecond })
		w, err := Open(ctx, c, []rueidis.Completed{arbitrary(c, "NOTHING")}, ReadOnly)
		require.NoError(t, err)
		_, err = io.ReadFull(w.Reader(), make([]byte, len("$4\r\n_\r\n_\r\n"))) // the closing reply
		require.NoError(t, err)
		return w, c, f
	}
	t.Run("cancel interrupts a read", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		w, c, _ := open(t, ctx)
		require.NoError(t, w.Wait()())
		time.AfterFunc(50*time.Millisecond, cancel)
		begin := time.Now()
		_, err := w.Reader().ReadByte()
		require.Error(t, err)
		require.Less(t, time.Since(begin), 10*time.Second)
		require.ErrorIs(t, w.Wait()(), context.Canceled)
		w.Abandon()
		echoes(t, c)
	})
	t.Run("a deadline interrupts a read", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.Background(), 400*time.Millisecond)
		defer cancel()
		w, c, _ := open(t, ctx)
		require.NoError(t, w.Wait()())
		begin := time.Now()
		_, err := w.Reader().ReadByte()
		require.Error(t, err)
		require.Greater(t, time.Since(begin), 250*time.Millisecond, "later than ConnWriteTimeout")
		w.Abandon()
		echoes(t, c)
	})
	t.Run("ConnWriteTimeout does not go on", func(t *testing.T) {
		w, c, f := open(t, context.Background())
		require.NoError(t, w.Wait()())
		time.AfterFunc(500*time.Millisecond, f.CutAll)
		_, err := w.Reader().ReadByte()
		require.ErrorIs(t, err, io.EOF, "not a timeout")
		w.Abandon()
		echoes(t, c)
	})
	t.Run("a connection given back is left alone", func(t *testing.T) {
		redistest.NoLeak(t)
		f := redistest.NewFake(t, func(c *redistest.FakeConn, cmd []string) {
			if cmd[0] == "SLOW" {
				c.Pause(20 * time.Millisecond)
				c.Write("+slow\r\n")
				return
			}
			echo(c, cmd)
		})
		c := newFakeClient(t, f)
		for range 20 {
			ctx, cancel := context.WithCancel(context.Background())
			w, err := Open(ctx, c, []rueidis.Completed{arbitrary(c, "SLOW")}, Primary)
			require.NoError(t, err)
			if w.Reader().Buffered() == 0 {
				require.NoError(t, w.Wait()())
			}
			readLine(t, w.Reader(), "+slow")
			go cancel()
			if err := w.Close(); err != nil {
				require.ErrorIs(t, ctx.Err(), context.Canceled)
			}
			cancel()
			echoes(t, c)
		}
	})
}

func TestConnOf(t *testing.T) {
	t.Run("no connection", func(t *testing.T) {
		conn, err := connOf(bufio.NewReader(struct{ io.Reader }{strings.NewReader("abc")}))
		require.NoError(t, err)
		require.Nil(t, conn)
	})
	t.Run("something buffered", func(t *testing.T) {
		br := bufio.NewReader(strings.NewReader("abc"))
		_, _ = br.Peek(1)
		conn, err := connOf(br)
		require.NoError(t, err)
		require.Nil(t, conn)
		require.Equal(t, 3, br.Buffered())
	})
	t.Run("a source that writes by itself is noticed", func(t *testing.T) {
		_, err := connOf(bufio.NewReader(strings.NewReader("abc")))
		require.Error(t, err)
	})
}

func TestRedisError(t *testing.T) {
	f := redistest.NewFake(t, func(c *redistest.FakeConn, cmd []string) { c.Write("-" + cmd[1] + "\r\n") })
	c := newFakeClient(t, f)
	for _, text := range []string{
		"ERR no", "ERR ", "ERR", "WRONGTYPE Operation against a key", "MOVED 3999 127.0.0.1:6381", "ASK 1 [::1]:6381", "x", "",
		"NOSCRIPT No matching script", strings.Repeat("long ", 10000),
	} {
		want := c.Do(context.Background(), c.B().Arbitrary("FAIL", text).Build()).Error()
		got := RedisError(text)
		require.Equal(t, want.Error(), got.Error())
		var re *rueidis.RedisError
		require.True(t, errors.As(got, &re) && got == error(re), "a *rueidis.RedisError, unwrapped: %q", text)
		_, isErr := rueidis.IsRedisErr(got)
		require.True(t, isErr)
	}
}

// What is handed to our writers by something that is not rueidis as we know it is refused, and nothing is kept of it.
func TestForeignSource(t *testing.T) {
	for _, src := range []io.Reader{
		strings.NewReader("x"),
		&io.LimitedReader{R: strings.NewReader("x"), N: 1},
	} {
		c := new(Conn)
		_, err := (*opener)(c).ReadFrom(src)
		require.ErrorIs(t, err, ErrUnsupported)
		require.Nil(t, c.br)
		_, err = new(copier).ReadFrom(src)
		require.ErrorIs(t, err, ErrUnsupported)
	}
	_, err := breaker{}.ReadFrom(strings.NewReader("x"))
	require.Error(t, err)
	_, err = breaker{}.Write([]byte("x"))
	require.Error(t, err)
}

// Part of the closing reply is there, the rest does not come: the context still rules, and once it came all is as before.
func TestWaitBehindTheBuffered(t *testing.T) {
	redistest.NoLeak(t)
	for at := 1; at < len("$4\r\n_\r\n_\r\n"); at++ {
		var stall atomic.Bool
		stall.Store(true)
		f := redistest.NewFake(t, func(c *redistest.FakeConn, cmd []string) {
			switch {
			case cmd[0] != "PING":
				c.Write("+a\r\n")
			case len(cmd) == 2 && strings.HasPrefix(cmd[1], "_"):
				c.Write("$4\r\n_\r\n_\r\n"[:at])
				if stall.Load() {
					c.Block(nil)
				}
				c.Pause(20 * time.Millisecond)
				c.Write("$4\r\n_\r\n_\r\n"[at:])
			default:
				c.BuiltIn(cmd)
			}
		}, redistest.Intercept("PING"))
		c := newFakeClient(t, f)
		open := func(ctx context.Context) *Conn {
			w, err := Open(ctx, c, []rueidis.Completed{arbitrary(c, "LINES")}, Primary)
			require.NoError(t, err)
			readLine(t, w.Reader(), "+a")
			_, err = w.Reader().Peek(at)
			require.NoError(t, err)
			return w
		}
		ctx, cancel := context.WithCancel(context.Background())
		w := open(ctx)
		time.AfterFunc(20*time.Millisecond, cancel)
		require.Error(t, w.Close())
		stall.Store(false)
		conns := f.Conns()
		for range 3 {
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			require.NoError(t, open(ctx).Close(), "%d bytes at first", at)
			cancel()
		}
		require.Equal(t, conns+1, f.Conns(), "the connection is used again")
		f.Close()
	}
}

// A source that is no connection, or that reads before it looks at its writer, or a context that is done: the guard says so.
func TestGuard(t *testing.T) {
	done, cancel := context.WithCancel(context.Background())
	cancel()
	over := func(src io.Reader, buffered bool) *bufio.Reader {
		br := bufio.NewReaderSize(io.MultiReader(strings.NewReader("a"), src), 16)
		if buffered {
			_, _ = br.Peek(1)
		}
		return br
	}
	plain := struct{ io.Reader }{strings.NewReader("bc")}
	g := guard{ctx: done}
	require.ErrorIs(t, g.wait(over(plain, false)), context.Canceled)
	require.ErrorIs(t, g.take(nil), context.Canceled)
	g = guard{ctx: context.Background()}
	require.NoError(t, g.wait(bufio.NewReader(plain)), "there is nothing to rule over")
	require.True(t, g.taken)
	g = guard{ctx: context.Background()}
	require.Error(t, g.wait(bufio.NewReader(strings.NewReader("bc"))), "bytes were lost")
	g = guard{ctx: context.Background()}
	require.Error(t, g.waitBehind(over(plain, true)), "a source that writes by itself")
	g = guard{ctx: context.Background()}
	br := bufio.NewReaderSize(struct{ io.Reader }{strings.NewReader("bc")}, 16)
	_, _ = br.Peek(2)
	require.ErrorIs(t, g.waitBehind(br), ErrUnsupported)
}
