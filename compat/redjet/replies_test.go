package redjet_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/compat/redjet"
	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

func TestCase_L11_EmptyStringIsEmpty(t *testing.T) {
	for _, resp2 := range []bool{true, false} {
		t.Run(protocol(resp2), func(t *testing.T) {
			redistest.NoLeak(t)
			c, ctx := server(t, resp2), within(t)
			require.NoError(t, c.Command(ctx, "SET", "k", "").Ok())
			for range 3 {
				b, err := c.Command(ctx, "GET", "k").Bytes()
				require.NoError(t, err)
				require.Equal(t, []byte{}, b, "empty, not nil")
				b, err = c.Command(ctx, "GET", "missing").Bytes()
				require.NoError(t, err)
				require.Nil(t, b)
			}
			require.NoError(t, c.Command(ctx, "RPUSH", "l", "", "x", "").Close())
			require.NoError(t, c.Command(ctx, "HSET", "h", "", "").Close())
			require.Equal(t, "[] 3[3] [2] x[1] [] 2[2] [1] [] end[]",
				elements(queue(ctx, c, "GET k", "LRANGE l 0 -1", "HGETALL h", "ECHO end")))
			hundred(t, c)
		})
	}
}

func TestCase_L12_NestedArraysDoNotShift(t *testing.T) {
	for _, resp2 := range []bool{true, false} {
		t.Run(protocol(resp2), func(t *testing.T) {
			redistest.NoLeak(t)
			c, ctx := server(t, resp2), within(t)
			require.NoError(t, c.Command(ctx, "SET", "k", "the value").Ok())
			for _, id := range []string{"1-1", "2-1", "3-1"} {
				require.NoError(t, c.Command(ctx, "XADD", "x", id, "f", "v").Close())
			}
			want := "3[3] 2[3 2] 1-1[3 1] 2[3 1 2] f[3 1 1] v[2] 2[2 2] 2-1[2 1] 2[2 1 2] f[2 1 1] v[1] 2[1 2] 3-1[1 1] 2[1 1 2] f[1 1 1] v[] the value[]"
			p := queue(ctx, c, "XRANGE x - +", "GET k")
			require.Equal(t, want, elements(p), "17 reads")
			require.NoError(t, p.Close())
			got, err := c.Command(ctx, "ECHO", "its own word").String()
			require.NoError(t, err)
			require.Equal(t, "its own word", got)
			for reads := range 17 { // however far it was read, Close steps over the rest
				p := queue(ctx, c, "XRANGE x - +", "GET k")
				for range reads {
					_, err := p.String()
					require.NoError(t, err)
				}
				require.NoError(t, p.Close())
				got, err := c.Command(ctx, "ECHO", "its own word").String()
				require.NoError(t, err)
				require.Equal(t, "its own word", got)
			}
			hundred(t, c)
		})
	}
}

