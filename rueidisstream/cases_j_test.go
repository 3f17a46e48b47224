package rueidisstream_test

import (
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

// J1: an empty string is an empty string wherever it stands, and nothing of it is left for what comes behind.
func TestCase_J1_EmptyStrings(t *testing.T) {
	srv := redistest.Shared(t)
	srv.Do(t, "SET", "empty", "")
	for _, key := range []string{"first", "middle", "last"} {
		list := []string{"RPUSH", key, "a", "b", "c"}
		list[2+map[string]int{"first": 0, "middle": 1, "last": 2}[key]] = ""
		srv.Do(t, list...)
	}
	srv.Do(t, "HSET", "hash", "a", "", "", "b", "c", "d")
	srv.Do(t, "XADD", "stream", "1-1", "f", "", "", "v")
	advProtocols(t, func(t *testing.T, speak func(*rueidis.ClientOption)) {
		redistest.NoLeak(t)
		c := advClient(t, srv.Addr, speak)
		ctx := advCtx(t)

		var b strings.Builder
		n, err := rueidisstream.Copy(ctx, c, advCmd(c, "GET", "empty"), &b)
		require.NoError(t, err)
		require.Zero(t, n)
		advEcho(t, c, 4)
		r, err := rueidisstream.Do(ctx, c, advCmd(c, "GET", "empty"))
		require.NoError(t, err)
		require.Equal(t, rueidisstream.Header{Kind: rueidisstream.KindString}, r.Header())
		all, err := io.ReadAll(r)
		require.NoError(t, err)
		require.Empty(t, all)
		v, err := r.Value()
		require.NoError(t, err)
		require.False(t, v.IsNil())
		require.NoError(t, r.Close())
		advEcho(t, c, 4)
		for key, want := range map[string][]string{"first": {"", "b", "c"}, "middle": {"a", "", "c"}, "last": {"a", "b", ""}} {
			got, err := advCollect(t, rueidisstream.Values(ctx, c, advCmd(c, "LRANGE", key, "0", "-1")))
			require.NoError(t, err)
			require.Equal(t, want, got)
		}
		got, err := advPairs(t, rueidisstream.Pairs(ctx, c, advCmd(c, "HGETALL", "hash")))
		require.NoError(t, err)
		require.ElementsMatch(t, []string{"a=", "=b", "c=d"}, got)
		for p, err := range rueidisstream.Pairs(ctx, c, advCmd(c, "XRANGE", "stream", "-", "+")) {
			require.NoError(t, err)
			require.Equal(t, "1-1", p.Key.String())
			fields, err := advPairs(t, p.Value.Pairs())
			require.NoError(t, err)
			require.Equal(t, []string{"f=", "=v"}, fields)
		}
		rs := rueidisstream.DoMulti(ctx, c, []rueidis.Completed{
			advCmd(c, "GET", "empty"), advCmd(c, "ECHO", "x"), advCmd(c, "ECHO", ""), advCmd(c, "GET", "empty"), advCmd(c, "ECHO", "y"), advCmd(c, "GET", "empty"),
		})
		require.Equal(t, []string{"", "x", "", "", "y", ""}, advReplies(t, rs))
		advEcho(t, c, 100)
	})
}

// J2: each type of RESP3, one byte a packet, gives the same as in one piece.
func TestCase_J2_OneByteAPacket(t *testing.T) {
	for _, tt := range []struct {
		name, reply string
		want        []string
	}{
		{"string", "$5\r\nhello\r\n", []string{"hello"}},
		{"empty string", "$0\r\n\r\n", []string{""}},
		{"simple", "+OK\r\n", []string{"OK"}},
		{"verbatim", "=9\r\ntxt:hello\r\n", []string{"hello"}},
		{"empty verbatim", "=4\r\ntxt:\r\n", []string{""}},
		{"integer", ":-42\r\n", []string{"-42"}},
		{"double", ",1.5\r\n", []string{"1.5"}},
		{"big number", "(12345678901234567890123\r\n", []string{"12345678901234567890123"}},
		{"boolean", "#t\r\n", []string{"1"}},
		{"null", "_\r\n", []string{"error: " + rueidis.Nil.Error()}},
		{"null of RESP2", "$-1\r\n", []string{"error: " + rueidis.Nil.Error()}},
		{"null array of RESP2", "*-1\r\n", []string{"error: " + rueidis.Nil.Error()}},
		{"error", "-WRONGTYPE no\r\n", []string{"error: WRONGTYPE no"}},
		{"bulk error", "!10\r\nSYNTAX bad\r\n", []string{"error: SYNTAX bad"}},
		{"array", "*3\r\n$1\r\na\r\n:1\r\n_\r\n", []string{"a", "1", ""}},
		{"empty array", "*0\r\n", nil},
		{"set", "~2\r\n$1\r\na\r\n=5\r\ntxt:b\r\n", []string{"a", "b"}},
		{"map", "%2\r\n+a\r\n:1\r\n+b\r\n#f\r\n", []string{"a", "1", "b", "0"}},
		{"errors inside", "*2\r\n-ERR one\r\n!7\r\nERR two\r\n", []string{"ERR one", "ERR two"}},
		{"attribute", "|1\r\n+k\r\n*1\r\n$1\r\nv\r\n$1\r\na\r\n", []string{"a"}},
		{"attribute inside", "*2\r\n|1\r\n+k\r\n+v\r\n$1\r\na\r\n$1\r\nb\r\n", []string{"a", "b"}},
		{"push before", ">2\r\n+invalidate\r\n*1\r\n+k\r\n$1\r\na\r\n", []string{"a"}},
		{"push inside", "*2\r\n$1\r\na\r\n>1\r\n+p\r\n$1\r\nb\r\n", []string{"a", "b"}},
		{"streamed string", "$?\r\n;3\r\nabc\r\n;2\r\nde\r\n;0\r\n", []string{"abcde"}},
		{"streamed array", "*?\r\n$1\r\na\r\n:1\r\n.\r\n", []string{"a", "1"}},
		{"streamed set", "~?\r\n$1\r\na\r\n.\r\n", []string{"a"}},
		{"streamed map", "%?\r\n$1\r\na\r\n:1\r\n.\r\n", []string{"a", "1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			redistest.NoLeak(t)
			f := redistest.NewFake(t, func(c *redistest.FakeConn, cmd []string) {
				switch cmd[0] {
				case "ECHO":
					c.Write(redistest.Bulk(cmd[1]))
				case "WHOLE":
					c.Write(tt.reply)
				default:
					c.WriteSlice(tt.reply, 1, 0)
				}
			})
			c := advClient(t, f.Addr())
			conns := -1
			for _, name := range []string{"WHOLE", "SLICED", "SLICED", "WHOLE"} {
				got, err := advCollect(t, rueidisstream.Values(advCtx(t), c, advWrite(c, name)))
				if err != nil {
					got = append(got, "error: "+err.Error())
				}
				require.Equal(t, tt.want, got, name)
				rs := rueidisstream.DoMulti(advCtx(t), c, []rueidis.Completed{advWrite(c, name), advWrite(c, "ECHO", "x")})
				_, _ = rs.Next()
				r, err := rs.Next()
				require.NoError(t, err)
				v, err := r.Value()
				require.NoError(t, err)
				require.Equal(t, "x", v.String())
				require.NoError(t, rs.Close())
				if conns < 0 {
					conns = f.Conns()
				}
			}
			advEcho(t, c, 100)
			require.Equal(t, conns, f.Conns(), "the connection was given up")
		})
	}
}

// J4: scores come as pairs, whether they are flat or nested, and whatever number they are.
func TestCase_J4_ScoresFlatOrNested(t *testing.T) {
	want := []struct {
		member string
		score  float64
	}{{"a", math.Inf(-1)}, {"b", 1e-320}, {"c", 1.5}, {"d", math.Inf(1)}}
	check := func(t *testing.T, c rueidis.Client) {
		i := 0
		for p, err := range rueidisstream.Pairs(advCtx(t), c, advCmd(c, "ZRANGE", "z", "0", "-1", "WITHSCORES")) {
			require.NoError(t, err)
			require.Less(t, i, len(want))
			require.Equal(t, want[i].member, p.Key.String())
			score, err := p.Value.AsFloat64()
			require.NoError(t, err)
			require.Equal(t, want[i].score, score)
			i++
		}
		require.Len(t, want, i)
		got, err := advPairs(t, rueidisstream.Pairs(advCtx(t), c, advCmd(c, "ZRANGE", "none", "0", "-1", "WITHSCORES")))
		require.NoError(t, err)
		require.Empty(t, got)
		advEcho(t, c, 100)
	}
	srv := redistest.Shared(t)
	srv.Do(t, "ZADD", "z", "-inf", "a", "1e-320", "b", "1.5", "c", "inf", "d")
	advProtocols(t, func(t *testing.T, speak func(*rueidis.ClientOption)) {
		redistest.NoLeak(t)
		check(t, advClient(t, srv.Addr, speak))
	})
	scores := []string{"-inf", "9.9998886718268301e-321", "1.5", "inf"}
	replies := map[string]string{"RESP3 nested": "*4\r\n", "RESP3 flat": "*8\r\n", "RESP2 flat": "*8\r\n"}
	for i, score := range scores {
		member := redistest.Bulk(want[i].member)
		replies["RESP3 nested"] += "*2\r\n" + member + "," + score + "\r\n"
		replies["RESP3 flat"] += member + "," + score + "\r\n"
		replies["RESP2 flat"] += member + redistest.Bulk(score)
	}
	for name, reply := range replies {
		t.Run("fake, "+name, func(t *testing.T) {
			redistest.NoLeak(t)
			f := redistest.NewFake(t, func(c *redistest.FakeConn, cmd []string) {
				switch {
				case cmd[0] == "ECHO":
					c.Write(redistest.Bulk(cmd[1]))
				case cmd[1] == "none":
					c.Write("*0\r\n")
				default:
					c.Write(reply)
				}
			})
			check(t, advClient(t, f.Addr()))
		})
	}
}

// J5: a hash or a set is the same whatever type the handshake makes of it, and a key that is missing is empty.
func TestCase_J5_MapOrArray(t *testing.T) {
	hash, set := []string{"a=1", "b=2", "c=3"}, []string{"x", "y", "z"}
	check := func(t *testing.T, c rueidis.Client) {
		pairs, err := advPairs(t, rueidisstream.Pairs(advCtx(t), c, advCmd(c, "HGETALL", "hash")))
		require.NoError(t, err)
		require.ElementsMatch(t, hash, pairs)
		values, err := advCollect(t, rueidisstream.Values(advCtx(t), c, advCmd(c, "HGETALL", "hash")))
		require.NoError(t, err)
		require.Len(t, values, 6)
		members, err := advCollect(t, rueidisstream.Values(advCtx(t), c, advCmd(c, "SMEMBERS", "set")))
		require.NoError(t, err)
		require.ElementsMatch(t, set, members)
		pairs, err = advPairs(t, rueidisstream.Pairs(advCtx(t), c, advCmd(c, "HGETALL", "none")))
		require.NoError(t, err)
		require.Empty(t, pairs)
		members, err = advCollect(t, rueidisstream.Values(advCtx(t), c, advCmd(c, "SMEMBERS", "none")))
		require.NoError(t, err)
		require.Empty(t, members)
		r, err := rueidisstream.Do(advCtx(t), c, advCmd(c, "HGETALL", "hash"))
		require.NoError(t, err)
		require.True(t, r.Header().Kind.IsAggregate())
		require.EqualValues(t, 6, r.Header().Len)
		require.NoError(t, r.Close())
		advEcho(t, c, 100)
	}
	srv := redistest.Shared(t)
	srv.Do(t, "HSET", "hash", "a", "1", "b", "2", "c", "3")
	srv.Do(t, "SADD", "set", "x", "y", "z")
	advProtocols(t, func(t *testing.T, speak func(*rueidis.ClientOption)) {
		redistest.NoLeak(t)
		check(t, advClient(t, srv.Addr, speak))
	})
	for name, types := range map[string]string{"arrays after HELLO 3": "**", "map and set": "%~", "map and array": "%*"} {
		t.Run("fake, "+name, func(t *testing.T) {
			redistest.NoLeak(t)
			f := redistest.NewFake(t, func(c *redistest.FakeConn, cmd []string) {
				kind, n, body := types[:1], 6, redistest.Bulks("a", "1", "b", "2", "c", "3")
				if cmd[0] == "ECHO" {
					c.Write(redistest.Bulk(cmd[1]))
					return
				}
				if cmd[0] == "SMEMBERS" {
					kind, n, body = types[1:], 3, redistest.Bulks("x", "y", "z")
				}
				if cmd[1] == "none" {
					n, body = 0, nil
				}
				if kind == "%" {
					n /= 2
				}
				c.Write(fmt.Sprintf("%s%d\r\n", kind, n) + strings.Join(body, ""))
			})
			check(t, advClient(t, f.Addr()))
		})
	}
}
