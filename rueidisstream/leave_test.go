package rueidisstream_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/rueidisstream"
)

const bigSet = "big:set"

// fillSet makes a set of n members of 16 bytes.
func fillSet(t testing.TB, c rueidis.Client, key string, n int) {
	const script = "for i = tonumber(ARGV[1]), tonumber(ARGV[2]) do redis.call('SADD', KEYS[1], string.format('m%015d', i)) end return 1"
	for i := 0; i < n; i += 50000 {
		cmd := c.B().Eval().Script(script).Numkeys(1).Key(key).Arg(fmt.Sprint(i), fmt.Sprint(min(i+50000, n)-1)).Build()
		require.NoError(t, c.Do(context.Background(), cmd).Error())
	}
}

// goroutine runs f in one of its own, which f may end by panic or Goexit.
func goroutine(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { _ = recover() }()
		f()
	}()
	<-done
}

type shortSink struct{}

func (shortSink) Write(p []byte) (int, error) { return min(len(p), 10), nil }

type failingSink struct{ err error }

func (s failingSink) Write(p []byte) (int, error) { return min(len(p), 10), s.err }

// C1 and more: in whatever way a reply is left, the next commands on the pool's one connection are right, no goroutine is left
// (bothProtocols looks), and leaving reads no more than the limit: the server's count of bytes sent tells.
func TestLeaving(t *testing.T) {
	full := errors.New("disk full")
	times, heavy := caseSize(100, 30, 10), caseSize(10, 5, 3) // heavy where the server builds 64 MiB for each
	bothProtocols(t, func(t *testing.T, c rueidis.Client) {
		ctx := context.Background()
		const members, bytes = 1000000, 64 << 20
		fillSet(t, c, bigSet, 20000)
		fillSet(t, c, bigSet+":million", members)
		require.NoError(t, c.Do(ctx, c.B().Setrange().Key("big:string").Offset(bytes-1).Value("x").Build()).Error())
		forge(t, c, "forged")
		smembers := func() rueidis.Completed { return c.B().Smembers().Key(bigSet).Build() }
		get := func() rueidis.Completed { return c.B().Get().Key("big:string").Build() }
		for _, row := range []struct {
			name  string
			times int
			leave func(t *testing.T)
		}{
			{"break after 10 of 1,000,000", heavy, func(t *testing.T) {
				n := 0
				for _, err := range rueidisstream.Values(ctx, c, c.B().Smembers().Key(bigSet+":million").Build()) {
					require.NoError(t, err)
					if n++; n == 10 {
						break
					}
				}
				require.Equal(t, 10, n)
			}},
			{"break after 10 of 20,000", times, func(t *testing.T) {
				n := 0
				for _, err := range rueidisstream.Values(ctx, c, smembers()) {
					require.NoError(t, err)
					if n++; n == 10 {
						break
					}
				}
			}},
			{"break from Pairs", times, func(t *testing.T) {
				for _, err := range rueidisstream.Pairs(ctx, c, smembers()) {
					require.NoError(t, err)
					break
				}
			}},
			{"return", times, func(t *testing.T) {
				func() {
					for range rueidisstream.Values(ctx, c, smembers()) {
						return
					}
				}()
			}},
			{"panic in the body", times, func(t *testing.T) {
				goroutine(func() {
					for range rueidisstream.Values(ctx, c, smembers()) {
						panic("no")
					}
				})
			}},
			{"Goexit in the body", times, func(t *testing.T) {
				goroutine(func() {
					for range rueidisstream.Pairs(ctx, c, smembers()) {
						runtime.Goexit()
					}
				})
			}},
			{"Close before anything is read", heavy, func(t *testing.T) {
				r, err := rueidisstream.Do(ctx, c, get())
				require.NoError(t, err)
				require.NoError(t, r.Close())
				require.NoError(t, r.Close(), "again")
			}},
			{"Close half-way in a string of 64 MiB", heavy, func(t *testing.T) {
				r, err := rueidisstream.Do(ctx, c, get())
				require.NoError(t, err)
				_, err = io.CopyN(io.Discard, struct{ io.Reader }{r}, bytes/2)
				require.NoError(t, err)
				require.NoError(t, r.Close())
			}},
			{"a failing sink of Copy", times, func(t *testing.T) {
				n, err := rueidisstream.Copy(ctx, c, c.B().Get().Key("forged").Build(), failingSink{full})
				require.ErrorIs(t, err, full)
				require.EqualValues(t, 10, n)
			}},
			{"a short sink of Copy", times, func(t *testing.T) {
				n, err := rueidisstream.Copy(ctx, c, c.B().Get().Key("forged").Build(), shortSink{})
				require.ErrorIs(t, err, io.ErrShortWrite)
				require.EqualValues(t, 10, n)
			}},
			{"a failing sink of Copy, much left", heavy, func(t *testing.T) {
				_, err := rueidisstream.Copy(ctx, c, get(), failingSink{full})
				require.ErrorIs(t, err, full)
			}},
			{"a failing sink of WriteTo", times, func(t *testing.T) {
				r, err := rueidisstream.Do(ctx, c, c.B().Get().Key("forged").Build())
				require.NoError(t, err)
				_, err = r.WriteTo(failingSink{full})
				require.ErrorIs(t, err, full)
				require.NoError(t, r.Close())
			}},
			{"a short sink of WriteTo, much left", heavy, func(t *testing.T) {
				r, err := rueidisstream.Do(ctx, c, get())
				require.NoError(t, err)
				_, err = r.WriteTo(shortSink{})
				require.ErrorIs(t, err, io.ErrShortWrite)
				require.NoError(t, r.Close())
			}},
			{"a panicking sink", times, func(t *testing.T) {
				forged := func() rueidis.Completed { return c.B().Get().Key("forged").Build() }
				goroutine(func() { _, _ = rueidisstream.Copy(ctx, c, forged(), panicSink{}) })
				goroutine(func() {
					r, _ := rueidisstream.Do(ctx, c, forged())
					defer r.Close()
					_, _ = r.WriteTo(panicSink{})
				})
			}},
			{"a panicking sink, much left", heavy, func(t *testing.T) {
				goroutine(func() { _, _ = rueidisstream.Copy(ctx, c, get(), panicSink{}) })
				goroutine(func() {
					r, _ := rueidisstream.Do(ctx, c, get())
					defer r.Close()
					_, _ = r.WriteTo(panicSink{})
				})
			}},
			{"Replies in the first of three", times, func(t *testing.T) {
				rs := rueidisstream.DoMulti(ctx, c, []rueidis.Completed{smembers(), smembers(), c.B().Get().Key("forged").Build()})
				r, err := rs.Next()
				require.NoError(t, err)
				_, err = r.Next()
				require.NoError(t, err)
				require.NoError(t, rs.Close())
			}},
			{"Replies without a look", times, func(t *testing.T) {
				require.NoError(t, rueidisstream.DoMulti(ctx, c, []rueidis.Completed{smembers(), smembers()}).Close())
			}},
		} {
			t.Run(row.name, func(t *testing.T) {
				for range row.times {
					row.leave(t)
				}
				caseEchoes(t, c, 100)
			})
		}
	})
}

