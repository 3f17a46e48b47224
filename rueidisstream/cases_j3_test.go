package rueidisstream_test

import (
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

// J3: a header that announces what nobody can have is an error, and no memory is taken for it.
func TestCase_J3_HeaderPromisesTooMuch(t *testing.T) {
	hostile := map[string]string{
		"array of 4 G":         "*4294967295\r\n",
		"array of 2^63-1":      "*9223372036854775807\r\n",
		"array of 2^64+1":      "*18446744073709551617\r\n",
		"map of 2^63-1":        "%9223372036854775807\r\n",
		"map of 2^62":          "%4611686018427387904\r\n",
		"set of 4 G":           "~4294967295\r\n",
		"string of 2^63-1":     "$9223372036854775807\r\n",
		"string of 2^63-5":     "$9223372036854775803\r\n",
		"string of 2^64+2":     "$18446744073709551618\r\nab\r\n",
		"string of -2":         "$-2\r\n",
		"string of -5":         "$-5\r\nabc\r\n",
		"array of -2":          "*-2\r\n",
		"map of -1":            "%-1\r\n",
		"verbatim of 2^63-1":   "=9223372036854775807\r\n",
		"bulk error of 2^63-1": "!9223372036854775807\r\n",
		"10,000 deep":          strings.Repeat("*1\r\n", 10_000),
		"10,000 deep in maps":  strings.Repeat("%1\r\n+k\r\n", 10_000),
		"10,000 attributes":    strings.Repeat("|1\r\n", 10_000),
		"push of 4 G":          ">4294967295\r\n",
		"attribute of 4 G":     "|4294967295\r\n",
		"chunk of 2^63-1":      "$?\r\n;9223372036854775807\r\n",
	}
	ways := map[string]func(context.Context, rueidis.Client, rueidis.Completed) error{
		"Values": func(ctx context.Context, c rueidis.Client, cmd rueidis.Completed) error {
			_, err := advCollect(t, rueidisstream.Values(ctx, c, cmd))
			return err
		},
		"Pairs": func(ctx context.Context, c rueidis.Client, cmd rueidis.Completed) error {
			_, err := advPairs(t, rueidisstream.Pairs(ctx, c, cmd))
			return err
		},
		"Value": func(ctx context.Context, c rueidis.Client, cmd rueidis.Completed) error {
			r, err := rueidisstream.Do(ctx, c, cmd)
			if err == nil {
				_, err = r.Value()
				_ = r.Close()
			}
			return err
		},
		"Next": func(ctx context.Context, c rueidis.Client, cmd rueidis.Completed) error {
			r, err := rueidisstream.Do(ctx, c, cmd)
			for err == nil {
				if _, err = r.Next(); err == io.EOF { //nolint:errorlint // unwrapped
					return errors.Join(r.Close()) // a reply that is one string has no next element
				}
			}
			_ = r.Close()
			return err
		},
		"Read": func(ctx context.Context, c rueidis.Client, cmd rueidis.Completed) error {
			r, err := rueidisstream.Do(ctx, c, cmd)
			if err == nil {
				_, err = io.Copy(io.Discard, r)
				_ = r.Close()
			}
			return err
		},
	}
	for what, reply := range hostile {
		for name, way := range ways {
			t.Run(name+" of "+what, func(t *testing.T) { advHostile(t, reply, "HOSTILE", way) })
		}
		t.Run("nested "+what, func(t *testing.T) { advHostile(t, "*2\r\n$1\r\na\r\n"+reply, "HOSTILE", ways["Values"]) })
	}
}

// J3: the same for Copy, which leaves the header to rueidis: what rueidis' parser panics on, and lengths below zero. An aggregate
// in place of the string that it does read, it reads whole.
func TestCase_J3_HeaderPromisesTooMuchToCopy(t *testing.T) {
	for what, reply := range map[string]string{
		"string of 2^63-1": "$9223372036854775807\r\n",
		"string of -2":     "$-2\r\n",
		"string of -5":     "$-5\r\nab",
		"array of -2":      "*-2\r\n",
		"array of 2^63-1":  "*9223372036854775807\r\n",
	} {
		t.Run(what, func(t *testing.T) {
			advHostile(t, reply, "GET", func(ctx context.Context, c rueidis.Client, cmd rueidis.Completed) (err error) {
				defer func() {
					if p := recover(); p != nil {
						t.Errorf("panic: %v", p)
						err = errors.New("panic")
					}
				}()
				_, err = rueidisstream.Copy(ctx, c, cmd, io.Discard)
				return err
			})
		})
	}
}

// advHostile lets way read the reply of a fake, which then closes. There has to be an error, at once and for little memory.
func advHostile(t *testing.T, reply, name string, way func(context.Context, rueidis.Client, rueidis.Completed) error) {
	redistest.NoLeak(t)
	f := redistest.NewFake(t, func(c *redistest.FakeConn, cmd []string) {
		if cmd[0] == "ECHO" {
			c.Write(redistest.Bulk(cmd[1]))
			return
		}
		c.Write(reply)
		c.Pause(advMoment)
		c.Cut()
	})
	c := advClient(t, f.Addr(), func(o *rueidis.ClientOption) { o.ReadBufferEachConn, o.WriteBufferEachConn = 64<<10, 64<<10 })
	advEcho(t, c, 4)
	cmd := advWrite(c, name, "key")
	ctx := advCtx(t)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begin := time.Now()
	err := way(ctx, c, cmd)
	runtime.ReadMemStats(&after)
	require.Error(t, err)
	require.NotErrorIs(t, err, io.EOF)
	require.Less(t, time.Since(begin), 10*time.Second)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20), "bytes allocated; the error was %v", err)
	advEcho(t, c, 20)
}

