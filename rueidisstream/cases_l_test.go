package rueidisstream_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

// L1: a sink that fails inside a value that holds a forged reply: the bytes behind are never read as the next reply.
func TestCase_L1_SinkFailsBeforeForgedReply(t *testing.T) {
	redistest.NoLeak(t)
	srv := redistest.Shared(t)
	const forged = "$6\r\nFORGED\r\n"
	a := strings.Repeat("a", 100)
	b := strings.Repeat("b", 84) + forged + strings.Repeat("b", 300-84-len(forged))
	// In big the reader's buffers end at many places, and each of them is followed by forged replies.
	big := strings.Repeat(forged, 100_000)
	for key, value := range map[string]string{"a": a, "b": b, "big": big} {
		srv.Do(t, "SET", key, value)
	}
	sinks := map[string]func(int) (io.Writer, func() []byte, error){
		"error": func(n int) (io.Writer, func() []byte, error) {
			f := &caseSink{left: n}
			return f, func() []byte { require.Zero(t, f.calls, "the sink was called after it failed"); return f.got }, errCaseSink
		},
		"short": func(n int) (io.Writer, func() []byte, error) {
			f := &caseSink{left: n}
			return caseWriter(func(p []byte) (int, error) { n, _ := f.Write(p); return n, nil }), func() []byte { return f.got }, io.ErrShortWrite
		},
	}
	caseProtocols(t, func(t *testing.T, speak func(*rueidis.ClientOption)) {
		for name, sink := range sinks {
			for _, value := range []struct {
				key, value string
			}{{"a", a}, {"b", b}, {"big", big}} {
				for _, drain := range []int{0, 1, 12, 300, 256 << 10, 16 << 20} {
					for _, n := range []int{0, 1, 10, 84, 88, 99} {
						c := redistest.NewClient(t, srv, speak)
						ctx, opt := caseContext(t), rueidisstream.WithDrain(drain)

						w, got, want := sink(n)
						m, err := rueidisstream.Copy(ctx, c, c.B().Get().Key(value.key).Build(), w, opt)
						require.ErrorIs(t, err, want, name)
						require.EqualValues(t, n, m)
						require.Equal(t, value.value[:n], string(got()))
						caseEchoes(t, c, 5)

						// The same on a pipeline: the next reply is what it is.
						w, got, want = sink(n)
						rs := rueidisstream.DoMulti(ctx, c, []rueidis.Completed{c.B().Get().Key(value.key).Build(), c.B().Get().Key("b").Build()}, opt)
						r, err := rs.Next()
						require.NoError(t, err)
						m, err = r.WriteTo(w)
						require.ErrorIs(t, err, want, name)
						require.EqualValues(t, n, m)
						require.Equal(t, value.value[:n], string(got()))
						r, err = rs.Next()
						require.NoError(t, err)
						var all bytes.Buffer
						_, err = r.WriteTo(&all)
						require.NoError(t, err)
						require.Equal(t, b, all.String())
						require.NoError(t, rs.Close())
						caseEchoes(t, c, 5)
						c.Close()
					}
				}
			}
		}
		c := redistest.NewClient(t, srv, speak)
		_, err := rueidisstream.Copy(caseContext(t), c, c.B().Get().Key("a").Build(), &caseSink{left: 10})
		require.ErrorIs(t, err, errCaseSink)
		var all bytes.Buffer
		_, err = rueidisstream.Copy(caseContext(t), c, c.B().Get().Key("b").Build(), &all)
		require.NoError(t, err)
		require.Equal(t, b, all.String())
		caseEchoes(t, c, 1000)
	})
}

// L2: ConnWriteTimeout does not cut a value whose consumer is slow. What is documented: the context alone rules over a stream.
func TestCase_L2_SlowSinkOutlivesConnWriteTimeout(t *testing.T) {
	redistest.NoLeak(t)
	srv := redistest.Shared(t)
	value := caseRandom(20<<20, 2)
	srv.Do(t, "SET", "slow", value)
	caseProtocols(t, func(t *testing.T, speak func(*rueidis.ClientOption)) {
		c := redistest.NewClient(t, srv, speak, casePool(8), caseBuffers(128<<10), func(o *rueidis.ClientOption) { o.ConnWriteTimeout = time.Second })
		get := func() rueidis.Completed { return c.B().Get().Key("slow").Build() }
		ways := map[string]func(ctx context.Context, w io.Writer) (int64, error){
			"Copy": func(ctx context.Context, w io.Writer) (int64, error) { return rueidisstream.Copy(ctx, c, get(), w) },
			"Do": func(ctx context.Context, w io.Writer) (int64, error) {
				r, err := rueidisstream.Do(ctx, c, get())
				if err != nil {
					return 0, err
				}
				defer r.Close()
				return r.WriteTo(w)
			},
			"DoMulti": func(ctx context.Context, w io.Writer) (n int64, err error) {
				for r, err := range rueidisstream.DoMulti(ctx, c, []rueidis.Completed{get()}).All() {
					if err != nil {
						return n, err
					}
					if n, err = r.WriteTo(w); err != nil {
						return n, err
					}
				}
				return n, nil
			},
		}
		var wg sync.WaitGroup
		// One begins when the one before has its first bytes: for those Copy waits no longer than ConnWriteTimeout.
		begun := make(chan struct{}, 1)
		for name, way := range ways {
			for ctxName, ctx := range map[string]context.Context{"background": context.Background(), "deadline": caseContext(t)} {
				begun <- struct{}{}
				wg.Go(func() {
					got := sha256.New()
					writes := 0
					n, err := way(ctx, caseWriter(func(p []byte) (int, error) {
						if writes++; writes == 1 {
							<-begun
						}
						if writes <= 75 {
							time.Sleep(20 * time.Millisecond)
						}
						return got.Write(p)
					}))
					if writes == 0 {
						<-begun
					}
					if err != nil || n != int64(len(value)) || [32]byte(got.Sum(nil)) != caseSum(value) || writes < 75 {
						t.Errorf("%s, %s: %d bytes in %d writes: %v", name, ctxName, n, writes, err)
					}
				})
			}
		}
		wg.Wait()
		caseEchoes(t, c, 100)
	})
}

