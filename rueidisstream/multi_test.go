package rueidisstream_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

// ofReplies writes all replies as the oracle does, and counts them.
func ofReplies(t testing.TB, rs *rueidisstream.Replies) (got []string) {
	for {
		r, err := rs.Next()
		if err == io.EOF {
			require.Nil(t, r)
			_, err = rs.Next()
			require.Equal(t, io.EOF, err, "for good")
			require.NoError(t, rs.Close())
			return got
		}
		if err != nil {
			require.Nil(t, r)
			if rueidis.IsRedisNil(err) {
				got = append(got, "nil")
			} else {
				_, ok := rueidis.IsRedisErr(err)
				require.True(t, ok, err)
				got = append(got, fmt.Sprintf("error %q", err))
			}
			continue
		}
		v, err := r.Value()
		require.NoError(t, err)
		got = append(got, ofValue(t, v))
		require.NoError(t, r.Close())
	}
}

// The replies are those of client.DoMulti, in the order of the commands.
func TestDoMulti(t *testing.T) {
	bothProtocols(t, func(t *testing.T, c rueidis.Client) {
		ctx := context.Background()
		fillOracle(t, c)
		build := func(lines ...string) (cmds []rueidis.Completed) {
			for _, line := range lines {
				cmds = append(cmds, c.B().Arbitrary(strings.Fields(line)...).Build())
			}
			return cmds
		}
		many := make([]string, 5000)
		for i := range many {
			many[i] = fmt.Sprintf("ECHO %d", i)
		}
		long := make([]string, 30)
		for i := range long {
			long[i] = "ECHO " + strings.Repeat(string(rune('a'+i%26)), 20000+i)
		}
		big := make([]string, caseSize(60, 20, 20))
		for i := range big {
			big[i] = "GET large"
		}
		for name, lines := range map[string][]string{
			"one":                  {"GET string"},
			"none":                 {},
			"D4: hit and miss":     {"GET string", "GET missing", "GET set", "GET string"},
			"all shapes":           {"SMEMBERS ints", "HGETALL hash", "GET missing", "LRANGE list 0 -1", "XRANGE stream - +", "NOSUCH", "PING", "STRLEN string"},
			"a transaction":        {"MULTI", "SET tx 1", "SMEMBERS ints", "GET missing", "LPUSH string x", "EXEC", "GET tx"},
			"an aborted one":       {"MULTI", "NOSUCH", "EXEC", "GET string"},
			"a discarded one":      {"MULTI", "SET tx 1", "DISCARD", "GET string"},
			"a watched one":        {"WATCH string", "MULTI", "GET string", "EXEC"},
			"5,000 commands":       many,
			"600 KB of commands":   long,
			"megabytes of replies": big,
		} {
			t.Run(name, func(t *testing.T) {
				var want []string
				for _, r := range c.DoMulti(ctx, build(lines...)...) {
					m, err := r.ToMessage()
					switch {
					case err == nil:
						want = append(want, ofMessage(m))
					case rueidis.IsRedisNil(err):
						want = append(want, "nil")
					default:
						want = append(want, fmt.Sprintf("error %q", err))
					}
				}
				if strings.Contains(name, "transaction") {
					require.Len(t, want, len(lines))
				}
				require.Equal(t, want, ofReplies(t, rueidisstream.DoMulti(ctx, c, build(lines...))))
				caseEchoes(t, c, 10)
			})
		}
	})
}

// What follows a SELECT goes to the database that it names, beyond a window too, and the next one's commands do not.
func TestDoMultiSelect(t *testing.T) {
	bothProtocols(t, func(t *testing.T, c rueidis.Client) {
		ctx := context.Background()
		require.NoError(t, c.Do(ctx, c.B().Set().Key("where").Value("zero").Build()).Error())
		cmds := []rueidis.Completed{c.B().Select().Index(1).Build(), c.B().Set().Key("where").Value("one").Build()}
		for range 3000 {
			cmds = append(cmds, c.B().Get().Key("where").Build())
		}
		got := ofReplies(t, rueidisstream.DoMulti(ctx, c, cmds))
		require.Len(t, got, 3002)
		for i, s := range got[2:] {
			require.Contains(t, s, "one", "GET %d", i)
		}
		require.Contains(t, ofReplies(t, rueidisstream.DoMulti(ctx, c, []rueidis.Completed{c.B().Get().Key("where").Build()}))[0], "zero")
		caseEchoes(t, c, 100)
	})
}