func TestCase_K5_Replies(t *testing.T) {
	deep := strings.Repeat("*1\r\n", 20) + ":1\r\n"
	for _, row := range []struct{ name, cmd, reply, want string }{
		{"string", "GET k", "$5\r\nhello\r\n", "hello[]"},
		{"empty string", "GET k", "$0\r\n\r\n", "[]"},
		{"null", "GET k", "$-1\r\n", "[]"},
		{"null of RESP3", "GET k", "_\r\n", "[]"},
		{"null array", "GET k", "*-1\r\n", "[]"},
		{"status", "GET k", "+OK\r\n", "OK[]"},
		{"integer", "GET k", ":-7\r\n", "-7[]"},
		{"double", "X", ",2.5\r\n", "2.5[]"},
		{"infinite", "X", ",-inf\r\n", "-inf[]"},
		{"true", "X", "#t\r\n", "1[]"},
		{"false", "X", "#f\r\n", "0[]"},
		{"big number", "X", "(123456789012345678901234567890\r\n", "123456789012345678901234567890[]"},
		{"verbatim", "X", "=8\r\ntxt:text\r\n", "text[]"},
		{"error", "X", "-ERR no\r\n", "error ERR no[]"},
		{"error with a code", "X", "-MYCODE no\r\n", "error MYCODE no[]"},
		{"bulk error", "X", "!6\r\nERR no\r\n", "error ERR no[]"},
		{"empty array", "X", "*0\r\n", "0[]"},
		{"array", "X", "*3\r\n:1\r\n$1\r\nx\r\n_\r\n", "3[3] 1[2] x[1] []"},
		{"error in an array", "X", "*3\r\n:1\r\n-ERR no\r\n:2\r\n", "3[3] 1[2] error ERR no[1] 2[]"},
		{"set", "X", "~2\r\n:1\r\n:2\r\n", "2[2] 1[1] 2[]"},
		{"map", "X", "%2\r\n+a\r\n:1\r\n+b\r\n:2\r\n", "4[4] a[3] 1[2] b[1] 2[]"},
		{"empty map", "X", "%0\r\n", "0[]"},
		{"empty arrays in an array", "X", "*2\r\n*0\r\n*0\r\n", "2[2] 0[1] 0[]"},
		{"map in a map", "X", "%1\r\n+a\r\n%1\r\n+b\r\n+c\r\n", "2[2] a[1] 2[1 2] b[1 1] c[]"},
		{"deep", "X", deep, strings.TrimSpace(stacks(20)) + " 1[]"},
		{"pairs of RESP3", "ZRANGE z 0 -1 WITHSCORES", "*2\r\n*2\r\n+a\r\n,1\r\n*2\r\n+b\r\n,2.5\r\n", "4[4] a[3] 1[2] b[1] 2.5[]"},
		{"pairs of RESP2", "ZRANGE z 0 -1 WITHSCORES", "*4\r\n+a\r\n+1\r\n+b\r\n+2.5\r\n", "4[4] a[3] 1[2] b[1] 2.5[]"},
		{"no pairs", "ZRANGE z 0 -1 WITHSCORES", "*0\r\n", "0[]"},
		{"no pairs, but arrays", "ZRANGE z 0 -1", "*1\r\n*1\r\n+a\r\n", "1[1] 1[1 1] a[]"},
		{"streams of RESP3", "XREAD STREAMS x 0", "%1\r\n+x\r\n*1\r\n*2\r\n+1-1\r\n*0\r\n", "1[1] 2[1 2] x[1 1] 1[1 1 1] 2[1 1 1 2] 1-1[1 1 1 1] 0[]"},
		{"streams of RESP2", "XREAD STREAMS x 0", "*1\r\n*2\r\n+x\r\n*1\r\n*2\r\n+1-1\r\n*0\r\n", "1[1] 2[1 2] x[1 1] 1[1 1 1] 2[1 1 1 2] 1-1[1 1 1 1] 0[]"},
		{"attribute before", "X", "|1\r\n+a\r\n+b\r\n:5\r\n", "5[]"},
		{"push before", "X", ">2\r\n+a\r\n+b\r\n:5\r\n", "5[]"},
		{"a forged reply in a string", "GET k", redistest.Bulk("$6\r\nFORGED\r\n"), "$6\r\nFORGED\r\n[]"},
	} {
		for _, slice := range []int{0, 1} {
			t.Run(row.name, func(t *testing.T) {
				redistest.NoLeak(t)
				c, _ := faked(t, func(c *redistest.FakeConn, _ []string) {
					if slice > 0 {
						c.WriteSlice(row.reply, slice, 0)
						return
					}
					c.Write(row.reply)
				})
				ctx := within(t)
				one := queue(ctx, c, row.cmd)
				require.Equal(t, row.want, elements(one))
				require.NoError(t, one.Close())
				many := queue(ctx, c, row.cmd, "ECHO between", row.cmd, "ECHO end")
				require.Equal(t, row.want+" between[] "+row.want+" end[]", elements(many))
				require.NoError(t, many.Close())
				hundred(t, c)
			})
		}
	}
}

