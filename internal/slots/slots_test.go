package slots_test

import (
	"context"
	"testing"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/internal/resp"
	"github.com/rueidisx/rueidisx/internal/slots"
)

func TestMain(m *testing.M) { redistest.Main(m) }

func ask(t *testing.T, reply string) (slots.Table, error) {
	srv := redistest.NewFake(t, func(c *redistest.FakeConn, _ []string) { c.Write(reply) })
	c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{srv.Addr()}, ForceSingleClient: true, DisableCache: true})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return slots.Ask(context.Background(), c)
}

func node(host, port string) string { return redistest.Array(redistest.Bulk(host), ":"+port+"\r\n") }

func TestAsk(t *testing.T) {
	redistest.NoLeak(t)
	table, err := ask(t, redistest.Array(
		redistest.Array(":100\r\n", ":200\r\n", node("b", "2"), node("replica", "9")),
		redistest.Array(":0\r\n", ":9\r\n", node("a", "1")),
	))
	require.NoError(t, err)
	for slot, want := range map[uint16]string{0: "a:1", 9: "a:1", 10: "", 99: "", 100: "b:2", 200: "b:2", 201: "", 16383: ""} {
		require.Equal(t, want, table.Node(slot), "%d", slot)
	}
	require.Empty(t, slots.Table(nil).Node(1))
}

func TestAskErrors(t *testing.T) {
	good := node("a", "1")
	for name, reply := range map[string]string{
		"no range":              redistest.Array(":1\r\n"),
		"a short range":         redistest.Array(redistest.Array(":1\r\n", ":2\r\n")),
		"a node that is none":   redistest.Array(redistest.Array(":1\r\n", ":2\r\n", ":3\r\n")),
		"a node without a port": redistest.Array(redistest.Array(":1\r\n", ":2\r\n", redistest.Array(redistest.Bulk("a")))),
		"a first slot of text":  redistest.Array(redistest.Array(redistest.Bulk("x"), ":2\r\n", good)),
		"a last slot of text":   redistest.Array(redistest.Array(":1\r\n", redistest.Bulk("x"), good)),
		"a host of a number":    redistest.Array(redistest.Array(":1\r\n", ":2\r\n", redistest.Array(":1\r\n", ":1\r\n"))),
		"a port of text":        redistest.Array(redistest.Array(":1\r\n", ":2\r\n", redistest.Array(redistest.Bulk("a"), redistest.Bulk("b")))),
	} {
		t.Run(name, func(t *testing.T) {
			redistest.NoLeak(t)
			_, err := ask(t, reply)
			require.ErrorIs(t, err, resp.ErrShape)
		})
	}
	t.Run("an error", func(t *testing.T) {
		_, err := ask(t, "-ERR no cluster\r\n")
		require.ErrorContains(t, err, "no cluster")
	})
}

// The wait for a node that is silent has an end of its own, which is not that of the caller's context.
func TestAskSilent(t *testing.T) {
	redistest.NoLeak(t)
	_, err := ask(t, "")
	require.ErrorContains(t, err, "no answer")
	require.NotErrorIs(t, err, context.DeadlineExceeded)
}

// The table is that of the cluster.
func TestCluster(t *testing.T) {
	redistest.NoLeak(t)
	cluster := redistest.NewCluster(t)
	table, err := slots.Ask(context.Background(), cluster.NewClient(t))
	require.NoError(t, err)
	for _, slot := range []int{0, 5461, 8192, 16383} {
		require.Equal(t, cluster.NodeOf(t, slot).Addr, table.Node(uint16(slot)))
	}
}
