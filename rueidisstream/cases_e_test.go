package rueidisstream_test

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

// E1: a server whose output limit ends the connection, before or in the middle of a big reply, gives an error that says what it
// may have been, and never an empty success.
func TestCase_E1_OutputBufferLimit(t *testing.T) {
	srv := redistest.Standalone(t, "--client-output-buffer-limit", "normal 1mb 0 0")
	advFill(t, srv, "set", 200_000)
	loader := redistest.NewClient(t, srv)
	require.NoError(t, loader.Do(advCtx(t), loader.B().Set().Key("value").Value(strings.Repeat("v", 20<<20)).Build()).Error())
	loader.Close()

	all := func(ctx context.Context, c rueidis.Client, cmd rueidis.Completed) error {
		r, err := rueidisstream.Do(ctx, c, cmd)
		if err != nil {
			return err
		}
		defer r.Close()
		if !r.Header().Kind.IsAggregate() {
			_, err = io.ReadAll(r)
			return err
		}
		for _, err := range r.Values() {
			if err != nil {
				return err
			}
		}
		return nil
	}
	ways := map[string]func(context.Context, rueidis.Client, rueidis.Completed) error{
		"Do": all,
		"Values": func(ctx context.Context, c rueidis.Client, cmd rueidis.Completed) error {
			_, err := advCollect(t, rueidisstream.Values(ctx, c, cmd))
			return err
		},
		"Copy": func(ctx context.Context, c rueidis.Client, cmd rueidis.Completed) error {
			_, err := rueidisstream.Copy(ctx, c, cmd, io.Discard)
			return err
		},
		"DoMulti": func(ctx context.Context, c rueidis.Client, cmd rueidis.Completed) error {
			rs := rueidisstream.DoMulti(ctx, c, []rueidis.Completed{advCmd(c, "ECHO", "first"), cmd})
			for r, err := range rs.All() {
				if err != nil {
					return err
				}
				if r.Header().Kind.IsAggregate() {
					if err := r.Skip(); err != nil {
						return err
					}
				} else if _, err := io.Copy(io.Discard, r); err != nil {
					return err
				}
			}
			return nil
		},
	}
	for name, way := range ways {
		for _, words := range [][]string{{"GET", "value"}, {"SMEMBERS", "set"}} {
			if name == "Copy" && words[0] == "SMEMBERS" {
				continue
			}
			t.Run(name+" "+words[0], func(t *testing.T) {
				advProtocols(t, func(t *testing.T, speak func(*rueidis.ClientOption)) {
					redistest.NoLeak(t)
					c := advClient(t, srv.Addr, speak)
					for _, cmd := range []rueidis.Completed{advCmd(c, words...), advWrite(c, words...)} {
						err := way(advCtx(t), c, cmd)
						require.ErrorIs(t, err, io.ErrUnexpectedEOF)
						require.NotErrorIs(t, err, io.EOF)
						require.ErrorContains(t, err, "client-output-buffer-limit")
					}
					advEcho(t, c, 100)
				})
			})
		}
	}
}

// E1: the same with a fake that is cut in the middle of the reply, by FIN and by a reset.
func TestCase_E1_CutInTheMiddle(t *testing.T) {
	for _, reset := range []bool{false, true} {
		for name, part := range map[string]string{
			"set":    "*200000\r\n" + strings.Repeat("$6\r\nmember\r\n", 1000),
			"string": "$20971520\r\n" + strings.Repeat("v", 1<<16),
		} {
			t.Run(name+map[bool]string{false: ", FIN", true: ", RST"}[reset], func(t *testing.T) {
				redistest.NoLeak(t)
				f := redistest.NewFake(t, func(c *redistest.FakeConn, cmd []string) {
					if cmd[0] == "ECHO" {
						c.Write(redistest.Bulk(cmd[1]))
						return
					}
					c.Write(part)
					c.Pause(advMoment)
					if reset {
						c.Reset()
					} else {
						c.Cut()
					}
				})
				c := advClient(t, f.Addr())
				r, err := rueidisstream.Do(advCtx(t), c, advCmd(c, "BIG"))
				require.NoError(t, err)
				if name == "set" {
					_, err = advCollect(t, r.Values())
				} else {
					_, err = io.ReadAll(r)
				}
				require.ErrorContains(t, err, "client-output-buffer-limit")
				require.NotErrorIs(t, err, io.EOF)
				require.ErrorIs(t, err, io.ErrUnexpectedEOF, "also when the connection was reset")
				require.NoError(t, r.Close())
				advEcho(t, c, 100)
			})
		}
	}
}

// E1: a server whose soft limit ends the connection of one that reads slowly, in the middle of the reply.
func TestCase_E1_SlowReaderIsCut(t *testing.T) {
	redistest.NoLeak(t)
	srv := redistest.Standalone(t, "--client-output-buffer-limit", "normal 0 1mb 1")
	advFill(t, srv, "set", 1000)
	c := advClient(t, srv.Addr)
	const members = 4_000_000 // 92 MB, which no sockets on the way hold
	n := 0
	var last error
	for _, err := range rueidisstream.Values(advCtx(t), c, c.B().Srandmember().Key("set").Count(-members).Build()) {
		if last = err; err != nil {
			continue
		}
		if n++; n == 10 {
			time.Sleep(4 * time.Second)
		}
	}
	t.Logf("%d elements, then %v", n, last)
	require.Less(t, n, members)
	require.ErrorIs(t, last, io.ErrUnexpectedEOF)
	require.ErrorContains(t, last, "client-output-buffer-limit")
	advEcho(t, c, 100)
}
