package compatredjet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	theirs "github.com/coder/redjet"

	ours "github.com/rueidisx/rueidisx/compat/redjet"
	"github.com/rueidisx/rueidisx/internal/redistest"
)

// The differences that the package document of compat/redjet lists, each with what redjet does.

func all(p pipeline, most int) string {
	var out []string
	for ; p.Next() && len(out) < most; most-- {
		s, err := p.String()
		out = append(out, fmt.Sprintf("%q %v %s", s, p.ArrayStack(), text(err)))
	}
	return strings.Join(out, "; ")
}

func TestDifferentOnPurpose(t *testing.T) {
	t.Run("an empty string", func(t *testing.T) { // L11
		s := newSide(t)
		s.differ(t, `"" ok; then "ok" unknown type`, `"" ok; then "OK" "" ok`, func(c client) string {
			must(t, c.command("SET", "k", "").Ok())
			p := c.add(nil, "GET", "k")
			p = c.add(p, "ECHO", "OK")
			b, err := p.Bytes()
			out := fmt.Sprintf("%q %s; then ", b, text(err))
			got, err := p.String()
			if err != nil && strings.Contains(err.Error(), "unknown type") {
				return out + `"ok" unknown type`
			}
			return out + fmt.Sprintf("%q %q %s", got, p.Error(), text(err))
		})
	})
	t.Run("Bytes of an empty string and of a null", func(t *testing.T) {
		s := newSide(t)
		s.differ(t, "", "false true", func(c client) string {
			must(t, c.command("SET", "k", "").Ok())
			b, err := c.command("GET", "k").Bytes()
			must(t, err)
			n, err := c.command("GET", "missing").Bytes()
			must(t, err)
			return fmt.Sprint(b == nil, n == nil)
		})
	})
	t.Run("nested arrays", func(t *testing.T) { // L12
		s := newSide(t)
		prepare := func(c client) pipeline {
			must(t, c.command("SET", "k", "the value").Ok())
			for i := range 3 {
				must(t, c.command("XADD", "x", fmt.Sprintf("%d-1", i+1), "f", "v").Close())
			}
			return c.add(c.add(nil, "XRANGE", "x", "-", "+"), "GET", "k")
		}
		p := prepare(s.them)
		for range 17 {
			_, err := p.String()
			must(t, err)
		}
		if stack := fmt.Sprint(p.ArrayStack()); stack != "[3 1 1]" || !p.Next() {
			t.Errorf("redjet has become right: after all replies %s is left and Next is %t", stack, p.Next()) // a read or Close would wait for ever
		}
		entry := func(i, left int, outer string) string {
			return fmt.Sprintf(`"2" [%d 2] ok; "%d-1" [%d 1] ok; "2" [%d 1 2] ok; "f" [%d 1 1] ok; "v" [%s] ok; `, left, i, left, left, left, outer)
		}
		s.differ(t, "", `"3" [3] ok; `+entry(1, 3, "2")+entry(2, 2, "1")+entry(3, 1, "")+`"the value" [] ok`, func(c client) string {
			p := prepare(c)
			out := all(p, 100)
			must(t, p.Close())
			echo(t, c)
			must(t, c.command("DEL", "x").Close())
			return out
		})
	})
	t.Run("a null array", func(t *testing.T) {
		s := newSide(t)
		s.differ(t, `"-1" [] ok true`, `"" [] ok false`, func(c client) string {
			p := c.add(nil, "BLPOP", "missing", 0.01)
			out := all(p, 1)
			out += fmt.Sprint(" ", p.Next())
			if c.name != "redjet" { // which would wait for ever
				must(t, p.Close())
				echo(t, c)
			}
			return out
		})
	})
	t.Run("an array in a transaction", func(t *testing.T) {
		s := newSide(t)
		s.differ(t, "", `"OK" [] ok; "QUEUED" [] ok; "QUEUED" [] ok; "QUEUED" [] ok; "QUEUED" [] ok; `+
			`"4" [4] ok; "OK" [3] ok; "" [2] server error: ERR value is not an integer or out of range; "4" [2 4] ok; `+
			`"a" [2 3] ok; "1" [2 2] ok; "b" [2 1] ok; "2.5" [1] ok; "2" [1 2] ok; "h" [1 1] ok; "1" [] ok; "PONG" [] ok`, func(c client) string {
			must(t, c.command("ZADD", "z", 1, "a", 2.5, "b").Close())
			must(t, c.command("HSET", "h2", "h", 1).Close())
			p := c.add(nil, "MULTI")
			for _, cmd := range [][]any{{"SET", "k", "v"}, {"INCR", "k"}, {"ZRANGE", "z", 0, -1, "WITHSCORES"}, {"HGETALL", "h2"}, {"EXEC"}, {"PING"}} {
				p = c.add(p, cmd[0].(string), cmd[1:]...)
			}
			out := all(p, 100)
			must(t, p.Close())
			return out
		})
	})
	t.Run("XREAD", func(t *testing.T) {
		s := newSide(t)
		s.differ(t, "", `"2" [2] ok; "2" [2 2] ok; "x" [2 1] ok; "1" [2 1 1] ok; "2" [2 1 1 2] ok; "1-1" [2 1 1 1] ok; "2" [2 1 1 1 2] ok; "f" [2 1 1 1 1] ok; "v" [1] ok; `+
			`"2" [1 2] ok; "y" [1 1] ok; "1" [1 1 1] ok; "2" [1 1 1 2] ok; "1-1" [1 1 1 1] ok; "2" [1 1 1 1 2] ok; "f" [1 1 1 1 1] ok; "v" [] ok`, func(c client) string {
			must(t, c.command("XADD", "x", "1-1", "f", "v").Close())
			must(t, c.command("XADD", "y", "1-1", "f", "v").Close())
			p := c.command("XREAD", "STREAMS", "x", "y", 0, 0)
			out := all(p, 100)
			must(t, p.Close())
			return out
		})
	})
	t.Run("Strings of arrays in an array", func(t *testing.T) {
		s := newSide(t)
		s.differ(t, `["2" "1-1"] ok`, `[] error: read string 0: an array`, func(c client) string {
			must(t, c.command("XADD", "x", "1-1", "f", "v").Close())
			must(t, c.command("XADD", "x", "2-1", "f", "v").Close())
			if c.name == "redjet" { // its Close would wait for ever
				p := c.add(nil, "XRANGE", "x", "-", "+")
				ss, err := p.Strings()
				return fmt.Sprintf("%q %s", ss, text(err))
			}
			ss, err := c.command("XRANGE", "x", "-", "+").Strings()
			echo(t, c)
			return fmt.Sprintf("%q %s", ss, text(err))
		})
	})
	t.Run("PING and CloseOnRead", func(t *testing.T) { // redjet waits for a message
		s := newSide(t)
		s.differ(t, "", `error: result closed`, func(c client) string {
			p := c.command("PING")
			_, err := p.String()
			must(t, err)
			_, err = p.String()
			must(t, p.Close())
			return text(err)
		})
	})
	t.Run("a writer that fails", func(t *testing.T) {
		s := newSide(t)
		s.differ(t, `error: full | false`, `error: full | true`, func(c client) string {
			p := c.add(c.add(nil, "ECHO", "a"), "ECHO", "b")
			_, err := p.WriteTo(failing{})
			if !errors.Is(err, errFull) {
				t.Error(err)
			}
			out := fmt.Sprint("error: full | ", p.Next())
			if p.Next() {
				if got, err := p.String(); err != nil || got != "b" {
					t.Error(got, err)
				}
			}
			must(t, p.Close())
			echo(t, c)
			return out
		})
	})
	t.Run("Close and errors of the server", func(t *testing.T) {
		s := newSide(t)
		s.differ(t, `unknown command: drain: ERR unknown command 'NOSUCH', with args beginning with: ; true; ok`,
			`unknown command: drain: ERR unknown command 'NOSUCH', with args beginning with: ; false; ok`, func(c client) string {
				p := c.add(c.add(nil, "NOSUCH"), "ECHO", "b")
				out := text(p.Close())
				out += fmt.Sprintf("; %t; ", p.Next())
				return out + text(p.Close())
			})
	})
	t.Run("an argument that cannot be encoded", func(t *testing.T) {
		s := newSide(t)
		s.differ(t, "panic", "error: redjet: SET: argument 2: json: unsupported type: chan int | false", func(c client) (out string) {
			defer func() {
				if recover() != nil {
					out = "panic"
				}
			}()
			p := c.command("SET", "k", make(chan int))
			err := p.Ok()
			must(t, p.Close())
			return text(err) + fmt.Sprint(" | ", p.Next())
		})
	})
	t.Run("a reader that is too short", func(t *testing.T) {
		s := newSide(t)
		for _, size := range []int{10, 1 << 20} {
			s.differ(t, "", "true", func(c client) string {
				err := c.command("SET", "k", ours.NewLenReader(strings.NewReader("abc"), size)).Ok()
				echo(t, c)
				return fmt.Sprint(errors.Is(err, io.ErrUnexpectedEOF))
			})
		}
	})
	t.Run("ErrNil", func(t *testing.T) {
		s := newSide(t)
		s.differ(t, "false false false", "true true true", func(c client) string {
			_, err := c.command("GET", "missing").Int()
			json := c.command("GET", "missing").JSON(new(int))
			must(t, c.command("SET", "k", "v").Ok())
			ok := c.command("SET", "k", "v", "NX").Ok()
			return fmt.Sprint(errors.Is(err, ours.ErrNil), errors.Is(json, ours.ErrNil), errors.Is(ok, ours.ErrNil))
		})
	})
}

