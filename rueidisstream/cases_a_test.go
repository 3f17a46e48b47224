package rueidisstream_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

// A1: a value of any size comes out as it went in, around the sizes of buffers too, and without memory for it.
func TestCase_A1_ValuesOfAllSizes(t *testing.T) {
	redistest.NoLeak(t)
	srv := redistest.Shared(t)
	const buffer = 512 << 10 // of a rueidis connection
	sizes := []int{0, 1, 2, 4095, 4096, 4097, 64 << 10, buffer - 10, buffer - 9, buffer - 2, buffer - 1, buffer, buffer + 1, caseSize(64<<20, 8<<20, 8<<20)}
	loader := redistest.NewClient(t, srv)
	sums := map[int][32]byte{}
	for _, n := range sizes {
		value := caseRandom(n, byte(n))
		sums[n] = caseSum(value)
		require.NoError(t, loader.Do(context.Background(), loader.B().Set().Key(strconv.Itoa(n)).Value(value).Build()).Error())
	}
	loader.Close()
	caseProtocols(t, func(t *testing.T, speak func(*rueidis.ClientOption)) {
		c := redistest.NewClient(t, srv, speak)
		ctx := caseContext(t)
		caseEchoes(t, c, 20)
		hash := sha256.New()
		piece := make([]byte, 32<<10)
		ways := map[string]func(cmd rueidis.Completed) (int64, error){
			"Copy": func(cmd rueidis.Completed) (int64, error) { return rueidisstream.Copy(ctx, c, cmd, hash) },
			"WriteTo": func(cmd rueidis.Completed) (int64, error) {
				return caseRead(ctx, c, cmd, func(r *rueidisstream.Reader) (int64, error) { return r.WriteTo(hash) })
			},
			"Read": func(cmd rueidis.Completed) (int64, error) {
				return caseRead(ctx, c, cmd, func(r *rueidisstream.Reader) (int64, error) {
					return io.CopyBuffer(struct{ io.Writer }{hash}, struct{ io.Reader }{r}, piece)
				})
			},
		}
		for _, n := range sizes {
			for name, way := range ways {
				hash.Reset()
				var m int64
				var err error
				used, _ := caseAllocated(func() { m, err = way(c.B().Get().Key(strconv.Itoa(n)).Build()) })
				require.NoError(t, err, "%s of %d", name, n)
				require.EqualValues(t, n, m, name)
				require.Equal(t, sums[n], [32]byte(hash.Sum(nil)), "%s of %d", name, n)
				require.Less(t, used, int64(1<<20), "%s of %d: bytes allocated", name, n)
			}
			for v, err := range rueidisstream.Values(ctx, c, c.B().Get().Key(strconv.Itoa(n)).Build()) {
				require.NoError(t, err)
				require.EqualValues(t, n, v.Len())
				require.Equal(t, sums[n], sha256.Sum256(v.Bytes()), "Values of %d", n)
			}
		}
		caseEchoes(t, c, 100)
	})
}

// caseRead is Do, f and Close.
func caseRead(ctx context.Context, c rueidis.Client, cmd rueidis.Completed, f func(r *rueidisstream.Reader) (int64, error)) (int64, error) {
	r, err := rueidisstream.Do(ctx, c, cmd)
	if err != nil {
		return 0, err
	}
	n, err := f(r)
	return n, errors.Join(err, r.Close())
}

// A2: one reply is a snapshot: a value that is overwritten while it is read comes out as it was.
func TestCase_A2_OverwrittenWhileItIsRead(t *testing.T) {
	redistest.NoLeak(t)
	srv := redistest.Shared(t)
	n := caseSize(64<<20, 24<<20, 16<<20) // much more than sockets hold
	former, later := caseRandom(n, 1), caseRandom(n, 2)
	admin := redistest.NewClient(t, srv)
	set := func(value string) {
		require.NoError(t, admin.Do(context.Background(), admin.B().Set().Key("k").Value(value).Build()).Error())
	}
	caseProtocols(t, func(t *testing.T, speak func(*rueidis.ClientOption)) {
		c := redistest.NewClient(t, srv, speak)
		ctx := caseContext(t)
		for _, way := range []func(w io.Writer) (int64, error){
			func(w io.Writer) (int64, error) { return rueidisstream.Copy(ctx, c, c.B().Get().Key("k").Build(), w) },
			func(w io.Writer) (int64, error) {
				return caseRead(ctx, c, c.B().Get().Key("k").Build(), func(r *rueidisstream.Reader) (int64, error) { return r.WriteTo(w) })
			},
		} {
			set(former)
			hash := sha256.New()
			got, overwritten := 0, false
			m, err := way(caseWriter(func(p []byte) (int, error) {
				if got += len(p); got >= 1<<20 && !overwritten {
					overwritten = true
					set(later)
					time.Sleep(20 * time.Millisecond)
				}
				return hash.Write(p)
			}))
			require.NoError(t, err)
			require.EqualValues(t, n, m)
			require.True(t, overwritten)
			require.Equal(t, caseSum(former), [32]byte(hash.Sum(nil)), "not a byte of the later value")
			hash.Reset()
			_, err = way(hash)
			require.NoError(t, err)
			require.Equal(t, caseSum(later), [32]byte(hash.Sum(nil)))
		}
		caseEchoes(t, c, 100)
	})
}

