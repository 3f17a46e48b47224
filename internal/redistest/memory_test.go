package redistest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var kept any // what escapes

func TestPeakHeap(t *testing.T) {
	rose := PeakHeap(func() {
		b := make([]byte, 32<<20)
		kept = b
		time.Sleep(30 * time.Millisecond)
		kept = nil
	})
	require.InDelta(t, 32<<20, rose, 4<<20)
	require.Less(t, PeakHeap(func() { time.Sleep(10 * time.Millisecond) }), int64(1<<20))
}

func TestAllocs(t *testing.T) {
	require.EqualValues(t, 3, Allocs(func() {
		for range 3 {
			kept = make([]byte, 64)
		}
	})/2, "a slice and what holds it, each")
	require.Zero(t, Allocs(func() {}))
}
