package compatgoredis

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis/rueidiscompat"

	"github.com/rueidisx/rueidisx/compat/goredis"
	"github.com/rueidisx/rueidisx/internal/redistest"
)

// BenchmarkSMembers reads sets of 16-byte members.
func BenchmarkSMembers(b *testing.B) {
	srv := redistest.Shared(b)
	client := redistest.NewClient(b, srv)
	native := redis.NewClient(&redis.Options{Addr: srv.Addr})
	b.Cleanup(func() { _ = native.Close() })
	ctx := context.Background()
	compat, ours := rueidiscompat.NewAdapter(client), goredis.NewAdapter(client)
	impls := []struct {
		name string
		call func(key string) ([]string, error)
	}{
		{"goredis", func(key string) ([]string, error) { return native.SMembers(ctx, key).Result() }},
		{"rueidiscompat", func(key string) ([]string, error) { return compat.SMembers(ctx, key).Result() }},
		{"rueidisx", func(key string) ([]string, error) { return ours.SMembers(ctx, key).Result() }},
	}
	for _, size := range []int{1, 10, 100, 300, 1000, 5000, 100_000} {
		key := "set:" + strconv.Itoa(size)
		for at := 0; at < size; at += 1000 {
			var members []any
			for i := at; i < min(size, at+1000); i++ {
				members = append(members, fmt.Sprintf("member:%09d", i))
			}
			if err := compat.SAdd(ctx, key, members...).Err(); err != nil {
				b.Fatal(err)
			}
		}
		for _, impl := range impls {
			once := func(b *testing.B) {
				if v, err := impl.call(key); err != nil || len(v) != size {
					b.Fatal(len(v), err)
				}
			}
			once(b)
			b.Run(fmt.Sprintf("size=%d/impl=%s", size, impl.name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					once(b)
				}
			})
			if size <= 300 {
				b.Run(fmt.Sprintf("size=%d/parallel=64/impl=%s", size, impl.name), func(b *testing.B) {
					b.ReportAllocs()
					b.SetParallelism(32)
					b.RunParallel(func(pb *testing.PB) {
						for pb.Next() {
							once(b)
						}
					})
				})
			}
		}
	}
}
