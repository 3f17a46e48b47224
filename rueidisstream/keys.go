package rueidisstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/rueidis"
)

// Keys returns the names of the keys that match pattern, as KEYS gives them but by pages of SCAN, so that the server is never
// held for long: those of the database of client or, on a cluster, of every primary, in no order and each once. The
// pattern is the server's: "*" is every key, "" only the one without a name. WithScan sets the size of a page, and says what
// a scan means while keys come and go.
//
// On a cluster, a key whose slot moves from one node to another meanwhile may be missed. If nodes that have slots cannot be
// reached, or are not known to the client yet, that is an error before the first key.
//
// Commands are sent when the iterator is ranged over, and that can be done once: then ErrReused. At most one error comes, as
// the last thing; a server's is unwrapped.
//
// Keys are valid only until the next iteration or call; copy with String or Append.
func Keys(ctx context.Context, client rueidis.Client, pattern string, opts ...Option) iter.Seq2[Value, error] {
	return once(opts, noKey, "", func(cfg config, opts []Option, yield func(Value, error) bool) {
		count := cmp.Or(cfg.scan, defaultPage)
		s := &keyScan{client: client, cursorScan: newCursorScan(nil, "", opts, 1, func(c rueidis.Client, cursor uint64) rueidis.Completed {
			return c.B().Scan().Cursor(cursor).Match(pattern).Count(count).Build()
		})}
		scanValues(ctx, s.next, yield)
	})
}

// keyScan scans one node after the other.
type keyScan struct {
	*cursorScan // of nodes[0]
	client      rueidis.Client
	nodes       []rueidis.Client // that are not read to their end; nil before the beginning
}

func (s *keyScan) next(ctx context.Context, p *page) (more bool, err error) {
	if s.nodes == nil {
		if s.nodes, err = primaries(ctx, s.client); err != nil {
			return false, err
		}
	}
	s.node = s.nodes[0]
	more, err = s.cursorScan.next(ctx, p)
	if more || err != nil {
		return more, err
	}
	s.nodes = s.nodes[1:]
	s.cursor, s.begun, s.restarts = 0, false, 0
	return len(s.nodes) > 0, nil
}

// pinned is the node that is asked for the pages of a key.
type pinned struct {
	client rueidis.Client
	key    string
	node   rueidis.Client // nil before the first question, and when another node has to be found
	asking bool           // the node takes questions only behind ASKING: the slot is on its way there
	failed int            // questions without an answer since the last one that had one
}

// send asks the node. What replies has first is the answer to the first of cmds.
func (p *pinned) send(ctx context.Context, opts []Option, cmds ...rueidis.Completed) (replies *Replies) {
	if p.asking {
		last := len(cmds) - 1 // it is the one with the key
		cmds = append(cmds[:last:last], p.node.B().Arbitrary("ASKING").Build(), cmds[last])
	}
	return DoMulti(ctx, p.node, cmds, opts...)
}

// answer returns the reply to the question about the key, behind that to ASKING.
func (p *pinned) answer(replies *Replies) (*Reader, error) {
	if p.asking {
		if _, err := replies.Next(); err != nil {
			return nil, err
		}
	}
	return replies.Next()
}

// values asks the node, and returns the elements of its reply.
func (p *pinned) values(ctx context.Context, cmd rueidis.Completed, opts []Option) iter.Seq2[Value, error] {
	if !p.asking {
		return Values(ctx, p.node, cmd, opts...)
	}
	return func(yield func(Value, error) bool) {
		replies := p.send(ctx, opts, cmd)
		defer replies.Close()
		r, err := p.answer(replies)
		if err != nil {
			yield(Value{}, err)
			return
		}
		for v, err := range r.Values() {
			if !yield(v, err) || err != nil {
				return
			}
		}
	}
}

// elsewhere tells, after the pause that is due, whether to ask again after err, and sees to it that the right node is asked: of a
// cluster, slots move and primaries fail over while a key is read by pages.
func (p *pinned) elsewhere(ctx context.Context, err error) bool {
	if p.client == nil || p.client.Mode() != rueidis.ClientModeCluster || ctx.Err() != nil || p.failed >= maxPages {
		return false
	}
	switch {
	case isRedirect(err):
		addr, asking := err.(*rueidis.RedisError).IsAsk()
		p.node, p.asking = nil, false
		if node := p.client.Nodes()[addr]; asking && node != nil {
			p.node, p.asking = node, true
		}
	case p.node == nil && !fromServer(err), isClosed(err), isDial(err):
		p.node, p.asking = nil, false
	case !isNotReady(err):
		return false
	}
	p.failed++
	return pause(ctx, p.failed)
}

// maxPages is how often one page is asked for: with the pauses between, that is for some seconds.
const maxPages = 64

