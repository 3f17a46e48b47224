package redistest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"
)

const (
	slots       = 16384
	primaries   = 3
	clusterTime = 60 * time.Second // for the cluster to agree
)

// Cluster is a running cluster of three primaries with a replica each.
type Cluster struct {
	Nodes []*Server // first the three primaries in the order of their slots, then the replica of each, as they were at the start
	Addrs []string  // of Nodes
}

// NewCluster starts a cluster and waits until every node says that its state is ok and knows the replicas, and the replicas are in step. It is stopped when the test ends.
func NewCluster(tb testing.TB) *Cluster {
	tb.Helper()
	c := &Cluster{}
	c.Nodes = startGroup(tb, 2*primaries, func(ports []int) []spec {
		group := make([]spec, len(ports))
		for i, port := range ports {
			group[i] = spec{port: port, args: append(replicationArgs(port, 0),
				"--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf",
				"--cluster-node-timeout", "2000", "--cluster-replica-validity-factor", "0",
				"--cluster-announce-ip", "127.0.0.1")}
		}
		return group
	})
	for _, node := range c.Nodes {
		c.Addrs = append(c.Addrs, node.Addr)
	}
	c.join(tb)
	return c
}

// ClientOption returns the options of a client of the cluster, ready to be adjusted.
func (c *Cluster) ClientOption() rueidis.ClientOption {
	return rueidis.ClientOption{InitAddress: c.Addrs}
}

// NewClient returns a client of the cluster, which is closed when the test ends. Each adjust may change its options.
func (c *Cluster) NewClient(tb testing.TB, adjust ...func(*rueidis.ClientOption)) rueidis.Client {
	tb.Helper()
	return newClient(tb, c.ClientOption(), adjust)
}

// join makes a cluster of the nodes.
func (c *Cluster) join(tb testing.TB) {
	tb.Helper()
	ids := make([]string, len(c.Nodes))
	for i, node := range c.Nodes {
		ids[i] = node.Do(tb, "CLUSTER", "MYID")
		node.Do(tb, "CLUSTER", "SET-CONFIG-EPOCH", strconv.Itoa(i+1))
		if i < primaries {
			add := []string{"CLUSTER", "ADDSLOTS"}
			for slot := i * slots / primaries; slot < (i+1)*slots/primaries; slot++ {
				add = append(add, strconv.Itoa(slot))
			}
			node.Do(tb, add...)
		}
		for _, other := range c.Nodes[:i] { // everyone meets everyone: gossip would get there, later
			host, port, _ := strings.Cut(other.Addr, ":")
			node.Do(tb, "CLUSTER", "MEET", host, port)
		}
	}
	for i, replica := range c.Nodes[primaries:] {
		await(tb, "cluster: replicate", clusterTime, func() error {
			_, err := replica.at.do("CLUSTER", "REPLICATE", ids[i])
			return err // unknown node, until they have met
		})
	}
	for i, replica := range c.Nodes[primaries:] {
		awaitLink(tb, replica, c.Nodes[i].Addr)
		c.Nodes[i].Do(tb, "FLUSHALL") // a replica is listed once it has received something
	}
	c.WaitOK(tb)
}

// WaitOK waits until the nodes that run agree that the cluster is ok, on one table of slots that covers all of them and lists each running replica in step. It is for after a change.
func (c *Cluster) WaitOK(tb testing.TB) {
	tb.Helper()
	await(tb, "cluster: agree", clusterTime, func() error {
		running := map[string]bool{}
		tables := map[string]string{}
		for _, node := range c.Nodes {
			replies, err := node.at.doAll([]string{"CLUSTER", "INFO"}, []string{"CLUSTER", "SLOTS"})
			var answered replyError
			if errors.As(err, &answered) {
				return err
			}
			if err != nil {
				continue // stopped
			}
			running[node.Addr] = true
			if state := field(text(replies[0]), "cluster_state"); state != "ok" {
				return fmt.Errorf("the state at %s is %q", node.Addr, state)
			}
			table, err := slotTable(replies[1])
			if err != nil {
				return fmt.Errorf("%s: %w", node.Addr, err)
			}
			tables[node.Addr] = table.String()
		}
		var first, firstAddr string
		for addr, table := range tables {
			if first == "" {
				first, firstAddr = table, addr
			}
			if table != first {
				return fmt.Errorf("%s has %s and %s has %s", firstAddr, first, addr, table)
			}
			for node := range running {
				if !strings.Contains(table, node) {
					return fmt.Errorf("%s misses %s: %s", addr, node, table)
				}
			}
		}
		if len(running) < primaries {
			return fmt.Errorf("only %d nodes run", len(running))
		}
		return nil
	})
}
