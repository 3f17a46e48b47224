package resp

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// pairs reads the pairs of a reply as "key=value" until an error.
func pairs(r *Reader) (got []string, err error) {
	if _, err := r.Next(); err != nil {
		return nil, err
	}
	nested, err := r.Nested()
	if err != nil {
		return nil, err
	}
	for {
		k, v, err := r.Pair(nested)
		if err == io.EOF {
			return got, nil
		}
		if err != nil {
			return got, err
		}
		value := string(v.Bytes)
		if IsAggregate(v.Kind()) {
			value = strings.ReplaceAll(strings.TrimSpace(tree(v).String()), "\n", "/")
		}
		got = append(got, string(k.Bytes)+"="+value)
	}
}

func TestPair(t *testing.T) {
	long := strings.Repeat("v", 5000)
	rows := []struct {
		name, in string
		want     []string
		err      error
		sound    bool // the position is not lost by the error
	}{
		{"map", "%2\r\n$1\r\na\r\n$1\r\n1\r\n$1\r\nb\r\n$1\r\n2\r\n", []string{"a=1", "b=2"}, nil, true},
		{"flat array", "*4\r\n$1\r\na\r\n$1\r\n1\r\n$1\r\nb\r\n$1\r\n2\r\n", []string{"a=1", "b=2"}, nil, true},
		{"array of pairs", "*2\r\n*2\r\n$1\r\na\r\n,1\r\n*2\r\n$1\r\nb\r\n,2.5\r\n", []string{"a=1", "b=2.5"}, nil, true},
		{"array of pairs of strings", "*2\r\n*2\r\n$1\r\na\r\n$1\r\n1\r\n*2\r\n$1\r\nb\r\n$0\r\n\r\n", []string{"a=1", "b="}, nil, true},
		{"set of pairs", "~1\r\n*2\r\n$1\r\na\r\n:1\r\n", []string{"a=1"}, nil, true},
		{"map whose keys are arrays of two", "%1\r\n*2\r\n:1\r\n:2\r\n+v\r\n", []string{"\x3a1\r\n:2\r\n=v"}, nil, true},
		{"streamed map", "%?\r\n$1\r\na\r\n$1\r\n1\r\n.\r\n", []string{"a=1"}, nil, true},
		{"streamed array of streamed pairs", "*?\r\n*?\r\n$1\r\na\r\n$1\r\n1\r\n.\r\n*?\r\n+b\r\n+2\r\n.\r\n.\r\n", []string{"a=1", "b=2"}, nil, true},
		{"with aggregates", "*2\r\n*2\r\n$3\r\n1-0\r\n*2\r\n$1\r\nf\r\n$1\r\nv\r\n*2\r\n$3\r\n2-0\r\n*0\r\n", []string{`1-0=* 2/  $ "f"/  $ "v"`, "2-0=* 0"}, nil, true},
		{"asides between", "%1\r\n>1\r\n+p\r\n$1\r\na\r\n>1\r\n+p\r\n|1\r\n+x\r\n+y\r\n$1\r\n1\r\n", []string{"a=1"}, nil, true},
		{"asides between, nested", "*1\r\n>1\r\n+p\r\n*2\r\n|1\r\n+x\r\n+y\r\n$1\r\na\r\n>1\r\n+p\r\n$1\r\n1\r\n", []string{"a=1"}, nil, true},
		{"chunked", "*2\r\n$?\r\n;1\r\na\r\n;1\r\nb\r\n;0\r\n$?\r\n;0\r\n", []string{"ab="}, nil, true},
		{"long", "*4\r\n$1\r\na\r\n$5000\r\n" + long + "\r\n$5000\r\n" + long + "\r\n$1\r\nb\r\n", []string{"a=" + long, long + "=b"}, nil, true},
		{"empty", "*0\r\n", nil, nil, true},
		{"streamed empty", "*?\r\n.\r\n", nil, nil, true},
		{"nulls", "*2\r\n_\r\n$-1\r\n", []string{"="}, nil, true},
		{"odd", "*3\r\n$1\r\na\r\n$1\r\n1\r\n$1\r\nb\r\n", nil, ErrShape, true},
		{"streamed odd", "*?\r\n$1\r\na\r\n$1\r\n1\r\n$1\r\nb\r\n.\r\n", []string{"a=1"}, ErrShape, true},
		{"pair, then a string", "*2\r\n*2\r\n$1\r\na\r\n$1\r\n1\r\n$1\r\nb\r\n", []string{"a=1"}, ErrShape, true},
		{"pair, then three", "*2\r\n*2\r\n$1\r\na\r\n$1\r\n1\r\n*3\r\n:1\r\n:2\r\n:3\r\n", []string{"a=1"}, ErrShape, true},
		{"streamed pair of one", "*1\r\n*?\r\n$1\r\na\r\n.\r\n", nil, ErrShape, true},
		{"streamed pair of none", "*1\r\n*?\r\n.\r\n", nil, ErrShape, true},
		{"streamed pair of three", "*1\r\n*?\r\n:1\r\n:2\r\n:3\r\n.\r\n", nil, ErrShape, true},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			for _, src := range sources {
				for _, hook := range []bool{false, true} {
					r := newReader(t, src.make(row.in+"+next\r\n"), src.size, hook)
					got, err := pairs(r)
					if row.err == nil {
						require.NoError(t, err, src.name)
						require.True(t, r.Done(), src.name)
					} else {
						require.ErrorIs(t, err, row.err, src.name)
					}
					require.Equal(t, row.want, got, src.name)
					if row.sound {
						require.NoError(t, r.Finish(), src.name)
						br, err := r.Sync()
						require.NoError(t, err, src.name)
						rest, _ := io.ReadAll(br)
						require.Equal(t, "+next\r\n", string(rest), src.name)
					}
				}
			}
		})
	}
	t.Run("cut", func(t *testing.T) {
		in := "*2\r\n*2\r\n$1\r\na\r\n,1\r\n*?\r\n>1\r\n+p\r\n$?\r\n;1\r\nb\r\n;0\r\n,2.5\r\n.\r\n"
		for cut := range len(in) {
			r := newReader(t, strings.NewReader(in[:cut]), 16, cut%2 == 0)
			_, err := pairs(r)
			require.ErrorIs(t, err, io.ErrUnexpectedEOF, "cut at %d", cut)
		}
	})
}

