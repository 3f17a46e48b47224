package rueidisstream_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
	"testing"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

// caseList writes a list of n numbers in RESP, nested in one more array if asked, without having it in memory.
type caseList struct {
	n, at  int
	nested bool
	rest   []byte
	bytes  int64 // handed out
	reads  int
	most   int // bytes handed out by one read
}

func (l *caseList) Read(p []byte) (int, error) {
	l.reads++
	if l.most > 0 {
		p = p[:min(len(p), l.most)]
	}
	if l.bytes == 0 && len(l.rest) == 0 {
		if l.nested {
			l.rest = append(l.rest, "*1\r\n"...)
		}
		l.rest = fmt.Appendf(l.rest, "*%d\r\n", l.n)
	}
	for len(l.rest) < len(p) && l.at < l.n {
		l.rest = fmt.Appendf(l.rest, "$10\r\n%010d\r\n", l.at)
		l.at++
	}
	n := copy(p, l.rest)
	l.rest = append(l.rest[:0], l.rest[n:]...)
	if l.bytes += int64(n); n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// B6: a list of any size takes the same few allocations, and of the input no more than one read for each buffer. (For the time see BenchmarkGrowth.)
func TestCase_B6_ListGrowsLinearly(t *testing.T) {
	redistest.NoLeak(t)
	srv := redistest.Shared(t)
	sizes := []int{1000, 10_000, 100_000, caseSize(1_000_000, 200_000, 200_000)}
	for _, n := range sizes {
		caseLoadRange(t, srv, "list", n)
	}
	caseProtocols(t, func(t *testing.T, speak func(*rueidis.ClientOption)) {
		p := redistest.NewProxy(t, srv.Addr)
		p.Set(redistest.Fault{SliceBytes: 64 << 10})
		c := caseDial(t, p.Addr(), speak, caseBuffers(64<<10))
		ctx := caseContext(t)
		run := func(n int) {
			i := int64(0)
			for v, err := range rueidisstream.Values(ctx, c, c.B().Lrange().Key("list:"+strconv.Itoa(n)).Start(0).Stop(-1).Build()) {
				m, nerr := v.AsInt64()
				if err != nil || nerr != nil || m != i {
					t.Fatal(i, m, err, nerr)
				}
				i++
			}
			require.EqualValues(t, n, i)
		}
		run(sizes[len(sizes)-1])
		caseFlat(t, "LRANGE", sizes, run)
		caseEchoes(t, c, 100)
	})

	// From a transcript, the reads can be counted: as many as the bytes take, and each byte once.
	for _, buffer := range []int{16, 100, 4096, 64 << 10} {
		for _, n := range sizes {
			l := &caseList{n: n}
			br := bufio.NewReaderSize(l, buffer)
			r := rueidisstream.NewReader(br)
			i := 0
			for v, err := range r.Values() {
				if err != nil || v.Len() != 10 {
					t.Fatal(i, v, err)
				}
				i++
			}
			require.Equal(t, n, i)
			require.NoError(t, r.Close())
			_, err := br.ReadByte()
			require.Equal(t, io.EOF, err, "it stands behind the reply")
			// The buffer keeps at most the part of an element that is not whole, so a read may bring a little less than a buffer, of which an element is 17 bytes.
			least := int64(max(buffer-17, 1))
			require.LessOrEqual(t, int64(l.reads), l.bytes/least+int64(n)/int64(max(buffer/17, 1))+10, "reads for %d elements of a buffer of %d", n, buffer)
		}
	}
}

// BenchmarkGrowth is the time for one element of replies of several sizes, from memory by reads of 64 KiB: it should not depend on the size. Beside
// flat lists, one element that holds all the others is assembled from small pieces.
func BenchmarkGrowth(b *testing.B) {
	for _, kind := range []string{"flat", "nested"} {
		for _, n := range []int{1000, 10_000, 100_000, 1_000_000} {
			b.Run(fmt.Sprintf("%s/size=%d/impl=rueidisx", kind, n), func(b *testing.B) {
				text, err := io.ReadAll(&caseList{n: n, nested: kind == "nested"})
				if err != nil {
					b.Fatal(err)
				}
				src := bytes.NewReader(text)
				br := bufio.NewReaderSize(nil, 64<<10)
				b.ReportAllocs()
				for b.Loop() {
					src.Reset(text)
					br.Reset(src)
					count := int64(0)
					r := rueidisstream.NewReader(br)
					for v, err := range r.Values() {
						if err != nil {
							b.Fatal(err)
						}
						if kind == "nested" {
							count = v.Len()
						} else {
							count++
						}
					}
					if err := r.Close(); err != nil || count != int64(n) {
						b.Fatal(count, err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/element")
			})
		}
	}
	srv := redistest.Shared(b)
	c := redistest.NewClient(b, srv)
	ctx := context.Background()
	for _, kind := range []string{"list", "zset"} {
		for _, n := range []int{1000, 10_000, 100_000, 1_000_000} {
			caseLoadRange(b, srv, kind, n)
			cmd := func() rueidis.Completed {
				if kind == "zset" {
					return c.B().Zrange().Key(fmt.Sprintf("zset:%d", n)).Min("0").Max("-1").Build()
				}
				return c.B().Lrange().Key(fmt.Sprintf("list:%d", n)).Start(0).Stop(-1).Build()
			}
			for _, impl := range []string{"rueidisx", "rueidis"} {
				b.Run(fmt.Sprintf("%s/size=%d/impl=%s", kind, n, impl), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						count := 0
						if impl == "rueidis" {
							all, err := c.Do(ctx, cmd()).AsStrSlice()
							if err != nil {
								b.Fatal(err)
							}
							count = len(all)
						} else {
							for _, err := range rueidisstream.Values(ctx, c, cmd()) {
								if err != nil {
									b.Fatal(err)
								}
								count++
							}
						}
						if count != n {
							b.Fatal(count)
						}
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/element")
				})
			}
		}
	}
}
