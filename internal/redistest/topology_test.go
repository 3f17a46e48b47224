package redistest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
)

func TestReplica(t *testing.T) {
	redistest.NoLeak(t)
	primary, replica := redistest.Replica(t)
	setAndGet(t, redistest.NewClient(t, primary), "k")
	require.Eventually(t, func() bool { return redistest.RawDo(t, replica.Addr, "GET", "k") == "v" }, 10*time.Second, 10*time.Millisecond)
	client := redistest.NewClient(t, replica)
	err := client.Do(ctx(t), client.B().Set().Key("k").Value("v").Build()).Error()
	require.ErrorContains(t, err, "READONLY")
}

func TestTLS(t *testing.T) {
	redistest.NoLeak(t)
	server := redistest.TLS(t)
	setAndGet(t, redistest.NewClient(t, server.Admin()), "k")
	server.Do(t, "SADD", "s", "m")

	reader := redistest.NewClient(t, server)
	got, err := reader.Do(ctx(t), reader.B().Get().Key("k").Build()).ToString()
	require.NoError(t, err)
	require.Equal(t, "v", got)
	require.NoError(t, reader.Do(ctx(t), reader.B().Ping().Build()).Error())
	require.ErrorContains(t, reader.Do(ctx(t), reader.B().Set().Key("k").Value("w").Build()).Error(), "NOPERM")

	_, err = rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{server.Addr}, ForceSingleClient: true, Username: server.Username, Password: server.Password})
	require.Error(t, err, "without TLS")
	opt := server.ClientOption()
	opt.Username, opt.Password = "", ""
	_, err = rueidis.NewClient(opt)
	require.Error(t, err, "without password")

	server.Restart(t)
	require.Equal(t, "OK", server.Do(t, "SET", "k", "v"))
}

func TestCluster(t *testing.T) {
	redistest.NoLeak(t)
	cluster := redistest.NewCluster(t)
	require.Len(t, cluster.Addrs, 6)
	for _, node := range cluster.Nodes {
		require.Contains(t, node.Do(t, "CLUSTER", "INFO"), "cluster_state:ok")
	}
	client := cluster.NewClient(t)
	for i := range 50 {
		setAndGet(t, client, fmt.Sprint("k", i))
	}

	slot := cluster.Slot(t, "k1")
	from := cluster.NodeOf(t, slot)
	require.Len(t, cluster.ReplicasOf(t, slot), 1)
	to := cluster.Nodes[0]
	if to == from {
		to = cluster.Nodes[1]
	}
	cluster.StartMove(t, slot, to)
	cluster.MoveKeys(t, slot, to, "k1")
	setAndGet(t, client, "k1") // through ASK
	cluster.FinishMove(t, slot, to)
	require.Equal(t, to, cluster.NodeOf(t, slot))
	setAndGet(t, client, "k1") // through MOVED
	cluster.MoveSlot(t, slot, from)
	require.Equal(t, from, cluster.NodeOf(t, slot))
	cluster.StartMove(t, slot, to)
	cluster.CancelMove(t, slot, to)
	setAndGet(t, client, "k1")

	stopped, successor := cluster.KillPrimary(t, 0)
	require.Equal(t, cluster.Nodes[0], stopped)
	require.Equal(t, successor, cluster.NodeOf(t, 0))
	stopped.Start(t)
	cluster.WaitOK(t)
	require.Equal(t, []*redistest.Server{stopped}, cluster.ReplicasOf(t, 0))
	require.Eventually(t, func() bool {
		for i := range 50 {
			if client.Do(ctx(t), client.B().Get().Key(fmt.Sprint("k", i)).Build()).Error() != nil {
				return false
			}
		}
		return true
	}, 20*time.Second, 50*time.Millisecond)
}

func TestSentinel(t *testing.T) {
	redistest.NoLeak(t)
	sentinel := redistest.NewSentinel(t)
	require.Equal(t, sentinel.Nodes[0], sentinel.Primary(t))
	client := sentinel.NewClient(t)
	setAndGet(t, client, "k")
	require.Equal(t, sentinel.Nodes[1], sentinel.Failover(t))
	require.Equal(t, sentinel.Nodes[1], sentinel.Primary(t))
	require.Eventually(t, func() bool {
		return client.Do(ctx(t), client.B().Set().Key("k").Value("v").Build()).Error() == nil
	}, 20*time.Second, 50*time.Millisecond)
	require.Equal(t, "v", sentinel.Nodes[1].Do(t, "GET", "k"))
}