// L2: where a time limit does end it, the error says which one and how many bytes arrived. A limit of the client is not the context's.
func TestCase_L2_TimeLimitSaysWhatItIs(t *testing.T) {
	redistest.NoLeak(t)
	stall := make(chan struct{})
	defer close(stall)
	f := redistest.NewFake(t, func(c *redistest.FakeConn, cmd []string) {
		switch cmd[0] {
		case "GET":
			if cmd[1] == "half" {
				c.Write("$1000\r\n" + strings.Repeat("x", 400))
			}
			c.Block(stall)
		case "ECHO":
			c.Write(redistest.Bulk(cmd[1]))
		}
	})
	caseProtocols(t, func(t *testing.T, speak func(*rueidis.ClientOption)) {
		t.Run("the context's, half-way", func(t *testing.T) {
			c := caseDial(t, f.Addr(), speak)
			ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
			defer cancel()
			var b bytes.Buffer
			n, err := rueidisstream.Copy(ctx, c, c.B().Get().Key("half").Build(), &b)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.ErrorContains(t, err, "400 bytes")
			require.EqualValues(t, 400, n)
			caseEchoes(t, c, 100)
		})
		t.Run("the client's, before the reply", func(t *testing.T) {
			c := caseDial(t, f.Addr(), speak, func(o *rueidis.ClientOption) { o.ConnWriteTimeout = 300 * time.Millisecond })
			ctx := caseContext(t)
			_, err := rueidisstream.Copy(ctx, c, c.B().Get().Key("nothing").Build(), io.Discard)
			require.Error(t, err)
			require.NoError(t, ctx.Err())
			require.False(t, errors.Is(err, context.DeadlineExceeded), "the context is not done, so it is not its error: %v", err)
			caseEchoes(t, c, 100)
		})
	})
}

// L4: handles that are closed without being read give the pool its connections back, however many there were.
func TestCase_L4_ClosedUnreadHandlesKeepThePool(t *testing.T) {
	redistest.NoLeak(t)
	srv := redistest.Shared(t)
	srv.Do(t, "SET", "small", "value")
	srv.Do(t, "SET", "big", caseRandom(1<<20, 4))
	srv.Do(t, "SADD", "set", "a", "b", "c")
	caseProtocols(t, func(t *testing.T, speak func(*rueidis.ClientOption)) {
		c := redistest.NewClient(t, srv, speak, casePool(2), caseBuffers(16<<10))
		ctx := caseContext(t)
		open := map[string]func() error{
			"Do": func() error {
				r, err := rueidisstream.Do(ctx, c, c.B().Get().Key("small").Build())
				if err != nil {
					return err
				}
				return errors.Join(r.Close(), r.Close())
			},
			"DoMulti": func() error {
				return rueidisstream.DoMulti(ctx, c, []rueidis.Completed{c.B().Get().Key("small").Build(), c.B().Smembers().Key("set").Build()}).Close()
			},
			"Values": func() error {
				_ = rueidisstream.Values(ctx, c, c.B().Smembers().Key("set").Build()) // never ranged over: nothing is sent
				for _, err := range rueidisstream.Values(ctx, c, c.B().Smembers().Key("set").Build()) {
					return err
				}
				return nil
			},
			"null": func() error {
				_, err := rueidisstream.Do(ctx, c, c.B().Get().Key("missing").Build())
				if !rueidis.IsRedisNil(err) {
					return errors.Join(errors.New("no nil"), err)
				}
				return nil
			},
			"big": func() error {
				r, err := rueidisstream.Do(ctx, c, c.B().Get().Key("big").Build())
				if err != nil {
					return err
				}
				return r.Close()
			},
		}
		handles := map[string]int{"Do": 10_000, "DoMulti": 2000, "Values": 2000, "null": 1000, "big": 300}
		for name, n := range handles {
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					for i := range n / 4 {
						if err := open[name](); err != nil {
							t.Errorf("%s, handle %d: %v", name, i, err)
							return
						}
					}
				})
			}
			wg.Wait()
		}
		caseEchoes(t, c, 100)
	})
}