// A reply that is not read, or half, does not get into the way of the next one.
func TestRepliesUnread(t *testing.T) {
	bothProtocols(t, func(t *testing.T, c rueidis.Client) {
		ctx := context.Background()
		fillOracle(t, c)
		for read := range 4 {
			rs := rueidisstream.DoMulti(ctx, c, []rueidis.Completed{
				c.B().Get().Key("large").Build(), c.B().Xrange().Key("stream").Start("-").End("+").Build(), c.B().Echo().Message("own").Build(),
			})
			first, err := rs.Next()
			require.NoError(t, err)
			_, err = io.CopyN(io.Discard, struct{ io.Reader }{first}, int64(read*1000))
			require.NoError(t, err)
			second, err := rs.Next()
			require.NoError(t, err)
			for range read {
				_, err = second.Next()
				require.NoError(t, err)
			}
			third, err := rs.Next()
			require.NoError(t, err)
			v, err := third.Value()
			require.NoError(t, err)
			require.Equal(t, "own", v.String())
			_, err = rs.Next()
			require.Equal(t, io.EOF, err)
			_, err = third.Value()
			require.Error(t, err, "a Reader ends with the next call")
		}
		caseEchoes(t, c, 100)
	})
}

func TestRepliesAll(t *testing.T) {
	bothProtocols(t, func(t *testing.T, c rueidis.Client) {
		ctx := context.Background()
		fillOracle(t, c)
		cmds := func() []rueidis.Completed {
			return []rueidis.Completed{c.B().Get().Key("missing").Build(), c.B().Get().Key("set").Build(), c.B().Get().Key("string").Build()}
		}
		var got []string
		for r, err := range rueidisstream.DoMulti(ctx, c, cmds()).All() {
			if err != nil {
				got = append(got, err.Error())
				continue
			}
			v, err := r.Value()
			require.NoError(t, err)
			got = append(got, v.String())
		}
		require.Len(t, got, 3)
		require.Equal(t, "hello", got[2])
		for range 100 {
			for range rueidisstream.DoMulti(ctx, c, cmds()).All() {
				break
			}
		}
		caseEchoes(t, c, 100)
	})
}

// A MULTI without its EXEC is noticed: the connection, which is in the middle of a transaction, is not given back.
func TestUnfinishedTransaction(t *testing.T) {
	bothProtocols(t, func(t *testing.T, c rueidis.Client) {
		ctx := context.Background()
		for range 20 {
			rs := rueidisstream.DoMulti(ctx, c, []rueidis.Completed{c.B().Multi().Build(), c.B().Get().Key("k").Build()})
			for range 2 {
				_, err := rs.Next()
				require.NoError(t, err)
			}
			_, err := rs.Next()
			require.ErrorIs(t, err, rueidisstream.ErrProtocol)
			caseEchoes(t, c, 1)
		}
		caseEchoes(t, c, 100)
	})
}

// What is cut in the middle of a pipeline: whole replies before, one final error, nothing twice.
func TestRepliesCut(t *testing.T) {
	pieces := []string{"$3\r\none\r\n", "*1\r\n$3\r\ntwo\r\n", "-ERR three\r\n", "$4\r\nfour\r\n"}
	replies := strings.Join(pieces, "")
	for cut := range len(replies) {
		f := redistest.NewFake(t, func(conn *redistest.FakeConn, cmd []string) {
			switch cmd[0] {
			case "FIRST":
				conn.Write(replies[:cut])
				conn.Cut()
			case "ECHO":
				conn.Write(redistest.Bulk(cmd[1]))
			}
		})
		c := caseDial(t, f.Addr(), casePool(1), func(o *rueidis.ClientOption) { o.DisableCache = true })
		rs := rueidisstream.DoMulti(context.Background(), c, []rueidis.Completed{
			c.B().Arbitrary("FIRST").Build(), c.B().Arbitrary("REST").Build(), c.B().Arbitrary("REST").Build(), c.B().Arbitrary("REST").Build(),
		})
		whole, final := 0, error(nil)
		for r, err := range rs.All() {
			if err == nil {
				if _, err = r.Value(); err == nil {
					whole++
					continue
				}
			}
			if _, ok := rueidis.IsRedisErr(err); ok {
				whole++
				continue
			}
			final = err
		}
		require.ErrorIs(t, final, io.ErrUnexpectedEOF, "cut at %d", cut)
		complete := 0
		for end := len(pieces[0]); end <= cut; end += len(pieces[complete]) {
			complete++
		}
		require.Equal(t, complete, whole, "cut at %d", cut)
		caseEchoes(t, c, 3)
		f.Close()
	}
}
