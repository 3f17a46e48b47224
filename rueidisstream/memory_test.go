package rueidisstream_test

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

// A set of a million members: the heap stays where it is, allocations are those of ten members, and the first element is out
// while the second half of the reply is held back.
func TestMillionMembers(t *testing.T) {
	million := caseSize(1_000_000, 200_000, 100_000)
	bothProtocols(t, func(t *testing.T, c rueidis.Client) {
		ctx := context.Background()
		fillSet(t, c, "few", 10)
		fillSet(t, c, "million", million)
		count := func(key string, want int) {
			n := 0
			for v, err := range rueidisstream.Values(ctx, c, c.B().Smembers().Key(key).Build()) {
				if err != nil || v.Len() != 16 {
					t.Fatal(v, err)
				}
				n++
			}
			if n != want {
				t.Fatal(n)
			}
		}
		count("few", 10)
		require.Less(t, redistest.PeakHeap(func() { count("million", million) }), int64(4<<20))
		few, many := redistest.Allocs(func() { count("few", 10) }), redistest.Allocs(func() { count("million", million) })
		if !caseRace {
			require.Equal(t, few, many)
			require.LessOrEqual(t, many, uint64(6))
		}
		// The client's own PINGs, one a second, allocate.
	}, func(o *rueidis.ClientOption) { o.Dialer.KeepAlive = time.Hour })
	t.Run("held back", func(t *testing.T) {
		srv := redistest.Shared(t)
		proxy := redistest.NewProxy(t, srv.Addr)
		fillSet(t, redistest.NewClient(t, srv), "million", million)
		c := redistest.NewClient(t, srv, func(o *rueidis.ClientOption) { o.InitAddress = []string{proxy.Addr()} })
		proxy.Set(redistest.Fault{StallAfter: int64(million) * 23 / 2})
		n := 0
		for _, err := range rueidisstream.Values(context.Background(), c, c.B().Smembers().Key("million").Build()) {
			require.NoError(t, err)
			if n++; n == 1 {
				proxy.Release()
			}
		}
		require.Equal(t, million, n)
	})
}

// A value of 64 MiB costs no memory, and Copy no allocation.
func TestCopyMemory(t *testing.T) {
	bothProtocols(t, func(t *testing.T, c rueidis.Client) {
		ctx := context.Background()
		require.NoError(t, c.Do(ctx, c.B().Setrange().Key("v").Offset(64<<20-1).Value("x").Build()).Error())
		require.NoError(t, c.Do(ctx, c.B().Set().Key("small").Value("x").Build()).Error())
		copied := func(key string, want int64) {
			n, err := rueidisstream.Copy(ctx, c, c.B().Get().Key(key).Build(), io.Discard)
			if err != nil || n != want {
				t.Fatal(n, err)
			}
		}
		copied("v", 64<<20)
		require.Less(t, redistest.PeakHeap(func() { copied("v", 64<<20) }), int64(1<<20))
		if !caseRace { // sync.Pool drops things at random then
			require.Zero(t, redistest.Allocs(func() { copied("small", 1) }))
			require.Zero(t, redistest.Allocs(func() { copied("v", 64<<20) }))
		}
		// The client's own PINGs, one a second, allocate.
	}, func(o *rueidis.ClientOption) { o.Dialer.KeepAlive = time.Hour })
}
