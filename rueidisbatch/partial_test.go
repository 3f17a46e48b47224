package rueidisbatch_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisbatch"
)

// With WithPartial, too, an error of the caller's function comes as it is, whatever the other goroutines were doing.
func TestPartialErrorOfFunction(t *testing.T) {
	redistest.NoLeak(t)
	srv := mgetServer(t, func(*redistest.FakeConn, []string) bool { return false })
	c := dial(t, srv.Addr())
	mine := errors.New("mine")
	for range 20 {
		var calls atomic.Int64
		err := rueidisbatch.MGetFunc(within(t), c, numbered(1000), func(int, []byte) error {
			time.Sleep(10 * time.Microsecond) // the others are within their chunks
			if calls.Add(1) == 300 {
				return mine
			}
			return nil
		}, rueidisbatch.WithChunk(100), rueidisbatch.WithPartial(), rueidisbatch.WithParallelism(4))
		require.True(t, err == mine, "%v", err)
	}
	healthy(t, c)
}

// With WithPartial no key is without a value and without an error, whatever ends its MGET's reply.
func TestPartialNamesAllThatIsLost(t *testing.T) {
	for _, tt := range []struct {
		name, broken, lost string
		failed             int
	}{
		{name: "an error in it", lost: "-ERR lost\r\n", failed: 3},
		{name: "an array in it", lost: "*0\r\n", failed: 3},
		{name: "an error behind a cut", broken: "*%d\r\n$1\r\nv\r\n$1\r\nv\r\n", lost: "-ERR lost\r\n", failed: 5},
	} {
		for _, small := range []int{0, 100} {
			if tt.broken != "" && small > 0 {
				continue // rueidis asks again
			}
			t.Run(fmt.Sprint(tt.name, ", small ", small), func(t *testing.T) {
				redistest.NoLeak(t)
				broken := tt.broken
				srv := mgetServer(t, func(c *redistest.FakeConn, cmd []string) bool {
					n := len(cmd) - 1
					if broken != "" {
						c.Write(fmt.Sprintf(broken, n))
						broken = ""
						c.Cut()
						return true
					}
					c.Write(fmt.Sprintf("*%d\r\n", n) + strings.Repeat("$1\r\nv\r\n", 3) + tt.lost + strings.Repeat("$1\r\nv\r\n", n-4))
					return true
				})
				got, err := rueidisbatch.MGet(within(t), dial(t, srv.Addr()), numbered(10), rueidisbatch.WithPartial(), rueidisbatch.WithSmall(small))
				failed := failedKeys(err)
				require.Len(t, failed, 10-tt.failed)
				for i := range got {
					require.Equal(t, i >= tt.failed, got[i] == nil, "%d", i)
				}
				require.Equal(t, tt.failed, failed[0])
			})
		}
	}
}
