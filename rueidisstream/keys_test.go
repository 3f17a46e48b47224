package rueidisstream_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

func fillKeys(t testing.TB, c rueidis.Client, n int) {
	for i := 0; i < n; {
		var cmds []rueidis.Completed
		for ; i < n && len(cmds) < 1000; i++ {
			cmds = append(cmds, c.B().Set().Key(fmt.Sprintf("key:%d:%d", i%10, i)).Value("v").Build())
		}
		for _, r := range c.DoMulti(context.Background(), cmds...) {
			require.NoError(t, r.Error())
		}
	}
}

// The keys are those of KEYS, however large the pages.
func TestKeys(t *testing.T) {
	bothProtocols(t, func(t *testing.T, c rueidis.Client) {
		for _, n := range []int{0, 1, 5000} {
			fillKeys(t, c, n)
			for _, pattern := range []string{"*", "key:3:*", "key:3:3", "none*", ""} {
				want, err := c.Do(context.Background(), c.B().Keys().Pattern(pattern).Build()).AsStrSlice()
				require.NoError(t, err)
				slices.Sort(want)
				for _, opts := range [][]rueidisstream.Option{
					nil,
					{rueidisstream.WithScan(7)},
					{rueidisstream.WithScan(0)},
					{rueidisstream.WithSnapshot()},
					{rueidisstream.WithSmall(0)},
					{rueidisstream.AllowReplica()},
				} {
					got, err := all(t, ofValues(rueidisstream.Keys(caseContext(t), c, pattern, opts...)))
					require.NoError(t, err)
					slices.Sort(got)
					require.Equal(t, fmt.Sprint(want), fmt.Sprint(got), "%d %q", n, pattern)
				}
			}
		}
		keys := rueidisstream.Keys(caseContext(t), c, "*")
		n := 0
		for range keys {
			if n++; n == 10 {
				break
			}
		}
		for _, err := range keys {
			require.ErrorIs(t, err, rueidisstream.ErrReused)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, err := all(t, ofValues(rueidisstream.Keys(ctx, c, "*")))
		require.ErrorIs(t, err, context.Canceled)
	})
}

// On a cluster the keys of all primaries come, each once, although replicas have them, too.
func TestKeysCluster(t *testing.T) {
	redistest.NoLeak(t)
	cluster := redistest.NewCluster(t)
	fillKeys(t, cluster.NewClient(t), 5000)
	for name, adjust := range map[string]func(*rueidis.ClientOption){
		"primaries": func(*rueidis.ClientOption) {},
		"replicas": func(o *rueidis.ClientOption) {
			o.SendToReplicas, o.InitAddress = func(rueidis.Completed) bool { return true }, cluster.Addrs[:3]
		},
		"RESP2": func(o *rueidis.ClientOption) { o.AlwaysRESP2, o.DisableCache = true, true },
	} {
		t.Run(name, func(t *testing.T) {
			c := cluster.NewClient(t, adjust)
			for pattern, want := range map[string]int{"*": 5000, "key:3:*": 500, "none": 0} {
				got, err := all(t, ofValues(rueidisstream.Keys(caseContext(t), c, pattern, rueidisstream.WithScan(100))))
				require.NoError(t, err)
				require.Len(t, got, want)
				slices.Sort(got)
				require.Len(t, slices.Compact(got), want)
			}
			for range rueidisstream.Keys(caseContext(t), c, "*") {
				break
			}
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			_, err := all(t, ofValues(rueidisstream.Keys(ctx, c, "*")))
			require.ErrorIs(t, err, context.Canceled)
		})
	}
}

// clusterOf is a cluster client whose nodes are those.
type clusterOf struct {
	rueidis.Client
	nodes map[string]rueidis.Client
	mode  rueidis.ClientMode
}

func (c clusterOf) Nodes() map[string]rueidis.Client { return c.nodes }
func (c clusterOf) Mode() rueidis.ClientMode         { return c.mode }

// Primaries that the client does not know, or that do not answer, are an error, not keys that are missing.
func TestKeysTopology(t *testing.T) {
	table := func(myself string, lines ...string) string {
		for i, l := range lines {
			if strings.HasPrefix(l, myself+" ") {
				lines[i] = strings.Replace(l, "@1 ", "@1 myself,", 1)
			}
		}
		return redistest.Bulk(strings.Join(lines, "\n") + "\n")
	}
	const (
		p1   = "p1 :1@1 master - 0 0 1 connected 0-100 102 [101->-p2]"
		p2   = "p2 :2@1 master - 0 0 1 connected 101 103-16383"
		r1   = "r1 :3@1 slave p1 0 0 1 connected"
		none = "p3 :4@1 master - 0 0 1 connected"
		fail = "p4 :5@1 master,fail - 0 0 1 disconnected"
	)
	all5 := func() []string { return []string{p1, p2, r1, none, fail, "", "vars x"} }
	// node is one that says table, and has the key of that name.
	node := func(t *testing.T, table, key string) rueidis.Client {
		f := redistest.NewFake(t, func(c *redistest.FakeConn, cmd []string) {
			switch cmd[0] {
			case "CLUSTER":
				c.Write(table)
			case "ROLE":
				c.Write(table)
			case "SCAN":
				c.Write(scanPage("0", key, "both"))
			default:
				c.Write(redistest.Array(redistest.Bulk("0"), redistest.Array(redistest.Bulk(key))))
			}
		}, redistest.Intercept("ROLE"))
		return caseDial(t, f.Addr(), casePool(1), func(o *rueidis.ClientOption) { o.DisableCache, o.DisableRetry = true, true })
	}
	for _, row := range []struct {
		name  string
		mode  rueidis.ClientMode
		nodes map[string]string // key: reply
		want  []string
		err   string
	}{
		{"cluster", rueidis.ClientModeCluster, map[string]string{
			"a": table("p1", all5()...), "b": table("p2", all5()...), "c": table("r1", all5()...), "d": table("p3", all5()...),
		}, []string{"a", "both", "b", "d"}, ""},
		{"a replica does not answer", rueidis.ClientModeCluster, map[string]string{
			"a": table("p1", all5()...), "b": table("p2", all5()...), "c": "-LOADING wait\r\n",
		}, []string{"a", "both", "b"}, ""},
		{"a primary is not known", rueidis.ClientModeCluster, map[string]string{"a": table("p1", all5()...), "c": table("r1", all5()...)}, nil, "does not know the primary p2"},
		{"a primary does not answer", rueidis.ClientModeCluster, map[string]string{"a": table("p1", all5()...), "b": "-LOADING wait\r\n"}, nil, "LOADING"},
		{"a primary says something else", rueidis.ClientModeCluster, map[string]string{"a": table("p1", all5()...), "b": redistest.Array()}, nil, "rueidisstream: before the reply"},
		{"no primary", rueidis.ClientModeCluster, map[string]string{"c": table("r1", r1)}, nil, "none of the client's nodes"},
		{"no node", rueidis.ClientModeCluster, nil, nil, "none of the client's nodes"},
		{"two nodes", rueidis.ClientModeSentinel, map[string]string{
			"a": redistest.Array(redistest.Bulk("slave")), "b": redistest.Array(redistest.Bulk("master")),
		}, []string{"b", "both"}, ""},
		{"two replicas", rueidis.ClientModeSentinel, map[string]string{
			"a": redistest.Array(redistest.Bulk("slave")), "b": redistest.Array(),
		}, nil, "none of the client's nodes"},
		{"ROLE refused", rueidis.ClientModeSentinel, map[string]string{"a": "-NOPERM no\r\n", "b": "-NOPERM no\r\n"}, nil, "NOPERM no"},
		{"ROLE of another shape", rueidis.ClientModeSentinel, map[string]string{"a": "+OK\r\n", "b": "+OK\r\n"}, nil, "rueidisstream: before the reply"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := clusterOf{node(t, "", ""), map[string]rueidis.Client{}, row.mode}
			for key, reply := range row.nodes {
				c.nodes[key] = node(t, reply, key)
			}
			got, err := all(t, ofValues(rueidisstream.Keys(caseContext(t), c, "*")))
			require.Equal(t, row.want, got)
			if row.err == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, row.err)
			}
			if row.err != "" && row.mode != rueidis.ClientModeCluster {
				for _, k := range collections {
					_, err := all(t, k.read(caseContext(t), c, "key", rueidisstream.WithScan(1)))
					require.ErrorContains(t, err, row.err)
				}
			}
		})
	}
	t.Run("nobody has the slot", func(t *testing.T) {
		c := clusterOf{node(t, "", ""), map[string]rueidis.Client{"a": node(t, table("p1", p1), "a")}, rueidis.ClientModeCluster}
		_, err := all(t, collections[0].read(caseContext(t), c, "key", rueidisstream.WithScan(1)))
		require.ErrorContains(t, err, "no primary has slot")
	})
}