// A8: the streams of many at once need no memory for their values: beside the connections, no more than a small sum for each.
func TestCase_A8_ParallelStreamsTakeLittleMemory(t *testing.T) {
	redistest.NoLeak(t)
	srv := redistest.Shared(t)
	const streams = 200
	n := caseSize(2<<20, 1<<20, 512<<10)
	srv.Do(t, "SET", "k", caseRandom(n, 8))
	caseProtocols(t, func(t *testing.T, speak func(*rueidis.ClientOption)) {
		c := redistest.NewClient(t, srv, speak, casePool(streams), caseBuffers(32<<10))
		ctx := caseContext(t)
		dialled := false
		for name, way := range map[string]func(w io.Writer) (int64, error){
			"Copy": func(w io.Writer) (int64, error) { return rueidisstream.Copy(ctx, c, c.B().Get().Key("k").Build(), w) },
			"Do": func(w io.Writer) (int64, error) {
				return caseRead(ctx, c, c.B().Get().Key("k").Build(), func(r *rueidisstream.Reader) (int64, error) { return r.WriteTo(w) })
			},
		} {
			var arrived atomic.Int32
			round := func(whenAll func()) {
				// All of them are inside their value when the memory is looked at.
				all, goOn := make(chan struct{}), make(chan struct{})
				arrived.Store(0)
				var wg sync.WaitGroup
				for range streams {
					wg.Go(func() {
						half := false
						m, err := way(caseWriter(func(p []byte) (int, error) {
							if !half {
								if half = true; arrived.Add(1) == streams {
									close(all)
								}
								<-goOn
							}
							return len(p), nil
						}))
						if err != nil || m != int64(n) {
							t.Errorf("%s: %d bytes, %v", name, m, err)
							if !half && arrived.Add(1) == streams {
								close(all)
							}
						}
					})
				}
				<-all
				whenAll()
				close(goOn)
				wg.Wait()
			}
			if !dialled {
				dialled = true
				round(func() {})
			}
			before := caseLive()
			var during int64
			used, _ := caseAllocated(func() { round(func() { during = caseLive() }) })
			require.Less(t, during-before, int64(streams*64<<10), "%s: heap in use", name)
			require.Less(t, used, int64(streams*64<<10), "%s: bytes allocated", name)
		}
		caseEchoes(t, c, 100)
	})
}

// A9: a streamed GET of 1 KiB allocates a small number of objects that depends on nothing, and none of its bytes become a string.
func TestCase_A9_AllocationsPerGet(t *testing.T) {
	srv := redistest.Shared(t)
	srv.Do(t, "SET", "small", caseRandom(16, 9))
	srv.Do(t, "SET", "kib", caseRandom(1024, 9))
	srv.Do(t, "SET", "mib", caseRandom(1<<20, 9))
	c := redistest.NewClient(t, srv, casePool(1))
	ctx := context.Background()
	for name, row := range map[string]struct {
		limit float64
		get   func(key string) (int64, error)
	}{
		"Copy": {1, func(key string) (int64, error) {
			return rueidisstream.Copy(ctx, c, c.B().Get().Key(key).Build(), io.Discard)
		}},
		"Do": {3, func(key string) (int64, error) {
			r, err := rueidisstream.Do(ctx, c, c.B().Get().Key(key).Build())
			if err != nil {
				return 0, err
			}
			n, err := r.WriteTo(io.Discard)
			return n, errors.Join(err, r.Close())
		}},
	} {
		allocs := func(key string, size int64) float64 {
			return testing.AllocsPerRun(200, func() {
				if n, err := row.get(key); err != nil || n != size {
					t.Fatalf("%d, %v", n, err)
				}
			})
		}
		small, kib, mib := allocs("small", 16), allocs("kib", 1024), allocs("mib", 1<<20)
		t.Logf("%s: %v, %v, %v", name, small, kib, mib)
		slack := 0.0
		if caseRace {
			slack = 5 // its sync.Pool forgets at random
		}
		require.LessOrEqual(t, kib, row.limit+slack, name)
		require.InDelta(t, small, kib, slack, name)
		require.InDelta(t, small, mib, slack, name)
	}
}

// BenchmarkCaseGet reads one value, for A9's allocations and for the time.
func BenchmarkCaseGet(b *testing.B) {
	srv := redistest.Shared(b)
	c := redistest.NewClient(b, srv)
	ctx := context.Background()
	for _, n := range []int{1 << 10, 1 << 20} {
		key := strconv.Itoa(n)
		srv.Do(b, "SET", key, caseRandom(n, 9))
		for _, impl := range []struct {
			name string
			get  func() (int64, error)
		}{
			{"rueidisx", func() (int64, error) {
				return rueidisstream.Copy(ctx, c, c.B().Get().Key(key).Build(), io.Discard)
			}},
			{"rueidis", func() (int64, error) {
				s := c.DoStream(ctx, c.B().Get().Key(key).Build())
				return s.WriteTo(io.Discard)
			}},
		} {
			b.Run("size="+key+"/impl="+impl.name, func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(n))
				for b.Loop() {
					if m, err := impl.get(); err != nil || m != int64(n) {
						b.Fatal(m, err)
					}
				}
			})
		}
	}
}
