package redistest

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// MoveSlot moves a slot with its keys to the primary to, and waits until all nodes know. Does nothing if it is there.
func (c *Cluster) MoveSlot(tb testing.TB, slot int, to *Server) {
	tb.Helper()
	if c.NodeOf(tb, slot).Addr == to.Addr {
		return
	}
	c.StartMove(tb, slot, to)
	c.FinishMove(tb, slot, to)
}

// StartMove begins to move a slot to the primary to: from now on its present node answers with ASK for keys that it does not have, and with TRYAGAIN for several of which it has some. [Cluster.MoveKeys] moves
// keys, [Cluster.FinishMove] ends the move, [Cluster.CancelMove] gives it up.
func (c *Cluster) StartMove(tb testing.TB, slot int, to *Server) {
	tb.Helper()
	from := c.NodeOf(tb, slot)
	to.Do(tb, "CLUSTER", "SETSLOT", strconv.Itoa(slot), "IMPORTING", from.Do(tb, "CLUSTER", "MYID"))
	from.Do(tb, "CLUSTER", "SETSLOT", strconv.Itoa(slot), "MIGRATING", to.Do(tb, "CLUSTER", "MYID"))
}

// MoveKeys moves keys of a slot that is on the move.
func (c *Cluster) MoveKeys(tb testing.TB, slot int, to *Server, keys ...string) {
	tb.Helper()
	if len(keys) == 0 {
		return
	}
	host, port, _ := strings.Cut(to.Addr, ":")
	c.NodeOf(tb, slot).Do(tb, append([]string{"MIGRATE", host, port, "", "0", "10000", "KEYS"}, keys...)...)
}

// FinishMove moves what is left of a slot that is on the move and makes to its node, on all primaries.
func (c *Cluster) FinishMove(tb testing.TB, slot int, to *Server) {
	tb.Helper()
	from := c.NodeOf(tb, slot)
	for {
		keys := from.Do(tb, "CLUSTER", "GETKEYSINSLOT", strconv.Itoa(slot), "100")
		if keys == "" {
			break
		}
		c.MoveKeys(tb, slot, to, strings.Split(keys, "\n")...)
	}
	id := to.Do(tb, "CLUSTER", "MYID")
	told := []string{to.Addr, from.Addr} // the receiver first: it must not lose the slot if it is the last to know
	to.Do(tb, "CLUSTER", "SETSLOT", strconv.Itoa(slot), "NODE", id)
	from.Do(tb, "CLUSTER", "SETSLOT", strconv.Itoa(slot), "NODE", id)
	for _, node := range c.Nodes {
		if !slices.Contains(told, node.Addr) {
			_, _ = node.at.do("CLUSTER", "SETSLOT", strconv.Itoa(slot), "NODE", id) // replicas refuse and are told by gossip
		}
	}
	c.WaitOK(tb)
}

// CancelMove ends the move of a slot; keys that were moved stay where they are.
func (c *Cluster) CancelMove(tb testing.TB, slot int, to *Server) {
	tb.Helper()
	c.NodeOf(tb, slot).Do(tb, "CLUSTER", "SETSLOT", strconv.Itoa(slot), "STABLE")
	to.Do(tb, "CLUSTER", "SETSLOT", strconv.Itoa(slot), "STABLE")
}

// KillPrimary stops the primary of a slot and waits until a replica has taken its place, which it returns with the node that was stopped. [Server.Start] and [Cluster.WaitOK] bring that back, as a replica.
func (c *Cluster) KillPrimary(tb testing.TB, slot int) (stopped, successor *Server) {
	tb.Helper()
	holders := c.holders(tb, slot)
	stopped = holders[0]
	stopped.Stop(tb)
	for _, replica := range holders[1:] {
		// In place of an election, which costs seconds: the replica takes over by itself. The others agree, since its epoch is the highest.
		if _, err := replica.at.do("CLUSTER", "FAILOVER", "TAKEOVER"); err == nil {
			break
		}
	}
	await(tb, "cluster: failover", 30*time.Second, func() error {
		for _, replica := range holders[1:] {
			if err := replica.isPrimary(); err == nil {
				successor = replica
				return nil
			}
		}
		return errNoSuccessor
	})
	c.WaitOK(tb)
	return stopped, successor
}
