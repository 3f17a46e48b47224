package rueidisstream_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/redis/rueidis"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

// BenchmarkCopy is Copy beside rueidis' own DoStream: one string to a writer, in parallel.
func BenchmarkCopy(b *testing.B) {
	c := redistest.NewClient(b, redistest.Shared(b))
	ctx := context.Background()
	for _, size := range []int{1, 1 << 10, 1 << 20} {
		if err := c.Do(ctx, c.B().Set().Key("v").Value(string(make([]byte, size))).Build()).Error(); err != nil {
			b.Fatal(err)
		}
		for impl, stream := range map[string]func() (int64, error){
			"rueidis": func() (int64, error) {
				s := c.DoStream(ctx, c.B().Get().Key("v").Build())
				return s.WriteTo(io.Discard)
			},
			"rueidisx": func() (int64, error) {
				return rueidisstream.Copy(ctx, c, c.B().Get().Key("v").Build(), io.Discard)
			},
		} {
			b.Run(fmt.Sprintf("size=%d/impl=%s", size, impl), func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(size))
				b.RunParallel(func(p *testing.PB) {
					for p.Next() {
						if n, err := stream(); err != nil || n != int64(size) {
							b.Error(n, err)
							return
						}
					}
				})
			})
		}
	}
}

// BenchmarkDoMulti is DoMulti beside rueidis' own DoMultiStream: 20 strings in a pipeline. rueidis-bracket is DoMultiStream with two PINGs
// more, as long as those of DoMulti's bracket: as fast as this a bracket can be.
func BenchmarkDoMulti(b *testing.B) {
	c := redistest.NewClient(b, redistest.Shared(b))
	ctx := context.Background()
	for _, size := range []int{1, 1 << 10, 1 << 20} {
		if err := c.Do(ctx, c.B().Set().Key("v").Value(string(make([]byte, size))).Build()).Error(); err != nil {
			b.Fatal(err)
		}
		ping := func(n int) rueidis.Completed { return c.B().Arbitrary("PING").Args(strings.Repeat("x", n)).Build() }
		plain := func(cmds []rueidis.Completed) error {
			s := c.DoMultiStream(ctx, cmds...)
			for s.HasNext() {
				if _, err := s.WriteTo(io.Discard); err != nil {
					return err
				}
			}
			return nil
		}
		for impl, stream := range map[string]func(cmds []rueidis.Completed) error{
			"rueidis": plain,
			"rueidis-bracket": func(cmds []rueidis.Completed) error {
				return plain(append(append([]rueidis.Completed{ping(16)}, cmds...), ping(61)))
			},
			"rueidisx": func(cmds []rueidis.Completed) error {
				for r, err := range rueidisstream.DoMulti(ctx, c, cmds).All() {
					if err != nil {
						return err
					}
					if _, err := r.WriteTo(io.Discard); err != nil {
						return err
					}
				}
				return nil
			},
		} {
			b.Run(fmt.Sprintf("size=%d/impl=%s", size, impl), func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(20 * size))
				b.RunParallel(func(p *testing.PB) {
					cmds := make([]rueidis.Completed, 20)
					for p.Next() {
						for i := range cmds {
							cmds[i] = c.B().Get().Key("v").Build()
						}
						if err := stream(cmds); err != nil {
							b.Error(err)
							return
						}
					}
				})
			})
		}
	}
}

// BenchmarkMembers is Values over SMEMBERS beside client.Do.
func BenchmarkMembers(b *testing.B) {
	c := redistest.NewClient(b, redistest.Shared(b))
	ctx := context.Background()
	for _, size := range []int{10, 100, 1000, 5000, 100000} {
		key := fmt.Sprint("set:", size)
		fillSet(b, c, key, size)
		smembers := func() rueidis.Completed { return c.B().Smembers().Key(key).Build() }
		for impl, read := range map[string]func() (int, error){
			"rueidis": func() (n int, err error) {
				members, err := c.Do(ctx, smembers()).AsStrSlice()
				for _, m := range members {
					n += len(m)
				}
				return n, err
			},
			"rueidisx": func() (n int, err error) {
				for m, err := range rueidisstream.Values(ctx, c, smembers()) {
					if err != nil {
						return n, err
					}
					n += len(m.Bytes())
				}
				return n, nil
			},
		} {
			b.Run(fmt.Sprintf("size=%d/impl=%s", size, impl), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if n, err := read(); err != nil || n != 16*size {
						b.Fatal(n, err)
					}
				}
			})
		}
	}
}

// BenchmarkParse is Values of a set that is in memory: the parser and the iterator alone.
func BenchmarkParse(b *testing.B) {
	const size = 5000
	var text bytes.Buffer
	fmt.Fprintf(&text, "~%d\r\n", size)
	for i := range size {
		fmt.Fprintf(&text, "$16\r\nm%015d\r\n", i)
	}
	src := bytes.NewReader(nil)
	br := bufio.NewReaderSize(src, 512<<10)
	b.ReportAllocs()
	for b.Loop() {
		src.Reset(text.Bytes())
		br.Reset(src)
		n := 0
		for v, err := range rueidisstream.NewReader(br).Values() {
			if err != nil {
				b.Fatal(err)
			}
			n += len(v.Bytes())
		}
		if n != 16*size {
			b.Fatal(n)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/size, "ns/element")
}
