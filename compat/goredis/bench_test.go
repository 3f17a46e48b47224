package goredis_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidiscompat"

	"github.com/rueidisx/rueidisx/compat/goredis"
	"github.com/rueidisx/rueidisx/internal/redistest"
)

// benchSizes are those of the replies: small ones must not be slower than rueidiscompat's, big ones faster.
var benchSizes = []int{1, 10, 30, 64, 100, 300, 1000, 5000, 100_000}

// fill adds n members of 16 bytes by a command that takes so many words for each.
func fill(b *testing.B, client rueidis.Client, name, key string, n int, words func(i int) []string) {
	b.Helper()
	ctx := context.Background()
	for at := 0; at < n; at += 1000 {
		cmd := client.B().Arbitrary(name).Keys(key)
		for i := at; i < min(n, at+1000); i++ {
			cmd = cmd.Args(words(i)...)
		}
		if err := client.Do(ctx, cmd.Build()).Error(); err != nil {
			b.Fatal(err)
		}
	}
}

func member(i int) string { return fmt.Sprintf("member:%09d", i) }

type benched struct {
	name  string
	fill  func(b *testing.B, client rueidis.Client, key string, n int)
	call  func(ctx context.Context, c rueidiscompat.Cmdable, key string) (int, error)
	sizes []int
}

var (
	benchSMembers = benched{
		"SMEMBERS", func(b *testing.B, client rueidis.Client, key string, n int) {
			fill(b, client, "SADD", key, n, func(i int) []string { return []string{member(i)} })
		},
		func(ctx context.Context, c rueidiscompat.Cmdable, key string) (int, error) {
			v, err := c.SMembers(ctx, key).Result()
			return len(v), err
		}, benchSizes,
	}
	benchHGetAll = benched{
		"HGETALL", func(b *testing.B, client rueidis.Client, key string, n int) {
			fill(b, client, "HSET", key, n, func(i int) []string { return []string{member(i), "value " + strconv.Itoa(i)} })
		},
		func(ctx context.Context, c rueidiscompat.Cmdable, key string) (int, error) {
			v, err := c.HGetAll(ctx, key).Result()
			return len(v), err
		}, benchSizes,
	}
	benchLRange = benched{
		"LRANGE", func(b *testing.B, client rueidis.Client, key string, n int) {
			fill(b, client, "RPUSH", key, n, func(i int) []string { return []string{member(i)} })
		},
		func(ctx context.Context, c rueidiscompat.Cmdable, key string) (int, error) {
			v, err := c.LRange(ctx, key, 0, -1).Result()
			return len(v), err
		}, benchSizes,
	}
	benchZRange = benched{
		"ZRANGE", func(b *testing.B, client rueidis.Client, key string, n int) {
			fill(b, client, "ZADD", key, n, func(i int) []string { return []string{strconv.Itoa(i), member(i)} })
		},
		func(ctx context.Context, c rueidiscompat.Cmdable, key string) (int, error) {
			v, err := c.ZRangeWithScores(ctx, key, 0, -1).Result()
			return len(v), err
		}, []int{10, 100, 1000, 5000, 100_000},
	}
	benchXRange = benched{
		"XRANGE", func(b *testing.B, client rueidis.Client, key string, n int) {
			ctx := context.Background()
			var cmds rueidis.Commands
			for i := range n {
				cmds = append(cmds, client.B().Xadd().Key(key).Id("*").FieldValue().FieldValue("n", strconv.Itoa(i)).FieldValue("text", member(i)).Build())
			}
			for _, r := range client.DoMulti(ctx, cmds...) {
				if err := r.Error(); err != nil {
					b.Fatal(err)
				}
			}
		},
		func(ctx context.Context, c rueidiscompat.Cmdable, key string) (int, error) {
			v, err := c.XRange(ctx, key, "-", "+").Result()
			return len(v), err
		}, []int{1, 10, 100, 1000, 5000},
	}
	benchMGet = benched{
		"MGET", func(b *testing.B, client rueidis.Client, key string, n int) {
			ctx := context.Background()
			var cmds rueidis.Commands
			for i := range n {
				cmds = append(cmds, client.B().Set().Key("mget:"+strconv.Itoa(i)).Value(member(i)).Build())
			}
			for _, r := range client.DoMulti(ctx, cmds...) {
				if err := r.Error(); err != nil {
					b.Fatal(err)
				}
			}
		},
		nil, []int{10, 100, 1000, 5000},
	}
)

func run(b *testing.B, s benched) {
	client := redistest.NewClient(b, redistest.Shared(b))
	ctx := context.Background()
	impls := []struct {
		name string
		c    rueidiscompat.Cmdable
	}{{"rueidiscompat", rueidiscompat.NewAdapter(client)}, {"rueidisx", goredis.NewAdapter(client)}, {"stream", goredis.NewAdapter(client).WithStreamFrom(0)}}
	for _, size := range s.sizes {
		key := s.name + ":" + strconv.Itoa(size)
		s.fill(b, client, key, size)
		call := s.call
		if call == nil {
			keys := make([]string, size)
			for i := range keys {
				keys[i] = "mget:" + strconv.Itoa(i)
			}
			call = func(ctx context.Context, c rueidiscompat.Cmdable, _ string) (int, error) {
				v, err := c.MGet(ctx, keys...).Result()
				return len(v), err
			}
		}
		for _, impl := range impls {
			once := func(b *testing.B) {
				if n, err := call(ctx, impl.c, key); err != nil || n != size {
					b.Fatal(n, err)
				}
			}
			once(b) // what it remembers of the key, and a connection
			b.Run(fmt.Sprintf("size=%d/impl=%s", size, impl.name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					once(b)
				}
			})
			if size <= 1000 {
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

func BenchmarkSMembers(b *testing.B) { run(b, benchSMembers) }

func BenchmarkHGetAll(b *testing.B) { run(b, benchHGetAll) }

func BenchmarkLRange(b *testing.B) { run(b, benchLRange) }

func BenchmarkZRangeWithScores(b *testing.B) { run(b, benchZRange) }

func BenchmarkXRange(b *testing.B) { run(b, benchXRange) }

func BenchmarkMGet(b *testing.B) { run(b, benchMGet) }
