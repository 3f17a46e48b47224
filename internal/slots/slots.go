// Package slots tells which primary of a cluster has which slots, by CLUSTER SLOTS,
// https://redis.io/docs/latest/commands/cluster-slots/.
package slots

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sort"
	"strconv"
	"time"

	"github.com/redis/rueidis"

	"github.com/rueidisx/rueidisx/internal/resp"
)

// Table is which primary has which slots, in the order of the slots. The zero Table knows none.
type Table []Range

// Range is the slots From to To, both included, and the address of their primary.
type Range struct {
	From, To int64
	Addr     string
}

// askTime bounds the wait for one node's answer: it may be gone.
const askTime = 500 * time.Millisecond

var errNoNode = errors.New("the client knows no node")

// Ask asks the client's nodes one after the other, until one answers; if it knows none, the client. A reply that is no table is
// resp.ErrShape.
func Ask(ctx context.Context, client rueidis.Client) (Table, error) {
	ranges, err := []rueidis.RedisMessage(nil), errNoNode
	for _, node := range client.Nodes() {
		ranges, err = ask(ctx, node)
		if _, answered := err.(*rueidis.RedisError); err == nil || answered || ctx.Err() != nil {
			break
		}
	}
	if err == errNoNode {
		ranges, err = ask(ctx, client)
	}
	if err != nil {
		return nil, err
	}
	return read(ranges)
}

func ask(ctx context.Context, node rueidis.Client) ([]rueidis.RedisMessage, error) {
	limited, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	ranges, err := node.Do(limited, node.B().ClusterSlots().Build()).ToArray()
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		err = fmt.Errorf("CLUSTER SLOTS: no answer within %v (%v)", askTime, err) // no error of the caller's context
	}
	return ranges, err
}

func read(ranges []rueidis.RedisMessage) (table Table, err error) {
	for i := range ranges {
		r, err := readRange(&ranges[i])
		if err != nil {
			return nil, fmt.Errorf("CLUSTER SLOTS: %w: %w", resp.ErrShape, err)
		}
		table = append(table, r)
	}
	slices.SortFunc(table, func(a, b Range) int { return int(a.From - b.From) })
	return table, nil
}

// readRange reads one range: its first and last slot, and the nodes, the primary first.
func readRange(m *rueidis.RedisMessage) (r Range, err error) {
	parts, err := m.ToArray()
	if err != nil || len(parts) < 3 {
		return r, fmt.Errorf("a range of %d parts", len(parts))
	}
	node, err := parts[2].ToArray()
	if err != nil || len(node) < 2 {
		return r, fmt.Errorf("a node of %d parts", len(node))
	}
	if r.From, err = parts[0].AsInt64(); err != nil {
		return r, err
	}
	if r.To, err = parts[1].AsInt64(); err != nil {
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
	r.Addr = net.JoinHostPort(host, strconv.FormatInt(port, 10))
	return r, nil
}

// Node returns the address of the primary that has the slot, or "".
func (t Table) Node(slot uint16) string {
	i := sort.Search(len(t), func(i int) bool { return t[i].To >= int64(slot) })
	if i == len(t) || t[i].From > int64(slot) {
		return ""
	}
	return t[i].Addr
}
