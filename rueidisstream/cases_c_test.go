package rueidisstream_test

import (
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

// C1: a loop that is left early leaves nothing behind for the next command on the same connection, and does not read all first.
func TestCase_C1_BreakLeavesNothingBehind(t *testing.T) {
	srv := redistest.Shared(t)
	n, times := caseSize(1_000_000, 200_000, 100_000), caseSize(60, 20, 20)
	advFill(t, srv, "million", n)
	advFill(t, srv, "thousands", 100_000)
	noDrain := rueidisstream.WithDrain(0)
	for _, tt := range []struct {
		name, key string
		rounds    int
		opts      []rueidisstream.Option
	}{
		{"a million", "million", 4, nil}, // the server works on each of them for 0.2 s
		{"a million, no drain", "million", 2, []rueidisstream.Option{noDrain}},
		{"2 MB", "thousands", times, nil},
		{"2 MB, no drain", "thousands", times / 2, []rueidisstream.Option{noDrain}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			advProtocols(t, func(t *testing.T, speak func(*rueidis.ClientOption)) {
				redistest.NoLeak(t)
				var read atomic.Int64
				c := advClient(t, srv.Addr, speak, advCounter(&read))
				for range tt.rounds {
					seen := 0
					for v, err := range rueidisstream.Values(advCtx(t), c, c.B().Smembers().Key(tt.key).Build(), tt.opts...) {
						require.NoError(t, err)
						require.True(t, strings.HasPrefix(v.String(), "member:"))
						if seen++; seen == 10 {
							break
						}
					}
					require.Equal(t, 10, seen)
				}
				// A read buffer of 0.5 MiB, and nothing near the reply.
				require.Less(t, read.Load(), int64(tt.rounds)<<20, "bytes read in %d rounds", tt.rounds)
				advEcho(t, c, 1000)
			})
		})
	}
}

// C1: a reply whose rest is short is drained, and the connection kept.
func TestCase_C1_ShortRestIsDrained(t *testing.T) {
	redistest.NoLeak(t)
	srv := redistest.Shared(t)
	advFill(t, srv, "small", 1000)
	c := advClient(t, srv.Addr)
	ctx := advCtx(t)
	before := advConnID(t, c)
	for range 100 {
		for _, err := range rueidisstream.Values(ctx, c, c.B().Smembers().Key("small").Build()) {
			require.NoError(t, err)
			break
		}
	}
	require.Equal(t, before, advConnID(t, c), "the connection was given up")
	advEcho(t, c, 1000)
}

// C4: what the loop's body fails with comes back once, and the next command is right.
func TestCase_C4_BodyFailsOnElementFive(t *testing.T) {
	srv := redistest.Shared(t)
	srv.Do(t, "RPUSH", "list", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9")
	errBody := errors.New("element five")
	advProtocols(t, func(t *testing.T, speak func(*rueidis.ClientOption)) {
		redistest.NoLeak(t)
		c := advClient(t, srv.Addr, speak)
		ctx := advCtx(t)
		for range 100 {
			calls := 0
			err := func() error {
				for v, err := range rueidisstream.Values(ctx, c, c.B().Lrange().Key("list").Start(0).Stop(-1).Build()) {
					if err != nil {
						return err
					}
					if calls++; v.String() == "5" {
						return errBody
					}
				}
				return nil
			}()
			require.Equal(t, errBody, err)
			require.Equal(t, 6, calls)
			advEcho(t, c, 1)
		}
		advEcho(t, c, 100)
	})
}

// C4: an element that cannot be read is one error, then there is nothing, and the next command is on another connection.
func TestCase_C4_DecodeErrorComesOnce(t *testing.T) {
	for name, bad := range map[string]string{
		"unknown type":     "&5\r\n",
		"length":           "$x\r\n",
		"no CRLF behind":   "$2\r\nababab\r\n",
		"integer":          ":five\r\n",
		"negative length":  "*-2\r\n",
		"boolean":          "#x\r\n",
		"marker of an end": ".\r\n",
		"chunk":            ";2\r\nab\r\n",
	} {
		reply := "*10\r\n" + strings.Repeat("$1\r\ne\r\n", 5) + bad + strings.Repeat("$1\r\ne\r\n", 4)
		t.Run(name, func(t *testing.T) {
			redistest.NoLeak(t)
			f := redistest.NewFake(t, advEchoOr(reply))
			c := advClient(t, f.Addr())
			advEcho(t, c, 1)
			conns := f.Conns()
			got, err := advCollect(t, rueidisstream.Values(advCtx(t), c, advCmd(c, "LRANGE", "list", "0", "-1")))
			require.Equal(t, []string{"e", "e", "e", "e", "e"}, got)
			require.ErrorIs(t, err, rueidisstream.ErrProtocol)
			require.ErrorContains(t, err, "after ")
			advEcho(t, c, 100)
			require.Equal(t, conns+1, f.Conns(), "one more than the damaged connection")

			r, err := rueidisstream.Do(advCtx(t), c, advCmd(c, "LRANGE", "list", "0", "-1"))
			require.NoError(t, err)
			failed := 0
			for range 100 {
				if _, err := r.Next(); err != nil {
					failed++
					require.NotErrorIs(t, err, io.EOF, "the end of a damaged reply")
					require.ErrorIs(t, err, rueidisstream.ErrProtocol)
				}
			}
			require.GreaterOrEqual(t, failed, 94)
			require.NoError(t, r.Close())
			advEcho(t, c, 100)
		})
	}
}