// Both halves of a pair are valid together, wherever the buffer ends between them.
func TestPairAcrossTheBuffer(t *testing.T) {
	for klen := range 40 {
		for vlen := range 40 {
			k, v := strings.Repeat("k", klen), strings.Repeat("v", vlen)
			in := fmt.Sprintf("*4\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n", klen, k, vlen, v, vlen, v, klen, k)
			r := newReader(t, strings.NewReader(in), 32, vlen%2 == 0)
			got, err := pairs(r)
			require.NoError(t, err)
			require.Equal(t, []string{k + "=" + v, v + "=" + k}, got)
		}
	}
}

func TestSkip(t *testing.T) {
	in := "*3\r\n*2\r\n$1\r\na\r\n*2\r\n:1\r\n$3\r\nabc\r\n%1\r\n+k\r\n$?\r\n;2\r\nxy\r\n;0\r\n+end\r\n+next\r\n"
	rows := []struct {
		name string
		do   func(r *Reader)
		then Header
	}{
		{"the whole reply", func(r *Reader) { _ = r.Skip() }, Header{}},
		{"the first array", func(r *Reader) { _, _ = r.Next(); _ = r.Skip() }, Header{Map, 1, 2}},
		{"from its string", func(r *Reader) { _, _ = r.Next(); _, _ = r.Next(); _ = r.Skip() }, Header{Map, 1, 2}},
		{"the inner array", func(r *Reader) { _, _ = r.Next(); _, _ = r.Next(); _, _ = r.Next(); _ = r.Skip() }, Header{Map, 1, 2}},
		{"half a string", func(r *Reader) {
			for range 5 {
				_, _ = r.Next()
			}
			_, _ = r.Read(make([]byte, 2))
			_ = r.Skip()
		}, Header{Map, 1, 2}},
		{"half a streamed string", func(r *Reader) {
			for range 8 {
				_, _ = r.Next()
			}
			_, _ = r.Read(make([]byte, 1))
			_ = r.Skip()
		}, Header{Simple, 1, 3}},
		{"a streamed string not begun", func(r *Reader) {
			for range 8 {
				_, _ = r.Next()
			}
		}, Header{Simple, 1, 3}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			for _, src := range sources {
				r := newReader(t, src.make(in), src.size, true)
				_, err := r.Next()
				require.NoError(t, err)
				row.do(r)
				h, err := r.Next()
				if row.then == (Header{}) {
					require.ErrorIs(t, err, io.EOF)
				} else {
					require.NoError(t, err)
				}
				require.Equal(t, row.then, h, src.name)
				require.NoError(t, r.Finish())
				r.Begin()
				h, err = r.Next()
				require.NoError(t, err)
				require.Equal(t, Header{Simple, 0, 4}, h)
			}
		})
	}
}

