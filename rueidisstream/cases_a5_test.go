package rueidisstream_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

// caseCopies returns every way of a value to a writer.
func caseCopies(ctx context.Context, c rueidis.Client) map[string]func(cmd rueidis.Completed, w io.Writer) (int64, error) {
	return map[string]func(cmd rueidis.Completed, w io.Writer) (int64, error){
		"Copy": func(cmd rueidis.Completed, w io.Writer) (int64, error) { return rueidisstream.Copy(ctx, c, cmd, w) },
		"WriteTo": func(cmd rueidis.Completed, w io.Writer) (int64, error) {
			return caseRead(ctx, c, cmd, func(r *rueidisstream.Reader) (int64, error) { return r.WriteTo(w) })
		},
		"Read": func(cmd rueidis.Completed, w io.Writer) (int64, error) {
			return caseRead(ctx, c, cmd, func(r *rueidisstream.Reader) (int64, error) {
				return io.Copy(struct{ io.Writer }{w}, struct{ io.Reader }{r})
			})
		},
		"DoMulti": func(cmd rueidis.Completed, w io.Writer) (int64, error) {
			rs := rueidisstream.DoMulti(ctx, c, []rueidis.Completed{cmd})
			defer rs.Close()
			r, err := rs.Next()
			if err != nil {
				return 0, err
			}
			return r.WriteTo(w)
		},
	}
}

// A5: cut before the reply, the value is fetched again and comes once; cut inside it, the sink has an exact prefix and no second try is made.
func TestCase_A5_CutIsRetriedOnlyBeforeTheFirstByte(t *testing.T) {
	redistest.NoLeak(t)
	srv := redistest.Shared(t)
	value := caseRandom(4<<20, 5)
	srv.Do(t, "SET", "k", value)
	caseProtocols(t, func(t *testing.T, speak func(*rueidis.ClientOption)) {
		for _, reset := range []bool{false, true} {
			p := redistest.NewProxy(t, srv.Addr)
			c := caseDial(t, p.Addr(), speak)
			for name, way := range caseCopies(caseContext(t), c) {
				// Row: the pooled connection breaks before a byte, and the next one is good.
				caseEchoes(t, c, 5)
				p.Set(redistest.Fault{CutAfter: redistest.AtOnce, Once: true, ResetPeer: reset})
				var b bytes.Buffer
				n, err := way(c.B().Get().Key("k").Build(), &b)
				require.NoError(t, err, name)
				require.EqualValues(t, len(value), n, name)
				require.Equal(t, caseSum(value), caseSum(b.String()), "%s: once", name)
				p.Clear()

				// Row: at half of the body.
				caseEchoes(t, c, 5)
				p.Set(redistest.Fault{CutAfter: int64(len(value) / 2), Once: true, ResetPeer: reset})
				b.Reset()
				sent := p.Sent()
				n, err = way(c.B().Get().Key("k").Build(), &b)
				require.Error(t, err, name)
				require.NotEqual(t, io.EOF, err)
				if !reset {
					require.ErrorIs(t, err, io.ErrUnexpectedEOF, name)
					require.Greater(t, b.Len(), len(value)/2-100, name)
				}
				require.EqualValues(t, b.Len(), n, name)
				require.LessOrEqual(t, b.Len(), len(value)/2, name)
				require.True(t, strings.HasPrefix(value, b.String()), "%s: an exact prefix", name)
				require.Less(t, p.Sent()-sent, int64(200), "%s: no second try", name)
				p.Clear()
				caseEchoes(t, c, 5)
			}
			caseEchoes(t, c, 100)
		}
	})
}

// A5: what may not be sent twice is not: a command that writes, and any command once a byte of its value was handed out.
func TestCase_A5_NoSecondTry(t *testing.T) {
	redistest.NoLeak(t)
	caseProtocols(t, func(t *testing.T, speak func(*rueidis.ClientOption)) {
		for _, row := range []struct {
			name, raw string
			readOnly  bool
			tries     int // 0 is several
		}{
			{"written, before the reply", "", false, 1},
			{"written, behind the header", "$1000\r\n", false, 1},
			{"written, at half", "$1000\r\n" + strings.Repeat("x", 500), false, 1},
			{"read, before the reply", "", true, 0},
			{"read, at half", "$1000\r\n" + strings.Repeat("x", 500), true, 1},
			{"read, after one byte", "$1000\r\nx", true, 1},
		} {
			f := redistest.NewFake(t, func(c *redistest.FakeConn, cmd []string) {
				if cmd[0] == "ECHO" {
					c.Write(redistest.Bulk(cmd[1]))
					return
				}
				c.Write(row.raw)
				c.Cut()
			})
			c := caseDial(t, f.Addr(), speak)
			for name, way := range caseCopies(caseContext(t), c) {
				before := len(f.Commands())
				cmd := c.B().Getdel().Key("k").Build()
				if row.readOnly {
					cmd = c.B().Get().Key("k").Build()
				}
				var b bytes.Buffer
				n, err := way(cmd, &b)
				require.ErrorIs(t, err, io.ErrUnexpectedEOF, "%s: %s", row.name, name)
				require.EqualValues(t, b.Len(), n)
				_, body, _ := strings.Cut(row.raw, "\n")
				require.Equal(t, body, b.String(), "%s: %s", row.name, name)
				tries := len(f.Commands()) - before
				if row.tries == 0 {
					require.Greater(t, tries, 1, "%s: %s", row.name, name)
					require.LessOrEqual(t, tries, 12, "%s: %s", row.name, name)
				} else {
					require.Equal(t, row.tries, tries, "%s: %s", row.name, name)
				}
				caseEchoes(t, c, 5)
			}
			caseEchoes(t, c, 100)
		}
	})
}

