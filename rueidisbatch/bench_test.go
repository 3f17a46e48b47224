package rueidisbatch_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisbatch"
)

// benchSizes is what RUEIDISX_BENCH_SIZES says, or all.
func benchSizes(all ...int) []int {
	env := os.Getenv("RUEIDISX_BENCH_SIZES")
	if env == "" {
		return all
	}
	var sizes []int
	for _, s := range strings.Split(env, ",") {
		n, _ := strconv.Atoi(s)
		sizes = append(sizes, n)
	}
	return sizes
}

// benchClient is a client of the shared server, behind a proxy that adds RUEIDISX_BENCH_LATENCY if that is set.
func benchClient(b *testing.B) rueidis.Client {
	srv := redistest.Shared(b)
	latency, _ := time.ParseDuration(os.Getenv("RUEIDISX_BENCH_LATENCY"))
	return redistest.NewClient(b, srv, func(o *rueidis.ClientOption) {
		if latency > 0 {
			proxy := redistest.NewProxy(b, srv.Addr)
			proxy.Set(redistest.Fault{Latency: latency})
			o.InitAddress = []string{proxy.Addr()}
		}
	})
}

// BenchmarkMGet is MGet and MGetFunc beside one giant MGET by client.Do, and rueidis' own helper.
func BenchmarkMGet(b *testing.B) {
	c := benchClient(b)
	ctx := context.Background()
	for i, n := range benchSizes(10, 100, 1000, 4000, 100000) {
		fillDir(b, c, uint64(i+1), n)
		keys := make([]string, n)
		for k := range keys {
			keys[k] = "i" + strconv.Itoa((i+1)<<32+k)
		}
		run := func(impl string, read func() (int, error)) {
			b.Run(fmt.Sprintf("keys=%d/impl=%s", n, impl), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if got, err := read(); err != nil || got != n {
						b.Fatal(got, err)
					}
				}
			})
		}
		run("do", func() (int, error) {
			vals, err := c.Do(ctx, c.B().Mget().Key(keys...).Build()).ToArray()
			return len(vals), err
		})
		run("rueidis.MGet", func() (int, error) {
			vals, err := rueidis.MGet(c, ctx, keys)
			return len(vals), err
		})
		mget := func(opts ...rueidisbatch.Option) func() (int, error) {
			return func() (int, error) {
				vals, err := rueidisbatch.MGet(ctx, c, keys, opts...)
				return len(vals), err
			}
		}
		run("rueidisx", mget())
		run("rueidisx-func", func() (int, error) {
			err := rueidisbatch.MGetFunc(ctx, c, keys, func(int, []byte) error { return nil })
			return n, err
		})
		if n <= 1000 {
			run("rueidisx-stream", mget(rueidisbatch.WithSmall(0)))
			run("rueidisx-shared", mget(rueidisbatch.WithSmall(n)))
		} else {
			for _, chunk := range []int{1024, 2048, 4096, 8192} {
				for _, p := range []int{1, 2, 3, 4} {
					run(fmt.Sprintf("rueidisx-chunk%d-par%d", chunk, p), mget(rueidisbatch.WithChunk(chunk), rueidisbatch.WithParallelism(p)))
				}
			}
		}
	}
}

// juice is how JuiceFS lists a directory, on rueidis: HSCAN with COUNT 10000 to the end, then MGETs of 4096, two at a time, or one.
func juice(ctx context.Context, c rueidis.Client, dir string) (int, error) {
	type inode struct{ name, value, attr string }
	var entries []*inode
	var keys []string
	for cursor := uint64(0); ; {
		page, err := c.Do(ctx, c.B().Hscan().Key(dir).Cursor(cursor).Count(10000).Build()).AsScanEntry()
		if err != nil {
			return 0, err
		}
		for i := 0; i < len(page.Elements); i += 2 {
			e := rueidisbatch.Dirent{Value: []byte(page.Elements[i+1])}
			entries = append(entries, &inode{name: page.Elements[i], value: page.Elements[i+1]})
			keys = append(keys, string(attrKey(nil, e)))
		}
		if cursor = page.Cursor; cursor == 0 {
			break
		}
	}
	var parts [][2]int
	for from := 0; from < len(keys); from += 4096 {
		parts = append(parts, [2]int{from, min(from+4096, len(keys))})
	}
	errs := make(chan error, 2)
	read := func(first int) {
		for k := first; k < len(parts); k += 2 {
			vals, err := c.Do(ctx, c.B().Mget().Key(keys[parts[k][0]:parts[k][1]]...).Build()).ToArray()
			if err != nil {
				errs <- err
				return
			}
			for i := range vals {
				entries[parts[k][0]+i].attr, _ = vals[i].ToString()
			}
		}
		errs <- nil
	}
	go read(0)
	go read(1)
	for range 2 {
		if err := <-errs; err != nil {
			return 0, err
		}
	}
	return len(entries), nil
}

// BenchmarkReaddir is Readdir beside JuiceFS' way, on rueidis.
func BenchmarkReaddir(b *testing.B) {
	c := benchClient(b)
	ctx := context.Background()
	for i, n := range benchSizes(20, 100, 4000, 200000, 300000) {
		dir := fillDir(b, c, uint64(i+1), n)
		run := func(impl string, read func() (int, error)) {
			b.Run(fmt.Sprintf("entries=%d/impl=%s", n, impl), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					got, err := read()
					require.NoError(b, err)
					require.Equal(b, n, got)
				}
			})
		}
		list := func(opts ...rueidisbatch.Option) func() (int, error) {
			return func() (n int, err error) {
				for e, err := range rueidisbatch.Readdir(ctx, c, dir, attrKey, opts...) {
					if err != nil || e.Attr == nil {
						return n, err
					}
					n++
				}
				return n, nil
			}
		}
		run("juicefs-rueidis", func() (int, error) { return juice(ctx, c, dir) })
		run("rueidisx", list())
		run("rueidisx-snapshot", list(rueidisbatch.WithSnapshot()))
		if n < 1000 {
			continue
		}
		for _, p := range []int{1, 2, 3, 4} {
			for _, chunk := range []int{1024, 2048, 4096} {
				run(fmt.Sprintf("rueidisx-chunk%d-par%d", chunk, p), list(rueidisbatch.WithChunk(chunk), rueidisbatch.WithParallelism(p)))
			}
		}
	}
}
