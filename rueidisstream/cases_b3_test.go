package rueidisstream_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"testing"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

// caseEntries are entries of five fields, as caseLoadStream makes them, walked in several ways with borrowed bytes only.
func caseEntries(ctx context.Context, t *testing.T, c rueidis.Client, key string) map[string]func() (entries, fields int) {
	xrange := func() rueidis.Completed { return c.B().Xrange().Key(key).Start("-").End("+").Build() }
	return map[string]func() (entries, fields int){
		"Next": func() (entries, fields int) {
			r, err := rueidisstream.Do(ctx, c, xrange())
			if err != nil {
				t.Fatal(err)
			}
			for {
				h, err := r.Next()
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				switch h.Depth {
				case 1:
					entries++
				case 3:
					v, err := r.Value()
					if err != nil || len(v.Bytes()) == 0 {
						t.Fatal(v, err)
					}
					fields++
				}
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			return entries, fields / 2
		},
		"Values": func() (entries, fields int) {
			for entry, err := range rueidisstream.Values(ctx, c, xrange()) {
				if err != nil {
					t.Fatal(err)
				}
				entries++
				for part, err := range entry.Values() {
					if err != nil {
						t.Fatal(err)
					}
					if !part.Kind().IsAggregate() {
						continue
					}
					for _, err := range part.Pairs() {
						if err != nil {
							t.Fatal(err)
						}
						fields++
					}
				}
			}
			return entries, fields
		},
		"Pairs": func() (entries, fields int) {
			for entry, err := range rueidisstream.Pairs(ctx, c, xrange()) {
				if err != nil {
					t.Fatal(err)
				}
				entries++
				for pair, err := range entry.Value.Pairs() {
					if err != nil || len(pair.Key.Bytes()) == 0 || len(pair.Value.Bytes()) == 0 {
						t.Fatal(err)
					}
					fields++
				}
			}
			return entries, fields
		},
		"DoMulti": func() (entries, fields int) {
			for r, err := range rueidisstream.DoMulti(ctx, c, []rueidis.Completed{xrange()}).All() {
				if err != nil {
					t.Fatal(err)
				}
				for entry, err := range r.Pairs() {
					if err != nil {
						t.Fatal(err)
					}
					entries++
					for _, err := range entry.Value.Pairs() {
						if err != nil {
							t.Fatal(err)
						}
						fields++
					}
				}
			}
			return entries, fields
		},
	}
}

func caseLoadStream(t testing.TB, srv *redistest.Server, n int) string {
	t.Helper()
	key := "stream:" + strconv.Itoa(n)
	srv.Do(t, "EVAL", `for i = 1, ARGV[1] do
		redis.call('XADD', KEYS[1], i .. '-1', 'one', i, 'two', i * 2, 'three', 'text of ' .. i, 'four', 'x', 'five', '\r\n$5\r\n')
	end`, "1", key, strconv.Itoa(n))
	return key
}

// B3: nested entries are read without a copy of a string: no allocation depends on their number.
func TestCase_B3_NestedEntriesAllocateNothingEach(t *testing.T) {
	redistest.NoLeak(t)
	srv := redistest.Shared(t)
	sizes := []int{10, 1000, 10_000}
	keys := map[int]string{}
	for _, n := range sizes {
		keys[n] = caseLoadStream(t, srv, n)
	}
	caseProtocols(t, func(t *testing.T, speak func(*rueidis.ClientOption)) {
		c := redistest.NewClient(t, srv, speak, caseBuffers(64<<10))
		for name := range caseEntries(context.Background(), t, c, "") {
			caseFlat(t, name, sizes, func(n int) {
				entries, fields := caseEntries(context.Background(), t, c, keys[n])[name]()
				require.Equal(t, n, entries, name)
				require.Equal(t, 5*n, fields, name)
			})
		}
		caseEchoes(t, c, 100)
	})
}

// B3: a reader that stops early, at any place and for any reason, leaves the pool sound.
func TestCase_B3_LeavingNestedEntriesEarly(t *testing.T) {
	redistest.NoLeak(t)
	srv := redistest.Shared(t)
	small, large := caseLoadStream(t, srv, 3), caseLoadStream(t, srv, caseSize(20_000, 5_000, 5_000))
	caseProtocols(t, func(t *testing.T, speak func(*rueidis.ClientOption)) {
		c := redistest.NewClient(t, srv, speak)
		ctx := caseContext(t)
		for _, key := range []string{small, large} {
			for _, drain := range []int{0, 50, 256 << 10} {
				opt := rueidisstream.WithDrain(drain)
				open := func() *rueidisstream.Reader {
					r, err := rueidisstream.Do(ctx, c, c.B().Xrange().Key(key).Start("-").End("+").Build(), opt)
					require.NoError(t, err)
					return r
				}
				// After every number of steps in the first entries: on aggregates, on strings, inside of strings.
				for steps := range 20 {
					for half := range 2 {
						r := open()
						for range steps {
							h, err := r.Next()
							require.NoError(t, err)
							if half == 1 && !h.Kind.IsAggregate() {
								_, err := io.ReadFull(r, make([]byte, 1))
								require.NoError(t, err)
							}
						}
						require.NoError(t, r.Close())
						caseEchoes(t, c, 5)
					}
				}
				errOwn := errors.New("the caller's own")
				err := func() error {
					for range rueidisstream.Values(ctx, c, c.B().Xrange().Key(key).Start("-").End("+").Build(), opt) {
						return errOwn
					}
					return nil
				}()
				require.Equal(t, errOwn, err)
				caseEchoes(t, c, 5)
				require.Panics(t, func() {
					for v := range rueidisstream.Values(ctx, c, c.B().Xrange().Key(key).Start("-").End("+").Build(), opt) {
						for range v.Values() {
							panic("of the caller")
						}
					}
				})
				caseEchoes(t, c, 5)
			}
		}
		caseEchoes(t, c, 100)
	})
}

// B3: reading too little of an element is made up for by the next step; too much cannot be read, and is said.
func TestCase_B3_TooLittleAndTooMuch(t *testing.T) {
	redistest.NoLeak(t)
	srv := redistest.Shared(t)
	key := caseLoadStream(t, srv, 3)
	caseProtocols(t, func(t *testing.T, speak func(*rueidis.ClientOption)) {
		c := redistest.NewClient(t, srv, speak)
		ctx := caseContext(t)
		xrange := func() *rueidisstream.Reader {
			r, err := rueidisstream.Do(ctx, c, c.B().Xrange().Key(key).Start("-").End("+").Build())
			require.NoError(t, err)
			return r
		}
		// Too little: of each entry only the first byte of its id, then Skip; or nothing, then Next to the next of the same depth.
		r := xrange()
		for i := range 3 {
			h, err := r.Next()
			require.NoError(t, err)
			require.Equal(t, 1, h.Depth, "entry %d", i)
			_, err = r.Next()
			require.NoError(t, err)
			b := make([]byte, 1)
			_, err = r.Read(b)
			require.NoError(t, err)
			require.Equal(t, strconv.Itoa(i+1), string(b))
			require.NoError(t, r.Skip())
		}
		_, err := r.Next()
		require.Equal(t, io.EOF, err)
		require.NoError(t, r.Close())
		caseEchoes(t, c, 10)

		// Too much: beyond a string is its end, whatever the buffer's size; beyond the reply is the end, again and again.
		r = xrange()
		var got []string
		for {
			h, err := r.Next()
			if err == io.EOF {
				break
			}
			require.NoError(t, err)
			if h.Kind.IsAggregate() {
				_, err := r.Read(make([]byte, 10))
				require.ErrorIs(t, err, rueidisstream.ErrShape)
				_, err = r.WriteTo(io.Discard)
				require.ErrorIs(t, err, rueidisstream.ErrShape)
				continue
			}
			buf := make([]byte, 1<<20)
			n, err := r.Read(buf)
			require.NoError(t, err)
			got = append(got, string(buf[:n]))
			for range 3 {
				n, err = r.Read(buf)
				require.Zero(t, n)
				require.Equal(t, io.EOF, err)
			}
		}
		var want []string
		for i := 1; i <= 3; i++ {
			want = append(want, fmt.Sprintf("%d-1", i), "one", strconv.Itoa(i), "two", strconv.Itoa(2*i), "three", fmt.Sprintf("text of %d", i), "four", "x", "five", "\r\n$5\r\n")
		}
		require.Equal(t, want, got)
		for range 3 {
			_, err := r.Next()
			require.Equal(t, io.EOF, err)
			for _, err := range r.Values() {
				require.NoError(t, err)
				t.Fatal("an element behind the end")
			}
		}
		require.NoError(t, r.Close())
		caseEchoes(t, c, 100)
	})
}