type panicSink struct{}

func (panicSink) Write([]byte) (int, error) { panic("no") }

// forge sets a value that is full of replies.
func forge(t testing.TB, c rueidis.Client, key string) {
	value := strings.Repeat("+OK\r\n$6\r\nFORGED\r\n:1\r\n", 5000)
	require.NoError(t, c.Do(context.Background(), c.B().Set().Key(key).Value(value).Build()).Error())
}

// A value full of RESP that is left half-read at any byte never comes out as a later reply.
func TestForged(t *testing.T) {
	values := map[string]string{
		"ok":         strings.Repeat("+OK\r\n", 100),
		"strings":    strings.Repeat("$6\r\nFORGED\r\n", 50),
		"nulls":      strings.Repeat("_\r\n", 100),
		"closing":    strings.Repeat("$4\r\n_\r\n_\r\n", 50),
		"type bytes": strings.Repeat("$+-:_.,#!=(*%~|>", 50),
		"minus":      strings.Repeat("-", 1<<20),
		"newlines":   strings.Repeat("\r\n", 300),
	}
	bothProtocols(t, func(t *testing.T, c rueidis.Client) {
		ctx := context.Background()
		for name, value := range values {
			require.NoError(t, c.Do(ctx, c.B().Set().Key("forged").Value(value).Build()).Error())
			for _, drain := range []int{0, 50, 1 << 20} {
				for read := range 40 {
					r, err := rueidisstream.Do(ctx, c, c.B().Get().Key("forged").Build(), rueidisstream.WithDrain(drain))
					require.NoError(t, err)
					_, err = io.ReadFull(r, make([]byte, read))
					require.NoError(t, err)
					require.NoError(t, r.Close())
					_, err = rueidisstream.Copy(ctx, c, c.B().Get().Key("forged").Build(), &limitedSink{read}, rueidisstream.WithDrain(drain))
					require.ErrorIs(t, err, io.ErrShortWrite)
					rs := rueidisstream.DoMulti(ctx, c, []rueidis.Completed{c.B().Get().Key("forged").Build(), c.B().Echo().Message("own").Build()})
					first, err := rs.Next()
					require.NoError(t, err)
					_, err = first.WriteTo(&limitedSink{read})
					require.ErrorIs(t, err, io.ErrShortWrite)
					second, err := rs.Next()
					require.NoError(t, err)
					v, err := second.Value()
					require.NoError(t, err)
					require.Equal(t, "own", v.String(), "%s, %d bytes read", name, read)
					require.NoError(t, rs.Close())
					caseEchoes(t, c, 1)
				}
			}
			caseEchoes(t, c, 100)
		}
	})
}

// limitedSink takes so many bytes and then writes short.
type limitedSink struct{ left int }

func (s *limitedSink) Write(p []byte) (int, error) {
	n := min(s.left, len(p))
	s.left -= n
	return n, nil
}