var errFull = errors.New("full")

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errFull }

// TestSameSubscription compares what NextSubMessage and the general methods give.
func TestSameSubscription(t *testing.T) {
	srv := redistest.Standalone(t)
	ctx := context.Background()
	them, us := theirs.New(srv.Addr), ours.New(redistest.NewClient(t, srv))
	defer them.Close()
	ours1, theirs1 := us.Command(ctx, "SUBSCRIBE", "one", "two"), them.Command(ctx, "SUBSCRIBE", "one", "two")
	defer ours1.Close()
	defer theirs1.Close()
	next := func() {
		t.Helper()
		want, err := theirs1.NextSubMessage()
		must(t, err)
		got, err := ours1.NextSubMessage()
		must(t, err)
		if string(got.Type) != string(want.Type) || got.Channel != want.Channel || got.Payload != want.Payload {
			t.Errorf("%+v, redjet has %+v", *got, *want)
		}
	}
	next()
	next()
	for _, m := range []string{"", "message", "a\r\nb", strings.Repeat("long", 1<<16)} {
		n, err := us.Command(ctx, "PUBLISH", "two", m).Int()
		must(t, err)
		if n != 2 {
			t.Error(n)
		}
		if m == "" {
			// redjet cannot read that; see the first of the differences.
			if got, err := ours1.NextSubMessage(); err != nil || got.Payload != "" {
				t.Error(got, err)
			}
			must(t, theirs1.Close())
			theirs1 = them.Command(ctx, "SUBSCRIBE", "one", "two")
			for range 2 {
				_, err := theirs1.NextSubMessage()
				must(t, err)
			}
			continue
		}
		next()
	}
	must(t, us.Command(ctx, "PUBLISH", "one", "in pieces").Close())
	read := func(p pipeline) string {
		n, err := p.ArrayLength()
		out := fmt.Sprint(n, text(err))
		for range n {
			s, err := p.String()
			out += fmt.Sprint(s, p.ArrayStack(), text(err))
		}
		return out
	}
	if got, want := read(ours1), read(theirs1); got != want {
		t.Errorf("%s, redjet has %s", got, want)
	}
}
