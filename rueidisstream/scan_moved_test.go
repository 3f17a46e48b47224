package rueidisstream_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

// A key that moves to another node while it is read by pages is read on there: while the slot is on its way (ASK), and when it has
// arrived (MOVED). Each element comes once, and a list and a stream in order.
func TestScanFollowsTheKey(t *testing.T) {
	const size, page = 300, 10
	redistest.NoLeak(t)
	cluster := redistest.NewCluster(t)
	c := cluster.NewClient(t)
	for _, k := range collections {
		t.Run(k.name, func(t *testing.T) {
			key := "{scan}" + k.name
			slot := cluster.Slot(t, key)
			k.fill(t, c, key, size)
			want, err := all(t, k.read(caseContext(t), c, key, rueidisstream.WithScan(page)))
			require.NoError(t, err)
			require.Len(t, want, size)
			to := another(t, cluster, slot)
			var got []string
			for v, err := range k.read(caseContext(t), c, key, rueidisstream.WithScan(page)) {
				require.NoError(t, err)
				got = append(got, v)
				switch len(got) {
				case size / 10:
					cluster.StartMove(t, slot, to)
				case size / 5:
					cluster.MoveKeys(t, slot, to, key)
				case size / 2:
					cluster.FinishMove(t, slot, to)
				case size * 3 / 4:
					to = another(t, cluster, slot)
					cluster.MoveSlot(t, slot, to)
				}
			}
			if k.name != "Elements" && k.name != "Entries" { // other hash tables have other orders
				slices.Sort(want)
				slices.Sort(got)
			}
			require.Equal(t, want, got)
		})
	}
	caseEchoes(t, c, 100)
}

// A node's own client knows no other node: a MOVED for a command that was built for the cluster comes back at once.
func TestMovedFromANodesOwnClient(t *testing.T) {
	redistest.NoLeak(t)
	cluster := redistest.NewCluster(t)
	c := cluster.NewClient(t)
	node := c.Nodes()[another(t, cluster, cluster.Slot(t, "key")).Addr]
	require.NotNil(t, node)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	for name, call := range map[string]func() error{
		"Do": func() error {
			_, err := rueidisstream.Do(ctx, node, c.B().Smembers().Key("key").Build())
			return err
		},
		"Copy": func() error {
			_, err := rueidisstream.Copy(ctx, node, c.B().Get().Key("key").Build(), caseWriter(func(p []byte) (int, error) { return len(p), nil }))
			return err
		},
	} {
		err := call()
		var moved *rueidis.RedisError
		require.True(t, errors.As(err, &moved), "%s: %v", name, err)
		_, ok := moved.IsMoved()
		require.True(t, ok, "%s: %v", name, err)
	}
	caseEchoes(t, c, 100)
}
