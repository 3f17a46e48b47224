package heap

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var kept []byte // what escapes

func TestGrowth(t *testing.T) {
	w := Start()
	kept = make([]byte, 32<<20)
	time.Sleep(20 * time.Millisecond)
	kept = nil
	require.InDelta(t, 32<<20, w.Growth(), 2<<20)
	require.Less(t, Start().Growth(), uint64(1<<20))
}
