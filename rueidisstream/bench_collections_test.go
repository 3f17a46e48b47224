package rueidisstream_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

// BenchmarkMembersSmall is Members of sets on both sides of the fast path's threshold beside client.Do, and beside Members
// without the fast path (stream), by one goroutine and by 64 on one client.
func BenchmarkMembersSmall(b *testing.B) {
	benchmarkMembers(b, []int{1, 10, 100, 300, 1000}, map[string][]rueidisstream.Option{
		"rueidisx": nil,
		"stream":   {rueidisstream.WithSmall(0)},
	})
}

// BenchmarkMembersThreshold is the same for several thresholds.
func BenchmarkMembersThreshold(b *testing.B) {
	impls := map[string][]rueidisstream.Option{}
	for _, n := range []int{0, 64, 128, 256, 512} {
		impls[fmt.Sprint("small", n)] = []rueidisstream.Option{rueidisstream.WithSmall(n)}
	}
	benchmarkMembers(b, []int{1, 10, 100, 200, 300, 1000}, impls)
}

func benchmarkMembers(b *testing.B, sizes []int, impls map[string][]rueidisstream.Option) {
	c := redistest.NewClient(b, redistest.Shared(b))
	ctx := context.Background()
	for _, size := range sizes {
		key := fmt.Sprint("set:", size)
		fillSet(b, c, key, size)
		for _, goroutines := range []int{1, 64} {
			run := func(impl string, read func() (int, error)) {
				b.Run(fmt.Sprintf("size=%d/goroutines=%d/impl=%s", size, goroutines, impl), func(b *testing.B) {
					b.ReportAllocs()
					var left atomic.Int64
					left.Store(int64(b.N))
					var all sync.WaitGroup
					for range goroutines {
						all.Go(func() {
							for left.Add(-1) >= 0 {
								if n, err := read(); err != nil || n != 16*size {
									b.Error(n, err)
									return
								}
							}
						})
					}
					all.Wait()
				})
			}
			run("rueidis", func() (n int, err error) {
				members, err := c.Do(ctx, c.B().Smembers().Key(key).Build()).AsStrSlice()
				for _, m := range members {
					n += len(m)
				}
				return n, err
			})
			for impl, opts := range impls {
				run(impl, func() (n int, err error) {
					for m, err := range rueidisstream.Members(ctx, c, key, opts...) {
						if err != nil {
							return n, err
						}
						n += len(m.Bytes())
					}
					return n, nil
				})
			}
		}
	}
}
