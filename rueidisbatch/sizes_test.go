package rueidisbatch_test

import (
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisbatch"
)

// Values that are missing, or a limit that is none, do not keep chunks small.
func TestChunkBytesGrow(t *testing.T) {
	for name, limit := range map[string]int64{"no limit": math.MaxInt64, "1 MiB": 1 << 20} {
		for _, reply := range []string{"$-1\r\n", "$0\r\n\r\n", "$1\r\nv\r\n"} {
			t.Run(fmt.Sprintf("%s %q", name, reply), func(t *testing.T) {
				redistest.NoLeak(t)
				var asked atomic.Int64
				srv := mgetServer(t, func(c *redistest.FakeConn, cmd []string) bool {
					asked.Add(1)
					c.Write(fmt.Sprintf("*%d\r\n", len(cmd)-1) + strings.Repeat(reply, len(cmd)-1))
					return true
				})
				_, err := rueidisbatch.MGet(within(t), dial(t, srv.Addr()), numbered(20000), rueidisbatch.WithChunkBytes(limit))
				require.NoError(t, err)
				require.LessOrEqual(t, asked.Load(), int64(50))
			})
		}
	}
}
