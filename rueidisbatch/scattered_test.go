package rueidisbatch_test

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisbatch"
)

// scattered is a client of a cluster of two fakes whose slots alternate by ranges of 16. mget answers MGET.
func scattered(t *testing.T, mget func(cmd []string) string) rueidis.Client {
	t.Helper()
	var addrs [2]string
	for n := range addrs {
		addrs[n] = redistest.NewFake(t, func(c *redistest.FakeConn, cmd []string) {
			switch {
			case cmd[0] == "MGET":
				c.Write(mget(cmd))
			case cmd[0] == "CLUSTER" && strings.EqualFold(cmd[1], "SLOTS"):
				var ranges []string
				for from := 0; from < 16384; from += 16 {
					host, port, _ := net.SplitHostPort(addrs[from/16%2])
					ranges = append(ranges, fmt.Sprintf("*3\r\n:%d\r\n:%d\r\n*2\r\n%s:%s\r\n", from, from+15, redistest.Bulk(host), port))
				}
				c.Write(redistest.Array(ranges...))
			default:
				c.Write(redistest.Bulk(cmd[len(cmd)-1]))
			}
		}).Addr()
	}
	c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: addrs[:], DisableCache: true})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	require.Equal(t, rueidis.ClientModeCluster, c.Mode())
	return c
}

// Slots that are scattered over the nodes, as they are after some moves, cost no more round trips than there are nodes.
func TestScatteredSlots(t *testing.T) {
	redistest.NoLeak(t)
	c, rec := recorded(t, scattered(t, func(cmd []string) string { return redistest.Array(redistest.Bulks(cmd[1:]...)...) }))
	for n, most := range map[int]int{100: 2, 900: 2, 4096: 6, 10000: 3 * 6} { // pipelines of about a thousand commands
		keys := numbered(n)
		rec.taken("")
		got, err := rueidisbatch.MGet(within(t), c, keys)
		require.NoError(t, err)
		for i := range keys {
			require.Equal(t, keys[i], string(got[i]))
		}
		require.LessOrEqual(t, len(rec.taken("PING"))/2, most, "%d keys", n)
	}
}

// A reply that is too long, which its header does not say, is an error on a cluster, too.
func TestScatteredLongReply(t *testing.T) {
	redistest.NoLeak(t)
	c := scattered(t, func(cmd []string) string { return "*?\r\n" + strings.Repeat("$1\r\nv\r\n", len(cmd)) + ".\r\n" })
	for _, opts := range [][]rueidisbatch.Option{{rueidisbatch.WithSmall(0)}, {rueidisbatch.WithSmall(0), rueidisbatch.WithPartial()}} {
		_, err := rueidisbatch.MGet(within(t), c, numbered(10), opts...)
		require.ErrorIs(t, err, rueidisbatch.ErrReply)
		require.True(t, slices.Contains(failedKeys(err), 0), "%v", err)
	}
}