func stacks(n int) string {
	s, all := "", ""
	for range n {
		s = strings.TrimSpace(s + " 1")
		all += "1[" + s + "] "
	}
	return all
}

func TestTransaction(t *testing.T) {
	for _, resp2 := range []bool{true, false} {
		t.Run(protocol(resp2), func(t *testing.T) {
			redistest.NoLeak(t)
			c, ctx := server(t, resp2), within(t)
			require.NoError(t, c.Command(ctx, "ZADD", "z", 1, "a", 2.5, "b").Close())
			require.NoError(t, c.Command(ctx, "XADD", "x", "1-1", "f", "v").Close())
			p := queue(ctx, c, "MULTI", "SET k v", "INCR k", "ZRANGE z 0 -1 WITHSCORES", "XREAD STREAMS x 0", "EXEC", "ECHO end")
			require.Equal(t, "OK[] QUEUED[] QUEUED[] QUEUED[] QUEUED[] 4[4] OK[3] error ERR value is not an integer or out of range[2] "+
				"4[2 4] a[2 3] 1[2 2] b[2 1] 2.5[1] 1[1 1] 2[1 1 2] x[1 1 1] 1[1 1 1 1] 2[1 1 1 1 2] 1-1[1 1 1 1 1] 2[1 1 1 1 1 2] f[1 1 1 1 1 1] v[] end[]", elements(p))
			require.NoError(t, p.Close())
			p = queue(ctx, c, "WATCH k", "MULTI", "GET k", "DISCARD", "MULTI", "GET k", "EXEC")
			require.Equal(t, "OK[] OK[] QUEUED[] OK[] OK[] QUEUED[] 1[1] v[]", elements(p))
			require.Equal(t, "v[]", elements(queue(ctx, c, "GET k")))
			hundred(t, c)
		})
	}
}

// TestRounds is about what one connection would remember and another one does not.
func TestRounds(t *testing.T) {
	redistest.NoLeak(t)
	c, ctx := server(t, false), within(t)
	require.NoError(t, c.Command(ctx, "SET", "k", "of 0").Ok())
	for _, row := range []struct {
		name          string
		first, second []string
		want, then    string
	}{
		{"MULTI without EXEC", []string{"MULTI", "SET k no"}, nil, "error MULTI without EXEC", ""},
		{"WATCH", []string{"WATCH k"}, []string{"MULTI", "SET k no", "EXEC"}, "OK[]", "error WATCH: "},
		{"UNWATCH", []string{"WATCH k", "UNWATCH"}, []string{"GET k"}, "OK[] OK[]", "of 0[]"},
		{"SELECT", []string{"SELECT 1", "GET k"}, []string{"SET k no"}, "OK[] []", "error SELECT: "},
		{"AUTH", []string{"AUTH default x"}, []string{"SET k no"}, "OK[]", "error AUTH: "},
		{"CLIENT SETNAME", []string{"CLIENT SETNAME x"}, []string{"CLIENT GETNAME"}, "OK[]", "error CLIENT: "},
		{"CLIENT GETNAME", []string{"CLIENT GETNAME"}, []string{"GET k"}, "[]", "of 0[]"},
		{"nothing", []string{"GET k"}, []string{"GET k", "GET k"}, "of 0[]", "of 0[] of 0[]"},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := queue(ctx, c, row.first...)
			require.Contains(t, elements(p), row.want)
			if row.second != nil {
				for _, cmd := range row.second {
					words := strings.Fields(cmd)
					args := make([]any, 0)
					for _, w := range words[1:] {
						args = append(args, w)
					}
					p = c.Pipeline(ctx, p, words[0], args...)
				}
				require.Contains(t, elements(p), row.then)
			}
			require.NoError(t, p.Close())
			require.Equal(t, "of 0[]", elements(queue(ctx, c, "GET k")), "it has not been written to")
		})
	}
	t.Run("SELECT, and CloseOnRead", func(t *testing.T) {
		p := queue(ctx, c, "SELECT 1")
		require.NoError(t, p.Ok())
		p = c.Pipeline(ctx, p, "GET", "k")
		p.CloseOnRead = true
		n, err := p.WriteTo(io.Discard)
		require.ErrorContains(t, err, "SELECT")
		require.Zero(t, n)
	})
	t.Run("SELECT in a long pipeline", func(t *testing.T) {
		cmds := []string{"SELECT 1"}
		for range 2000 {
			cmds = append(cmds, "SET k no")
		}
		p := queue(ctx, c, cmds...)
		require.ErrorContains(t, p.Ok(), "SELECT")
		require.Equal(t, "of 0[]", elements(queue(ctx, c, "GET k")))
	})
	hundred(t, c)
}

