package rueidisstream_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

// L6: commands of several slots of a cluster are answered in their order, and nothing panics. (MGET's builder panics by itself, before it comes to us.)
func TestCase_L6_SeveralSlots(t *testing.T) {
	redistest.NoLeak(t)
	cluster := redistest.NewCluster(t)
	caseProtocols(t, func(t *testing.T, speak func(*rueidis.ClientOption)) {
		c := cluster.NewClient(t, speak)
		ctx := caseContext(t)
		for _, key := range []string{"a", "b", "{a}2"} {
			require.NoError(t, c.Do(ctx, c.B().Set().Key(key).Value("value of "+key).Build()).Error())
		}
		get := func(key string) rueidis.Completed { return c.B().Get().Key(key).Build() }
		replies := func(cmds ...rueidis.Completed) (got []string) {
			for r, err := range rueidisstream.DoMulti(ctx, c, cmds).All() {
				require.NoError(t, err)
				v, err := r.Value()
				require.NoError(t, err)
				got = append(got, v.String())
			}
			return got
		}
		require.Equal(t, []string{"value of a", "value of b"}, replies(get("a"), get("b")))
		require.Equal(t, []string{"x", "value of a", "value of b"}, replies(caseWords(c, "ECHO", "x"), get("a"), get("b")))
		require.Equal(t, []string{"x", "value of b", "y", "value of a"}, replies(caseWords(c, "ECHO", "x"), get("b"), caseWords(c, "ECHO", "y"), get("a")))
		// Beyond a window the second slot is met later.
		var cmds []rueidis.Completed
		var want []string
		for range 3000 {
			cmds, want = append(cmds, get("a")), append(want, "value of a")
		}
		require.Equal(t, append(want, "value of b"), replies(append(cmds, get("b"))...))

		// Keys that rueidis' builder cannot see: the server's own answer.
		for range 10 {
			_, err := rueidisstream.Do(ctx, c, caseWords(c, "MGET", "a", "b"))
			_, isRedis := rueidis.IsRedisErr(err)
			require.True(t, isRedis, "%v", err)
		}
		// One slot is right.
		var got []string
		for r, err := range rueidisstream.DoMulti(ctx, c, []rueidis.Completed{get("a"), caseWords(c, "ECHO", "x"), get("{a}2"), get("{a}missing")}).All() {
			if rueidis.IsRedisNil(err) {
				got = append(got, "nil")
				continue
			}
			require.NoError(t, err)
			v, err := r.Value()
			require.NoError(t, err)
			got = append(got, v.String())
		}
		require.Equal(t, []string{"value of a", "x", "value of {a}2", "nil"}, got)
		for i := range 100 {
			key := "{slot" + strconv.Itoa(i) + "}"
			require.NoError(t, c.Do(ctx, c.B().Set().Key(key).Value(key).Build()).Error())
			var b strings.Builder
			_, err := rueidisstream.Copy(ctx, c, get(key), &b)
			require.NoError(t, err)
			require.Equal(t, key, b.String())
			require.NoError(t, c.Do(ctx, c.B().Del().Key(key).Build()).Error())
		}
		caseEchoes(t, c, 100)
	})
}

