package redistest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// slotRange is one entry of CLUSTER SLOTS.
type slotRange struct {
	first, last int
	addrs       []string // the primary, then its replicas in order of address
}

// slotRanges covers all slots, in order.
type slotRanges []slotRange

// slotTable reads a reply to CLUSTER SLOTS.
func slotTable(reply any) (slotRanges, error) {
	bad := func() (slotRanges, error) { return nil, fmt.Errorf("unexpected CLUSTER SLOTS %.200q", text(reply)) }
	entries, ok := reply.([]any)
	if !ok {
		return bad()
	}
	var table slotRanges
	for _, entry := range entries {
		parts, ok := entry.([]any)
		if !ok || len(parts) < 3 {
			return bad()
		}
		first, ok1 := parts[0].(int64)
		last, ok2 := parts[1].(int64)
		if !ok1 || !ok2 {
			return bad()
		}
		r := slotRange{first: int(first), last: int(last)}
		for _, part := range parts[2:] {
			node, ok := part.([]any)
			if !ok || len(node) < 2 {
				return bad()
			}
			r.addrs = append(r.addrs, text(node[0])+":"+text(node[1]))
		}
		slices.Sort(r.addrs[1:])
		table = append(table, r)
	}
	slices.SortFunc(table, func(a, b slotRange) int { return a.first - b.first })
	next := 0
	for _, r := range table {
		if r.first != next {
			return nil, fmt.Errorf("slot %d has no node", next)
		}
		next = r.last + 1
	}
	if next != slots {
		return nil, fmt.Errorf("slot %d has no node", next)
	}
	return table, nil
}

func (t slotRanges) String() string {
	var b strings.Builder
	for _, r := range t {
		fmt.Fprintf(&b, "%d-%d %s; ", r.first, r.last, strings.Join(r.addrs, " "))
	}
	return b.String()
}

// Slot returns the slot of a key.
func (c *Cluster) Slot(tb testing.TB, key string) int {
	tb.Helper()
	slot, err := strconv.Atoi(c.anyDo(tb, "CLUSTER", "KEYSLOT", key).(string))
	if err != nil {
		tb.Fatalf("redistest: CLUSTER KEYSLOT: %v", err)
	}
	return slot
}

// NodeOf returns the node that is the primary of a slot now.
func (c *Cluster) NodeOf(tb testing.TB, slot int) *Server {
	tb.Helper()
	return c.holders(tb, slot)[0]
}

// ReplicasOf returns the nodes that are replicas of a slot now.
func (c *Cluster) ReplicasOf(tb testing.TB, slot int) []*Server {
	tb.Helper()
	return c.holders(tb, slot)[1:]
}

func (c *Cluster) holders(tb testing.TB, slot int) []*Server {
	tb.Helper()
	table, err := slotTable(c.anyDo(tb, "CLUSTER", "SLOTS"))
	if err != nil {
		tb.Fatalf("redistest: %v", err)
	}
	var out []*Server
	for _, r := range table {
		if r.first <= slot && slot <= r.last {
			for _, addr := range r.addrs {
				out = append(out, c.Nodes[slices.Index(c.Addrs, addr)])
			}
		}
	}
	if out == nil {
		tb.Fatalf("redistest: no node has slot %d", slot)
	}
	return out
}

// anyDo sends a command to the first node that answers; integers come back as text.
func (c *Cluster) anyDo(tb testing.TB, args ...string) any {
	tb.Helper()
	var errs []error
	for _, node := range c.Nodes {
		reply, err := node.at.do(args...)
		if n, ok := reply.(int64); ok {
			return strconv.FormatInt(n, 10)
		}
		if err == nil {
			return reply
		}
		errs = append(errs, err)
	}
	tb.Fatalf("redistest: cluster: %v", errors.Join(errs...))
	return nil
}