func TestManyRounds(t *testing.T) {
	redistest.NoLeak(t)
	c, ctx := server(t, false), within(t)
	var p *redjet.Pipeline
	for i := range 300 {
		p = c.Pipeline(ctx, p, "INCR", "n")
		p = c.Pipeline(ctx, p, "ECHO", "x")
		n, err := p.Int()
		require.NoError(t, err)
		require.Equal(t, i+1, n)
		p = c.Pipeline(ctx, p, "ECHO", "y") // while a reply is unread
		require.Equal(t, "x[] y[]", elements(p))
		require.False(t, p.HasMore())
	}
	require.NoError(t, p.Close())
	p = c.Pipeline(ctx, p, "ECHO", "z")
	require.False(t, p.Next(), "closed")
	_, err := p.String()
	require.EqualError(t, err, "result closed")
	_, err = p.Strings()
	require.ErrorContains(t, err, "result closed")
	require.NoError(t, p.Close(), "again")
	var none *redjet.Pipeline
	require.False(t, none.Next())
	require.NoError(t, none.Close())
}

func TestHostileReplies(t *testing.T) {
	for _, reply := range []string{
		"*-2\r\n", "*99999999999999999999\r\n", "$9223372036854775807\r\nab", "$-5\r\n", "x\r\n", "*2\r\n:1\r\n", "*?\r\n:1\r\n.\r\n",
		"*2\r\n*2\r\n+a\r\n+b\r\n*3\r\n+c\r\n+d\r\n+e\r\n", ":1\r\n:2\r\n:3\r\n:4\r\n:5\r\n",
	} {
		t.Run(reply, func(t *testing.T) {
			redistest.NoLeak(t)
			c, _ := faked(t, func(c *redistest.FakeConn, _ []string) {
				c.Write(reply)
				if strings.HasSuffix(reply, "ab") || strings.HasPrefix(reply, "*2\r\n:") {
					c.Cut()
				}
			})
			ctx := within(t)
			for _, cmds := range [][]string{{"ZRANGE z"}, {"ZRANGE z", "ECHO end"}} {
				p := queue(ctx, c, cmds...)
				failed := false
				for range 100 {
					if !p.Next() {
						break
					}
					_, err := p.String()
					failed = failed || err != nil
				}
				require.False(t, p.Next())
				require.True(t, failed || p.Error() != "")
				_ = p.Close()
				hundred(t, c)
			}
		})
	}
}

