package rueidisstream_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/rueidisstream"
)

// randomBytes returns n bytes that are the same each time.
func randomBytes(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{byte(n), byte(n >> 8)}).Read(b)
	return b
}

// chunked reads with buffers of n bytes.
func chunked(r io.Reader, n int) ([32]byte, error) {
	h := sha256.New()
	_, err := io.CopyBuffer(struct{ io.Writer }{h}, struct{ io.Reader }{r}, make([]byte, n))
	return [32]byte(h.Sum(nil)), err
}

// Values of all sizes around the buffers come out byte for byte, in whichever way they are read.
func TestSizes(t *testing.T) {
	const buffer = 512 << 10 // rueidis' default
	bothProtocols(t, func(t *testing.T, c rueidis.Client) {
		ctx := context.Background()
		largest := caseSize(64<<20, 16<<20, 8<<20)
		for _, size := range []int{0, 1, 4095, 4096, 4097, buffer - 1, buffer, buffer + 1, 2*buffer + 7, largest} {
			t.Run(fmt.Sprintf("size=%d", size), func(t *testing.T) {
				value := randomBytes(size)
				want := sha256.Sum256(value)
				require.NoError(t, c.Do(ctx, c.B().Set().Key("v").Value(rueidis.BinaryString(value)).Build()).Error())
				get := func() rueidis.Completed { return c.B().Get().Key("v").Build() }

				h := sha256.New()
				n, err := rueidisstream.Copy(ctx, c, get(), h)
				require.NoError(t, err)
				require.EqualValues(t, size, n)
				require.Equal(t, want, [32]byte(h.Sum(nil)), "Copy")

				read := func(way string, f func(r *rueidisstream.Reader) ([32]byte, error)) {
					r, err := rueidisstream.Do(ctx, c, get())
					require.NoError(t, err)
					require.Equal(t, rueidisstream.Header{Kind: rueidisstream.KindString, Len: int64(size)}, r.Header())
					sum, err := f(r)
					require.NoError(t, err, way)
					require.Equal(t, want, sum, way)
					require.NoError(t, r.Close())
				}
				for _, buf := range []int{1, 7, 4096, 1 << 20} {
					if buf == 1 && size > 4<<20 {
						continue // a byte at a time says nothing new about 64 MiB, and takes a minute under the race detector
					}
					read(fmt.Sprintf("Read by %d", buf), func(r *rueidisstream.Reader) ([32]byte, error) { return chunked(r, buf) })
				}
				read("WriteTo", func(r *rueidisstream.Reader) ([32]byte, error) {
					h := sha256.New()
					n, err := r.WriteTo(h)
					require.EqualValues(t, size, n)
					return [32]byte(h.Sum(nil)), err
				})
				read("Value.Bytes", func(r *rueidisstream.Reader) ([32]byte, error) {
					v, err := r.Value()
					return sha256.Sum256(v.Bytes()), err
				})
				read("Value after a Read", func(r *rueidisstream.Reader) ([32]byte, error) {
					head := make([]byte, min(size, 100))
					_, err := io.ReadFull(r, head)
					require.NoError(t, err)
					v, err := r.Value()
					return sha256.Sum256(append(head, v.Bytes()...)), err
				})
				for v, err := range rueidisstream.Values(ctx, c, get()) {
					require.NoError(t, err)
					require.Equal(t, want, sha256.Sum256(v.Bytes()), "Values")
				}
			})
		}
	})
}

// Elements of all sizes, next to one another, are whole on either side of the buffer's end.
func TestElementSizes(t *testing.T) {
	bothProtocols(t, func(t *testing.T, c rueidis.Client) {
		ctx := context.Background()
		sizes := []int{0, 1, 100, 4095, 600 << 10, 5, 4097, 4 << 20, 0, 3}
		require.NoError(t, c.Do(ctx, c.B().Del().Key("l").Build()).Error())
		for i, size := range sizes {
			value := append([]byte{byte(i)}, randomBytes(size)...)
			require.NoError(t, c.Do(ctx, c.B().Rpush().Key("l").Element(rueidis.BinaryString(value)).Build()).Error())
		}
		check := func(i int, b []byte) {
			require.True(t, bytes.Equal(append([]byte{byte(i)}, randomBytes(sizes[i])...), b), "element %d of %d bytes", i, sizes[i])
		}
		lrange := func() rueidis.Completed { return c.B().Lrange().Key("l").Start(0).Stop(-1).Build() }
		i := 0
		for v, err := range rueidisstream.Values(ctx, c, lrange()) {
			require.NoError(t, err)
			check(i, v.Bytes())
			i++
		}
		require.Equal(t, len(sizes), i)
		i = 0
		for p, err := range rueidisstream.Pairs(ctx, c, lrange()) {
			require.NoError(t, err)
			check(i, p.Key.Bytes())
			check(i+1, p.Value.Bytes())
			i += 2
		}
		require.Equal(t, len(sizes), i)
	}, func(o *rueidis.ClientOption) { o.ReadBufferEachConn = 8 << 10 })
}