// A6: a buffer that is too small leaves nothing of the value on the connection. (There is no GetToBuffer: Header says the size before, and
// Read into too small a buffer is an ordinary Read.)
func TestCase_A6_TooSmallBuffer(t *testing.T) {
	redistest.NoLeak(t)
	srv := redistest.Shared(t)
	for key, n := range map[string]int{"tiny": 1, "small": 1000, "large": 3 << 20} {
		srv.Do(t, "SET", key, caseRandom(n, 6))
	}
	caseProtocols(t, func(t *testing.T, speak func(*rueidis.ClientOption)) {
		for _, drain := range []int{0, 100, 256 << 10, 16 << 20} {
			for key, n := range map[string]int{"tiny": 1, "small": 1000, "large": 3 << 20} {
				c := redistest.NewClient(t, srv, speak)
				ctx, value := caseContext(t), caseRandom(n, 6)
				for _, have := range []int{n - 1, n, n + 1, 0, n / 2} {
					r, err := rueidisstream.Do(ctx, c, c.B().Get().Key(key).Build(), rueidisstream.WithDrain(drain))
					require.NoError(t, err)
					require.EqualValues(t, n, r.Header().Len, "the size is known before")
					buf := make([]byte, have)
					m, err := io.ReadFull(r, buf)
					require.Equal(t, min(n, have), m)
					require.Equal(t, value[:m], string(buf[:m]))
					if have > n {
						require.Equal(t, io.ErrUnexpectedEOF, err, "the value ends before the buffer")
					} else {
						require.NoError(t, err)
					}
					require.NoError(t, r.Close())
					_, err = r.Read(buf[:min(have, 1)])
					require.Error(t, err)
					require.False(t, errors.Is(err, io.EOF), "a closed Reader is not at its end: %v", err)
					caseEchoes(t, c, 10)
				}
				caseEchoes(t, c, 100)
				c.Close()
			}
		}
	})
}

// A7: a connection that closes inside a value gives what arrived, and an error that nobody takes for the end.
func TestCase_A7_ClosedInsideAValue(t *testing.T) {
	redistest.NoLeak(t)
	body := caseRandom(400, 7)
	f := redistest.NewFake(t, func(c *redistest.FakeConn, cmd []string) {
		switch cmd[0] {
		case "ECHO":
			c.Write(redistest.Bulk(cmd[1]))
		case "GET":
			c.Write("$1000\r\n" + body)
			c.Cut()
		case "LRANGE":
			c.Write("*3\r\n$1\r\na\r\n$1000\r\n" + body)
			c.Cut()
		}
	})
	caseProtocols(t, func(t *testing.T, speak func(*rueidis.ClientOption)) {
		c := caseDial(t, f.Addr(), speak)
		ctx := caseContext(t)
		for name, way := range caseCopies(ctx, c) {
			var b bytes.Buffer
			n, err := way(c.B().Get().Key("k").Build(), &b)
			require.EqualValues(t, 400, n, name)
			require.Equal(t, body, b.String(), name)
			require.NotEqual(t, io.EOF, err, name)
			require.ErrorIs(t, err, io.ErrUnexpectedEOF, name)
			require.NotErrorIs(t, err, io.EOF, name)
			caseEchoes(t, c, 10)
		}
		// In an aggregate the elements before are right, and the cut one does not come out.
		var got []string
		var last error
		for v, err := range rueidisstream.Values(ctx, c, c.B().Lrange().Key("k").Start(0).Stop(-1).Build()) {
			if last = err; err == nil {
				got = append(got, v.String())
			}
		}
		require.Equal(t, []string{"a"}, got)
		require.ErrorIs(t, last, io.ErrUnexpectedEOF)
		// An element by pieces: the error comes back from every further call.
		r, err := rueidisstream.Do(ctx, c, c.B().Lrange().Key("k").Start(0).Stop(-1).Build())
		require.NoError(t, err)
		_, err = r.Next()
		require.NoError(t, err)
		h, err := r.Next()
		require.NoError(t, err)
		require.EqualValues(t, 1000, h.Len)
		all, err := io.ReadAll(r)
		require.Equal(t, body, string(all))
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		for range 3 {
			_, err = r.Read(make([]byte, 1))
			require.ErrorIs(t, err, io.ErrUnexpectedEOF)
			_, err = r.Next()
			require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		}
		require.NoError(t, r.Close())
		caseEchoes(t, c, 100)
	})
}

// A5: a pool full of connections that the server has closed, as after its restart, costs tries and not the read.
func TestCase_A5_PoolOfStaleConnections(t *testing.T) {
	redistest.NoLeak(t)
	srv := redistest.Shared(t)
	srv.Do(t, "SET", "k", "value")
	caseProtocols(t, func(t *testing.T, speak func(*rueidis.ClientOption)) {
		for _, stale := range []int{1, 5, 11, 12, 13, 50} {
			p := redistest.NewProxy(t, srv.Addr)
			c := caseDial(t, p.Addr(), speak, casePool(64), caseBuffers(4<<10))
			ctx := caseContext(t)
			for name, way := range caseCopies(ctx, c) {
				var open []*rueidisstream.Reader
				for range stale {
					r, err := rueidisstream.Do(ctx, c, c.B().Get().Key("k").Build())
					require.NoError(t, err)
					open = append(open, r)
				}
				for _, r := range open {
					require.NoError(t, r.Close())
				}
				p.CutAll() // the next connections are good
				var b bytes.Buffer
				_, err := way(c.B().Get().Key("k").Build(), &b)
				if err != nil || b.String() != "value" {
					t.Errorf("%s with %d stale connections: %q, %v", name, stale, b.String(), err)
				}
			}
		}
	})
}