// J7: a line longer than the read buffer is read whole.
func TestCase_J7_LineLongerThanReadBuffer(t *testing.T) {
	small := func(o *rueidis.ClientOption) { o.ReadBufferEachConn = 4 << 10 }
	long, longer := strings.Repeat("long ", 20<<10), strings.Repeat("status ", 150<<10)
	f := redistest.NewFake(t, func(c *redistest.FakeConn, cmd []string) {
		switch cmd[0] {
		case "ECHO":
			c.Write(redistest.Bulk(cmd[1]))
		case "ERROR":
			c.Write("-ERR " + long + "\r\n")
		case "STATUS":
			c.Write("+" + longer + "\r\n")
		case "ARRAY":
			c.Write("*3\r\n+" + longer + "\r\n-" + long + "\r\n$4\r\nlast\r\n")
		}
	})
	redistest.NoLeak(t)
	c := advClient(t, f.Addr(), small)
	conns := -1
	for range 3 {
		ctx := advCtx(t)
		want := c.Do(ctx, advWrite(c, "ERROR")).Error()
		_, err := rueidisstream.Do(ctx, c, advWrite(c, "ERROR"))
		require.IsType(t, &rueidis.RedisError{}, err)
		require.True(t, err.Error() == want.Error(), "%.80q", err)
		_, err = rueidisstream.Copy(ctx, c, advWrite(c, "ERROR"), io.Discard)
		require.True(t, err.Error() == want.Error(), "%.80q", err)

		r, err := rueidisstream.Do(ctx, c, advWrite(c, "STATUS"))
		require.NoError(t, err)
		require.EqualValues(t, len(longer), r.Header().Len)
		b, err := io.ReadAll(r)
		require.NoError(t, err)
		require.True(t, string(b) == longer)
		require.NoError(t, r.Close())

		var w strings.Builder
		_, err = rueidisstream.Copy(ctx, c, advWrite(c, "STATUS"), &w)
		require.NoError(t, err)
		require.True(t, w.String() == longer)

		got, err := advCollect(t, rueidisstream.Values(ctx, c, advWrite(c, "ARRAY")))
		require.NoError(t, err)
		require.Len(t, got, 3)
		require.True(t, got[0] == longer && got[1] == long && got[2] == "last")
		advEcho(t, c, 30)
		if conns < 0 {
			conns = f.Conns()
		}
	}
	require.Equal(t, conns, f.Conns(), "the connection was given up")
	advEcho(t, c, 100)
}