// pin returns the node: the primary that has the key. Its client sends to it and to no other.
func (p *pinned) pin(ctx context.Context) (rueidis.Client, error) {
	if p.node != nil {
		return p.node, nil
	}
	if p.client.Mode() != rueidis.ClientModeCluster {
		nodes, err := primaries(ctx, p.client)
		if err == nil {
			p.node = nodes[0]
		}
		return p.node, err
	}
	cmd := p.client.B().Exists().Key(p.key).Build()
	slot := int(cmd.Slot())
	nodes, err := survey(ctx, p.client, func(n clusterNode) bool { return n.has(slot) })
	for _, n := range nodes {
		if n.has(slot) {
			p.node = n.client
			return p.node, nil
		}
	}
	return nil, cmp.Or(err, fmt.Errorf("rueidisstream: no primary has slot %d", slot))
}

// primaries returns the nodes that have the keys.
func primaries(ctx context.Context, client rueidis.Client) ([]rueidis.Client, error) {
	if client.Mode() == rueidis.ClientModeCluster {
		return clusterPrimaries(ctx, client)
	}
	nodes := client.Nodes()
	if len(nodes) < 2 {
		return []rueidis.Client{client}, nil
	}
	var failed error
	for _, addr := range slices.Sorted(maps.Keys(nodes)) {
		c := nodes[addr]
		role, err := c.Do(ctx, c.B().Role().Build()).ToArray()
		if err != nil {
			failed = err
			continue
		}
		if len(role) > 0 {
			if name, _ := role[0].ToString(); name == "master" {
				return []rueidis.Client{c}, nil
			}
		}
	}
	if failed == nil || fromServer(failed) {
		return nil, cmp.Or(failed, errors.New("rueidisstream: none of the client's nodes is a primary"))
	}
	return nil, sendError(ctx, failed, false)
}

// clusterPrimaries returns the primaries of a cluster, which must be all that have slots.
func clusterPrimaries(ctx context.Context, client rueidis.Client) ([]rueidis.Client, error) {
	nodes, err := survey(ctx, client, nil)
	known := map[string]bool{}
	var found []rueidis.Client
	for _, n := range nodes {
		if n.primary {
			known[n.id] = true
			found = append(found, n.client)
		}
	}
	for _, n := range nodes {
		for _, id := range n.others {
			if !known[id] {
				return nil, cmp.Or(err, fmt.Errorf("rueidisstream: the client does not know the primary %.40s", id))
			}
		}
	}
	if len(found) == 0 {
		return nil, cmp.Or(err, errors.New("rueidisstream: none of the client's nodes is a primary"))
	}
	return found, nil
}

// clusterNode is what a node says of itself.
type clusterNode struct {
	client  rueidis.Client
	id      string
	primary bool
	slots   [][2]int // first and last
	others  []string // ids of the primaries with slots, as it sees them
}

func (n *clusterNode) has(slot int) bool {
	return n.primary && slices.ContainsFunc(n.slots, func(s [2]int) bool { return s[0] <= slot && slot <= s[1] })
}

// survey asks the nodes of a cluster one after the other, until enough says so, in the order of their addresses. The
// nodes are asked since they alone know which connection leads to them: addresses in the tables of a cluster may have another form
// than those that the client has dialled. A node that does not answer is left out; the error is the last one's.
func survey(ctx context.Context, client rueidis.Client, enough func(clusterNode) bool) (found []clusterNode, failed error) {
	nodes := client.Nodes()
	for _, addr := range slices.Sorted(maps.Keys(nodes)) {
		c := nodes[addr]
		table, err := c.Do(ctx, c.B().ClusterNodes().Build()).ToString()
		if err != nil {
			failed = err
			if !fromServer(err) {
				failed = sendError(ctx, err, false)
			}
			if ctx.Err() != nil {
				return nil, failed
			}
			continue
		}
		n := parseNodes(strings.TrimPrefix(table, "txt:")) // rueidis leaves the prefix of a verbatim string on
		n.client = c
		found = append(found, n)
		if enough != nil && enough(n) {
			break
		}
	}
	return found, failed
}

// parseNodes reads the reply of CLUSTER NODES: a line for each node, with its id, address, flags, and from the ninth word on
// its slots; those in brackets are on the move and are counted where they still are.
func parseNodes(table string) (n clusterNode) {
	for line := range strings.Lines(table) {
		words := strings.Fields(line)
		if len(words) < 8 {
			continue
		}
		flags := strings.Split(words[2], ",")
		primary := slices.Contains(flags, "master")
		slots := parseSlots(words[8:])
		if primary && len(slots) > 0 {
			n.others = append(n.others, words[0])
		}
		if slices.Contains(flags, "myself") {
			n.id, n.primary, n.slots = words[0], primary, slots
		}
	}
	return n
}

func parseSlots(words []string) (slots [][2]int) {
	for _, w := range words {
		from, to, ranged := strings.Cut(w, "-")
		if !ranged {
			to = from
		}
		first, err := strconv.Atoi(from)
		if err != nil {
			continue
		}
		last, err := strconv.Atoi(to)
		if err != nil {
			continue
		}
		slots = append(slots, [2]int{first, last})
	}
	return slots
}
