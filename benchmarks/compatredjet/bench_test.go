package compatredjet

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	theirs "github.com/coder/redjet"
	"github.com/redis/rueidis"

	ours "github.com/rueidisx/rueidisx/compat/redjet"
	"github.com/rueidisx/rueidisx/internal/redistest"
)

func TestMain(m *testing.M) { redistest.Main(m) }

// BenchmarkGet is the benchmark of rueidis' pull request 460, by which its DoStream was measured: GET to io.Discard, single and 20 in
// a pipeline, of 1 B, 1 KiB and 1 MiB, in parallel.
func BenchmarkGet(b *testing.B) {
	srv := redistest.Standalone(b)
	rc, err := rueidis.NewClient(srv.ClientOption())
	if err != nil {
		b.Fatal(err)
	}
	defer rc.Close()
	us := ours.New(rc)
	them := theirs.New(srv.Addr)
	them.ConnectionPoolSize = 100
	defer them.Close()
	ctx := context.Background()
	for _, size := range []int{1, 1 << 10, 1 << 20} {
		if err := us.Command(ctx, "SET", "v", strings.Repeat("x", size)).Ok(); err != nil {
			b.Fatal(err)
		}
		for _, n := range []int{1, 20} {
			run := func(impl string, get func() error) {
				b.Run(fmt.Sprintf("pipeline=%d/size=%d/impl=%s", n, size, impl), func(b *testing.B) {
					b.ReportAllocs()
					b.SetBytes(int64(n * size))
					b.RunParallel(func(pb *testing.PB) {
						for pb.Next() {
							if err := get(); err != nil {
								b.Error(err)
								return
							}
						}
					})
				})
			}
			if n == 1 {
				run("redjet", func() error {
					return right(size)(them.Command(ctx, "GET", "v").WriteTo(io.Discard))
				})
				run("rueidisx", func() error {
					return right(size)(us.Command(ctx, "GET", "v").WriteTo(io.Discard))
				})
				continue
			}
			run("redjet", func() error {
				var p *theirs.Pipeline
				for range n {
					p = them.Pipeline(ctx, p, "GET", "v")
				}
				for p.Next() {
					if err := right(size)(p.WriteTo(io.Discard)); err != nil {
						return err
					}
				}
				return p.Close()
			})
			run("rueidisx", func() error {
				var p *ours.Pipeline
				for range n {
					p = us.Pipeline(ctx, p, "GET", "v")
				}
				for p.Next() {
					if err := right(size)(p.WriteTo(io.Discard)); err != nil {
						return err
					}
				}
				return p.Close()
			})
		}
	}
}

func right(size int) func(n int64, err error) error {
	return func(n int64, err error) error {
		if err == nil && n != int64(size) {
			err = fmt.Errorf("%d bytes in place of %d", n, size)
		}
		return err
	}
}