func TestTypes(t *testing.T) {
	redistest.NoLeak(t)
	c, ctx := server(t, false), within(t)
	require.NoError(t, c.Command(ctx, "SET", "n", 42).Ok())
	require.NoError(t, c.Command(ctx, "SET", "j", map[string]int{"a": 1}).Ok())
	require.NoError(t, c.Command(ctx, "RPUSH", "l", "a", "b").Close())

	n, err := c.Command(ctx, "GET", "n").Int()
	require.NoError(t, err)
	require.Equal(t, 42, n)
	_, err = c.Command(ctx, "GET", "j").Int()
	require.ErrorContains(t, err, "invalid syntax")
	require.NotErrorIs(t, err, redjet.ErrNil)
	_, err = c.Command(ctx, "GET", "missing").Int()
	require.ErrorIs(t, err, redjet.ErrNil)
	_, err = c.Command(ctx, "GET", "l").Int()
	require.ErrorContains(t, err, "WRONGTYPE")

	var v map[string]int
	require.NoError(t, c.Command(ctx, "GET", "j").JSON(&v))
	require.Equal(t, map[string]int{"a": 1}, v)
	require.ErrorIs(t, c.Command(ctx, "GET", "missing").JSON(&v), redjet.ErrNil)
	require.ErrorContains(t, c.Command(ctx, "GET", "l").JSON(&v), "WRONGTYPE")

	require.EqualError(t, c.Command(ctx, "GET", "n").Ok(), `expected OK, got "42"`)
	require.ErrorIs(t, c.Command(ctx, "SET", "n", 1, "NX").Ok(), redjet.ErrNil)
	require.ErrorContains(t, c.Command(ctx, "GET", "l").Ok(), "WRONGTYPE")

	err = c.Command(ctx, "nosuch").Ok()
	require.True(t, redjet.IsUnknownCommand(err))
	require.False(t, redjet.IsAuthError(err))
	var e *redjet.Error
	require.ErrorAs(t, err, &e)

	p := c.Command(ctx, "LRANGE", "l", 0, -1)
	n, err = p.ArrayLength()
	require.NoError(t, err)
	require.Equal(t, 2, n)
	require.Equal(t, []int{2}, p.ArrayStack())
	require.NoError(t, p.Close())
	require.Empty(t, p.ArrayStack())
	p = c.Command(ctx, "STRLEN", "n")
	_, err = p.ArrayLength()
	require.EqualError(t, err, "expected array, got ':'")
	require.NoError(t, p.Close())
	p = c.Command(ctx, "GEODIST", "missing", "a", "b")
	n, err = p.ArrayLength()
	require.NoError(t, err)
	require.Equal(t, -1, n)
	require.NoError(t, p.Close())
	hundred(t, c)
}

func TestStrings(t *testing.T) {
	long := strings.Repeat("long", 1<<16)
	for _, row := range []struct {
		name, reply string
		want        []string
		err         string
		rest        string
	}{
		{"strings", "*3\r\n$1\r\na\r\n$0\r\n\r\n:5\r\n", []string{"a", "", "5"}, "", ""},
		{"empty", "*0\r\n", nil, "", ""},
		{"null", "*-1\r\n", nil, "", ""},
		{"a null in it", "*2\r\n_\r\n+b\r\n", []string{"", "b"}, "", ""},
		{"long ones", "*2\r\n" + redistest.Bulk(long) + "+b\r\n", []string{long, "b"}, "", ""},
		{"no array", ":1\r\n", nil, "read array length: expected array, got ':'", ""},
		{"a double", ",1\r\n", nil, "read array length: expected array, got '$'", ""},
		{"a boolean", "#t\r\n", nil, "read array length: expected array, got ':'", ""},
		{"an error in it", "*3\r\n+a\r\n-ERR no\r\n+c\r\n", []string{"a"}, "read string 1: ERR no", "c[] "},
		{"an array in it", "*3\r\n+a\r\n*2\r\n-ERR no\r\n*1\r\n:1\r\n+c\r\n", []string{"a"}, "read string 1: an array", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			redistest.NoLeak(t)
			c, _ := faked(t, func(c *redistest.FakeConn, _ []string) { c.Write(row.reply) })
			ctx := within(t)
			check := func(p *redjet.Pipeline) {
				t.Helper()
				got, err := p.Strings()
				require.Equal(t, row.want, got)
				if row.err == "" {
					require.NoError(t, err)
				} else {
					require.EqualError(t, err, row.err)
				}
			}
			p := c.Command(ctx, "X")
			check(p)
			require.False(t, p.Next(), "closed")
			hundred(t, c)
			p = queue(ctx, c, "X", "ECHO end")
			check(p)
			require.Equal(t, row.rest+"end[]", elements(p))
			require.NoError(t, p.Close())
			hundred(t, c)
		})
	}
}