// L7: an aggregate is neither read into memory nor refused; a Copy of one is refused without reading it.
func TestCase_L7_AggregatesAreNotReadIntoMemory(t *testing.T) {
	redistest.NoLeak(t)
	const n = 200_000
	srv := redistest.Shared(t)
	loader := redistest.NewClient(t, srv)
	caseFill(t, loader, "set", n)
	for i := 0; i < n; {
		cmd := loader.B().Hset().Key("hash").FieldValue()
		for range 10_000 {
			cmd = cmd.FieldValue("field:"+strconv.Itoa(i), "value:"+strconv.Itoa(i))
			i++
		}
		require.NoError(t, loader.Do(context.Background(), cmd.Build()).Error())
	}
	loader.Close()
	caseProtocols(t, func(t *testing.T, speak func(*rueidis.ClientOption)) {
		c := redistest.NewClient(t, srv, speak, caseBuffers(32<<10))
		ctx := caseContext(t)
		caseEchoes(t, c, 10)
		const limit = 1 << 20
		seen := newCaseMembers(n)
		used, _ := caseAllocated(func() {
			for v, err := range rueidisstream.Values(ctx, c, c.B().Smembers().Key("set").Build()) {
				if err != nil || !seen.take(v.Bytes()) {
					t.Fatalf("%q, %v", v.Bytes(), err)
				}
			}
		})
		require.Equal(t, n, seen.count)
		require.Less(t, used, int64(limit))
		pairs := 0
		used, _ = caseAllocated(func() {
			for p, err := range rueidisstream.Pairs(ctx, c, c.B().Hgetall().Key("hash").Build()) {
				if err != nil || !bytes.Equal(p.Key.Bytes()[len("field:"):], p.Value.Bytes()[len("value:"):]) {
					t.Fatalf("%q %q, %v", p.Key.Bytes(), p.Value.Bytes(), err)
				}
				pairs++
			}
		})
		require.Equal(t, n, pairs)
		require.Less(t, used, int64(limit))
		for _, key := range []string{"set", "hash"} {
			used, _ = caseAllocated(func() {
				cmd := c.B().Smembers().Key("set").Build()
				if key == "hash" {
					cmd = c.B().Hgetall().Key("hash").Build()
				}
				m, err := rueidisstream.Copy(ctx, c, cmd, io.Discard)
				require.ErrorIs(t, err, rueidisstream.ErrShape)
				require.Zero(t, m)
			})
			require.Less(t, used, int64(limit))
			caseEchoes(t, c, 100)
		}
	})
}

// L8: a text that RESP3 sends as verbatim string comes out as the same bytes as under RESP2, without its prefix.
func TestCase_L8_VerbatimPrefixIsGone(t *testing.T) {
	redistest.NoLeak(t)
	srv := redistest.Shared(t)
	srv.Do(t, "SET", "key", "value")
	commands := []struct {
		name     string
		words    []string
		volatile *regexp.Regexp // what differs from call to call
	}{
		{"CLIENT LIST", []string{"CLIENT", "LIST"}, regexp.MustCompile(`=\S*|\n.*`)},
		{"CLIENT INFO", []string{"CLIENT", "INFO"}, regexp.MustCompile(`=\S*|\n.*`)},
		{"INFO server", []string{"INFO", "server"}, regexp.MustCompile(`:\d.*`)},
		{"INFO keyspace", []string{"INFO", "keyspace"}, nil},
		{"LATENCY DOCTOR", []string{"LATENCY", "DOCTOR"}, nil},
		{"MEMORY DOCTOR", []string{"MEMORY", "DOCTOR"}, nil},
	}
	got := map[string]string{} // by command; the first way and protocol sets it
	caseProtocols(t, func(t *testing.T, speak func(*rueidis.ClientOption)) {
		c := redistest.NewClient(t, srv, speak)
		ctx := caseContext(t)
		for _, cmd := range commands {
			for name, text := range caseTexts(ctx, c, cmd.words) {
				s, err := text()
				require.NoError(t, err, name)
				require.NotContains(t, s, "txt:", name)
				if cmd.volatile != nil {
					s = cmd.volatile.ReplaceAllString(s, "")
				}
				if _, ok := got[cmd.name]; !ok {
					require.NotEmpty(t, s)
					got[cmd.name] = s
				}
				require.Equal(t, got[cmd.name], s, "%s by %s", cmd.name, name)
			}
		}
		caseEchoes(t, c, 100)
	})
}