func TestFinishWithin(t *testing.T) {
	rows := []struct {
		name, in string
		read     int // bytes of the reply that Next consumes
	}{
		{"string", "$100\r\n" + strings.Repeat("x", 100) + "\r\n", 6},
		{"array", "*10\r\n" + strings.Repeat("$3\r\nabc\r\n", 10), 5},
		{"array of lines", "*3\r\n+" + strings.Repeat("x", 50) + "\r\n:1\r\n:2\r\n", 4},
		{"streamed", "*?\r\n" + strings.Repeat(":1\r\n", 30) + ".\r\n", 4},
		{"chunks", "$?\r\n;30\r\n" + strings.Repeat("x", 30) + "\r\n;40\r\n" + strings.Repeat("x", 40) + "\r\n;0\r\n", 4},
		{"nested", "*2\r\n*2\r\n:1\r\n*1\r\n$20\r\n" + strings.Repeat("x", 20) + "\r\n_\r\n", 4},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			left := int64(len(row.in) - row.read)
			for limit := int64(0); limit < left+10; limit++ {
				r := newReader(t, strings.NewReader(row.in), 4096, false)
				_, err := r.Next()
				require.NoError(t, err)
				err = r.FinishWithin(limit)
				if limit >= left {
					require.NoError(t, err, "limit %d of %d", limit, left)
					require.True(t, r.Done())
					require.NoError(t, r.FinishWithin(0))
					continue
				}
				// A header or a CRLF at the very end may be read beyond the limit, no more.
				if err == nil {
					require.LessOrEqual(t, left-limit, int64(16), "limit %d of %d", limit, left)
				} else {
					require.ErrorIs(t, err, ErrTooBig)
				}
				require.LessOrEqual(t, r.Offset(), int64(row.read)+limit+16)
			}
		})
	}
	t.Run("four billion elements are not even begun", func(t *testing.T) {
		r := newReader(t, strings.NewReader("*4294967295\r\n:1\r\n"), 4096, false)
		_, _ = r.Next()
		require.ErrorIs(t, r.FinishWithin(1<<20), ErrTooBig)
		require.EqualValues(t, 13, r.Offset())
	})
	t.Run("nor the largest count", func(t *testing.T) {
		r := newReader(t, strings.NewReader("*9223372036854775807\r\n:1\r\n"), 4096, false)
		_, _ = r.Next()
		require.ErrorIs(t, r.FinishWithin(1<<50), ErrTooBig)
	})
}

// Elements cost no allocation, whatever their number; nested ones, split, neither.
func TestElementAllocates(t *testing.T) {
	for _, in := range []string{
		"$16\r\n0123456789abcdef\r\n",
		":12345\r\n",
		"#t\r\n",
		",1.5\r\n",
		"*2\r\n$3\r\n1-0\r\n*2\r\n$1\r\nf\r\n$1\r\nv\r\n",
	} {
		allocs := func(n int) float64 {
			reply := fmt.Sprintf("*%d\r\n", n) + strings.Repeat(in, n)
			src := strings.NewReader(reply)
			br := bufio.NewReaderSize(src, 4096)
			r := new(Reader)
			return testing.AllocsPerRun(5, func() {
				src.Reset(reply)
				br.Reset(src)
				r.Reset(br, nil, limits)
				_, _ = r.Next()
				count := 0
				for {
					e, err := r.Element()
					if err == io.EOF {
						break
					}
					if err != nil {
						t.Fatal(err)
					}
					rest := e.Bytes
					for range e.Len() {
						if !IsAggregate(e.Kind()) {
							break
						}
						_, rest = Split(rest)
					}
					count++
				}
				if count != n {
					t.Fatal(count)
				}
			})
		}
		few, many := allocs(10), allocs(10000)
		require.Equal(t, few, many, "%q", in)
		require.LessOrEqual(t, many, 1.0, "%q", in)
	}
}