// sink takes so many bytes, then fails.
type sink struct {
	take int
	got  bytes.Buffer
	err  error
}

func (s *sink) Write(b []byte) (int, error) {
	if n := s.take - s.got.Len(); n < len(b) {
		s.got.Write(b[:n])
		return n, s.err
	}
	return s.got.Write(b)
}

func TestCase_L1_WriterThatFails(t *testing.T) {
	full := errors.New("full")
	a := strings.Repeat("x", 82) + "$6\r\nFORGED\r\n" + strings.Repeat("y", 200)
	for _, size := range []int{300, 2 << 20} {
		for _, failing := range []struct {
			name string
			err  error
			want error
		}{{"fails", full, full}, {"writes short", nil, io.ErrShortWrite}} {
			t.Run(failing.name, func(t *testing.T) {
				redistest.NoLeak(t)
				value := strings.Repeat(a, size/len(a)+1)
				c, _ := faked(t, func(c *redistest.FakeConn, _ []string) { c.Write(redistest.Bulk(value)) })
				ctx := within(t)
				for _, open := range []func() *redjet.Pipeline{
					func() *redjet.Pipeline { return c.Command(ctx, "GET", "k") },
					func() *redjet.Pipeline { return c.Command(ctx, "OTHER", "k") },
					func() *redjet.Pipeline { return queue(ctx, c, "GET k", "ECHO after") },
				} {
					s := &sink{take: 10, err: failing.err}
					p := open()
					n, err := p.WriteTo(s)
					require.ErrorIs(t, err, failing.want)
					require.EqualValues(t, 10, n)
					require.Equal(t, value[:10], s.got.String())
					if p.Next() {
						require.Equal(t, "after[]", elements(p))
					}
					require.NoError(t, p.Close())
					hundred(t, c)
				}
			})
		}
	}
}

func TestWriteTo(t *testing.T) {
	redistest.NoLeak(t)
	c, ctx := server(t, false), within(t)
	value := strings.Repeat("0123456789", 1<<18)
	require.NoError(t, c.Command(ctx, "SET", "k", value).Ok())
	require.NoError(t, c.Command(ctx, "RPUSH", "l", "a").Close())
	var b bytes.Buffer
	for _, p := range []*redjet.Pipeline{c.Command(ctx, "GET", "k"), c.Command(ctx, "GETRANGE", "k", 0, -1), c.Command(ctx, "EVAL", "return redis.call('GET','k')", 0)} {
		b.Reset()
		n, err := p.WriteTo(&b)
		require.NoError(t, err)
		require.EqualValues(t, len(value), n)
		require.True(t, b.String() == value)
		require.False(t, p.Next())
	}
	b.Reset()
	n, err := c.Command(ctx, "GET", "missing").WriteTo(&b)
	require.NoError(t, err)
	require.Zero(t, n)
	_, err = c.Command(ctx, "GET", "l").WriteTo(&b)
	require.ErrorContains(t, err, "WRONGTYPE")
	require.IsType(t, (*redjet.Error)(nil), err)
	n, err = c.Command(ctx, "LRANGE", "l", 0, -1).WriteTo(&b)
	require.NoError(t, err)
	require.EqualValues(t, 1, n)
	require.Equal(t, "1", b.String())
	_, err = c.Command(ctx, "MONITOR").WriteTo(&b)
	require.ErrorIs(t, err, rueidisstream.ErrUnsupported)
	p := queue(ctx, c, "GET k", "HELLO 2")
	_, err = p.WriteTo(&b)
	require.ErrorIs(t, err, rueidisstream.ErrUnsupported, "before anything is sent")
	require.NoError(t, p.Close())
	require.NotEmpty(t, p.Error())
	hundred(t, server(t, true))
}
