package rueidisstream

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sort"
	"strconv"

	"github.com/redis/rueidis"
)

// slotRanges is which primary has which slots, by CLUSTER SLOTS, in the order of the slots.
type slotRanges []slotRange

type slotRange struct {
	from, to int64
	addr     string
}

// slotTable asks the cluster: one node after the other, until one answers.
func slotTable(ctx context.Context, client rueidis.Client) (slotRanges, error) {
	ranges, err := []rueidis.RedisMessage(nil), errNoNode
	for _, node := range client.Nodes() {
		if ranges, err = slotsOf(ctx, node); err == nil || fromServer(err) || ctx.Err() != nil {
			break
		}
	}
	if err == errNoNode {
		ranges, err = slotsOf(ctx, client)
	}
	if err != nil {
		return nil, sendError(ctx, err, false)
	}
	var table slotRanges
	for i := range ranges {
		r, err := readRange(ranges[i])
		if err != nil {
			return nil, fmt.Errorf("rueidisstream: CLUSTER SLOTS: %w", err)
		}
		table = append(table, r)
	}
	sort.Slice(table, func(i, j int) bool { return table[i].from < table[j].from })
	return table, nil
}

var errNoNode = errors.New("the client knows no node")

// slotsOf asks one node, and not for long: it may be gone.
func slotsOf(ctx context.Context, node rueidis.Client) ([]rueidis.RedisMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime/4)
	defer cancel()
	return node.Do(ctx, node.B().ClusterSlots().Build()).ToArray()
}

// readRange reads one range: its first and last slot, and the nodes, the primary first.
func readRange(m rueidis.RedisMessage) (r slotRange, err error) {
	parts, err := m.ToArray()
	if err != nil || len(parts) < 3 {
		return r, fmt.Errorf("%w: a range of %d parts", ErrShape, len(parts))
	}
	node, err := parts[2].ToArray()
	if err != nil || len(node) < 2 {
		return r, fmt.Errorf("%w: a node of %d parts", ErrShape, len(node))
	}
	if r.from, err = parts[0].AsInt64(); err != nil {
		return r, err
	}
	if r.to, err = parts[1].AsInt64(); err != nil {
		return r, err
	}
	host, err := node[0].ToString()
	if err != nil {
		return r, err
	}
	port, err := node[1].AsInt64()
	if err != nil {
		return r, err
	}
	r.addr = net.JoinHostPort(host, strconv.FormatInt(port, 10))
	return r, nil
}

// node returns the address of the primary that has the slot, or "".
func (t slotRanges) node(slot uint16) string {
	i := sort.Search(len(t), func(i int) bool { return t[i].to >= int64(slot) })
	if i == len(t) || t[i].from > int64(slot) {
		return ""
	}
	return t[i].addr
}