// caseTexts returns every way to the text that a command replies with.
func caseTexts(ctx context.Context, c rueidis.Client, cmd []string) map[string]func() (string, error) {
	with := func(f func(r *rueidisstream.Reader) (string, error)) func() (string, error) {
		return func() (string, error) {
			r, err := rueidisstream.Do(ctx, c, caseWords(c, cmd...))
			if err != nil {
				return "", err
			}
			s, err := f(r)
			return s, errors.Join(err, r.Close())
		}
	}
	return map[string]func() (string, error){
		"Copy": func() (string, error) {
			var b strings.Builder
			n, err := rueidisstream.Copy(ctx, c, caseWords(c, cmd...), &b)
			if err == nil && n != int64(b.Len()) {
				err = errors.New("another count than the bytes written")
			}
			return b.String(), err
		},
		"Values": func() (s string, last error) {
			for v, err := range rueidisstream.Values(ctx, c, caseWords(c, cmd...)) {
				s, last = v.String(), err
			}
			return s, last
		},
		"DoMulti": func() (string, error) {
			var b strings.Builder
			for r, err := range rueidisstream.DoMulti(ctx, c, []rueidis.Completed{caseWords(c, cmd...)}).All() {
				if err == nil {
					_, err = r.WriteTo(&b)
				}
				if err != nil {
					return b.String(), err
				}
			}
			return b.String(), nil
		},
		"Value": with(func(r *rueidisstream.Reader) (string, error) {
			v, err := r.Value()
			if err == nil && (v.Len() != int64(len(v.Bytes())) || r.Header().Len != v.Len()) {
				err = errors.New("another length than the bytes")
			}
			return v.String(), err
		}),
		"Read": with(func(r *rueidisstream.Reader) (string, error) {
			b, err := io.ReadAll(r)
			return string(b), err
		}),
		"Read by bytes": with(func(r *rueidisstream.Reader) (string, error) {
			b, err := io.ReadAll(iotest.OneByteReader(r))
			return string(b), err
		}),
		"WriteTo": with(func(r *rueidisstream.Reader) (string, error) {
			var b strings.Builder
			_, err := r.WriteTo(&b)
			return b.String(), err
		}),
	}
}

// L9: a connection that the server closes before or inside a value is never an empty or a short value with success.
func TestCase_L9_ClosedConnectionIsNoEnd(t *testing.T) {
	redistest.NoLeak(t)
	body := strings.Repeat("x", 500)
	for _, row := range []struct {
		name, raw string
		prefix    int // bytes of the value that are there
	}{
		{"before the reply", "", 0},
		{"inside the header", "$10", 0},
		{"behind the header", "$1000\r\n", 0},
		{"at half", "$1000\r\n" + body, 500},
		{"before the last byte", "$1000\r\n" + body + body[1:], 999},
		{"before the CRLF", "$1000\r\n" + body + body, 1000},
		{"inside the CRLF", "$1000\r\n" + body + body + "\r", 1000},
		{"before the CRLF of nothing", "$0\r\n", 0},
		{"verbatim, inside the prefix", "=1004\r\ntx", 0},
		{"verbatim, at half", "=1004\r\ntxt:" + body, 500},
		{"streamed, between chunks", "$?\r\n;500\r\n" + body + "\r\n", 500},
		{"streamed, before the end", "$?\r\n;500\r\n" + body + "\r\n;0", 500},
	} {
		t.Run(row.name, func(t *testing.T) {
			redistest.NoLeak(t)
			caseProtocols(t, func(t *testing.T, speak func(*rueidis.ClientOption)) {
				f := redistest.NewFake(t, func(c *redistest.FakeConn, cmd []string) {
					if cmd[0] == "ECHO" {
						c.Write(redistest.Bulk(cmd[1]))
						return
					}
					c.Write(row.raw)
					c.Cut()
				})
				c := caseDial(t, f.Addr(), speak)
				ctx := caseContext(t)
				for _, cmd := range [][]string{{"GET", "k"}, {"TEXT"}} {
					if cmd[0] == "GET" && row.raw != "" && row.raw[0] == '=' {
						continue // no server answers so
					}
					for name, text := range caseTexts(ctx, c, cmd) {
						s, err := text()
						require.Error(t, err, name)
						require.NotEqual(t, io.EOF, err, name)
						require.False(t, errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF), "%s: %v", name, err)
						require.ErrorIs(t, err, io.ErrUnexpectedEOF, name)
						if name != "Value" && name != "Values" {
							require.Len(t, s, row.prefix, name)
						}
					}
				}
				caseEchoes(t, c, 100)
			})
		})
	}
}
