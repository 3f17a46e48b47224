package rueidisstream_test

import (
	"context"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

// Cancelling is seen before the reply's first byte too, when the server, or what is between, is silent.
func TestAdversary_CancelBeforeFirstByte(t *testing.T) {
	srv := redistest.Shared(t)
	srv.Do(t, "SET", "key", "value")
	for name, run := range map[string]func(context.Context, rueidis.Client) error{
		"Do": func(ctx context.Context, c rueidis.Client) error {
			_, err := rueidisstream.Do(ctx, c, advCmd(c, "GET", "key"))
			return err
		},
		"Copy": func(ctx context.Context, c rueidis.Client) error {
			_, err := rueidisstream.Copy(ctx, c, advCmd(c, "GET", "key"), io.Discard)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			redistest.NoLeak(t)
			p := redistest.NewProxy(t, srv.Addr)
			c := advClient(t, p.Addr(), func(o *rueidis.ClientOption) { o.ConnWriteTimeout = time.Second })
			advEcho(t, c, 4)
			p.Set(redistest.Fault{StallAfter: redistest.AtOnce})
			ctx, cancel := context.WithCancel(context.Background())
			time.AfterFunc(100*time.Millisecond, cancel)
			done := make(chan error, 1)
			go func() { done <- run(ctx, c) }()
			select {
			case err := <-done:
				require.ErrorIs(t, err, context.Canceled)
			case <-time.After(5 * time.Second):
				p.Clear()
				<-done
				require.Fail(t, "a cancelled call hangs while the server is silent, beyond ConnWriteTimeout")
			}
			p.Clear()
			advEcho(t, c, 100)
		})
	}
}

// Whatever the byte at which the network stalls, a cancelled stream comes back.
func TestAdversary_StallAtAnyByte(t *testing.T) {
	redistest.NoLeak(t)
	srv := redistest.Shared(t)
	srv.Do(t, "RPUSH", "list", "a", "b")
	p := redistest.NewProxy(t, srv.Addr)
	c := advClient(t, p.Addr())
	const opening, reply, closing = 23, 18, 10
	for n := opening; n <= opening+reply+closing; n++ {
		advEcho(t, c, 1)
		p.Set(redistest.Fault{StallAfter: int64(n)})
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(30*time.Millisecond, cancel)
		done := make(chan []string, 1)
		go func() {
			var got []string
			for v, err := range rueidisstream.Values(ctx, c, advCmd(c, "LRANGE", "list", "0", "-1")) {
				if err != nil {
					got = append(got, "error: "+err.Error())
					continue
				}
				got = append(got, v.String())
			}
			done <- got
		}()
		select {
		case got := <-done:
			if n < opening+reply {
				require.NotEmpty(t, got)
				require.Contains(t, got[len(got)-1], "context canceled", "stall after %d bytes", n)
			} else {
				require.Equal(t, []string{"a", "b"}, got)
			}
		case <-time.After(5 * time.Second):
			p.Clear()
			<-done
			require.Failf(t, "hangs", "stall after %d bytes of %d", n, opening+reply+closing)
		}
		cancel()
		p.Clear()
	}
	advEcho(t, c, 100)
}

// Reading a null or an error inside an aggregate says what it is, and the elements behind it are still there.
func TestAdversary_ReadOfNullInsideAggregate(t *testing.T) {
	for name, element := range map[string]string{"null": "$-1\r\n", "error": "-ERR inner\r\n", "bulk error": "!9\r\nERR inner\r\n"} {
		for way, read := range map[string]func(*rueidisstream.Reader) error{
			"Read":    func(r *rueidisstream.Reader) error { _, err := r.Read(make([]byte, 10)); return err },
			"WriteTo": func(r *rueidisstream.Reader) error { _, err := r.WriteTo(io.Discard); return err },
		} {
			t.Run(way+" of "+name, func(t *testing.T) {
				r := rueidisstream.NewReader(strings.NewReader("*3\r\n$1\r\na\r\n" + element + "$1\r\nc\r\n"))
				_, err := r.Next()
				require.NoError(t, err)
				_, err = r.Next()
				require.NoError(t, err)
				require.Error(t, read(r))
				_, err = r.Next()
				require.NoError(t, err, "the element behind is lost")
				v, err := r.Value()
				require.NoError(t, err)
				require.Equal(t, "c", v.String())
				require.NoError(t, r.Close())
			})
		}
	}
}

// endless is a source without end.
type advEndless struct{ n int }

func (e *advEndless) Read(b []byte) (int, error) {
	if e.n += len(b); e.n > 64<<20 {
		return 0, io.ErrUnexpectedEOF
	}
	clear(b)
	return len(b), nil
}

// Leaving early reads no more than WithDrain, also if an element behind announces nearly 2^63 bytes.
func TestAdversary_DrainIsBoundedForHugeLength(t *testing.T) {
	for _, length := range []string{"1000000000", "9223372036854775000", "9223372036854775803"} {
		src := new(advEndless)
		r := rueidisstream.NewReader(io.MultiReader(strings.NewReader("*2\r\n$1\r\na\r\n$"+length+"\r\n"), src), rueidisstream.WithDrain(1000))
		for v, err := range r.Values() {
			require.NoError(t, err)
			require.Equal(t, "a", v.String())
			break
		}
		require.NoError(t, r.Close())
		require.Less(t, src.n, 1<<20, "bytes read for a length of %s with a drain of 1000", length)
	}
}

// The largest WithDrain means that all is drained.
func TestAdversary_LargestDrain(t *testing.T) {
	redistest.NoLeak(t)
	srv := redistest.Shared(t)
	c := advClient(t, srv.Addr)
	before := advConnID(t, c)
	r, err := rueidisstream.Do(advCtx(t), c, advCmd(c, "ECHO", "x"), rueidisstream.WithDrain(math.MaxInt))
	require.NoError(t, err)
	require.NoError(t, r.Close())
	require.Equal(t, before, advConnID(t, c))
	rs := rueidisstream.DoMulti(advCtx(t), c, []rueidis.Completed{advCmd(c, "ECHO", "x"), advCmd(c, "ECHO", "y")}, rueidisstream.WithDrain(math.MaxInt))
	require.NoError(t, rs.Close())
	require.Equal(t, before, advConnID(t, c), "the connection was given up")
}
