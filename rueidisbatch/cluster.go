package rueidisbatch

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"sync"

	"github.com/redis/rueidis"

	"github.com/rueidisx/rueidisx/internal/slots"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

// What goes out in one pipeline: as much as rueidisstream sends before it reads, so that a pipeline is one exchange.
const (
	pipelineCommands = 1024
	pipelineBytes    = 60 << 10
	keyBytes         = 16 // of an argument on the wire, beside the key
)

// cluster is what is known of the cluster. The zero cluster is none.
type cluster struct {
	probe rueidis.Completed // never sent: it computes slots
	known sync.Once
	table slots.Table
	nodes map[string]rueidis.Client
}

func newCluster(client rueidis.Client) *cluster {
	return &cluster{probe: client.B().Arbitrary("PING").Build()}
}

func (c *cluster) none() bool { return c.probe.IsEmpty() }

// learn asks once which node has which slots. Without an answer all keys go by what the client knows.
func (c *cluster) learn(ctx context.Context, client rueidis.Client) {
	c.known.Do(func() {
		if table, err := slots.Ask(ctx, client); err == nil {
			c.table, c.nodes = table, client.Nodes()
		}
	})
}

// knows tells whether the client has any of the nodes under the address that the cluster gives it.
func (c *cluster) knows() bool {
	return slices.ContainsFunc(c.table, func(r slots.Range) bool { return c.nodes[r.Addr] != nil })
}

// node returns the client of the node that has the slot, or nil if that is not known.
func (c *cluster) node(slot uint16) rueidis.Client { return c.nodes[c.table.Node(slot)] }

// place is a slot and the place of a key of it, in the order of both.
type place uint64

func (p place) slot() uint16 { return uint16(p >> 48) }
func (p place) index() int   { return int(p & (1<<48 - 1)) }

// order returns the places of the keys in the order of their slots, in room.
func (c *cluster) order(keys []string, room []place) []place {
	room = room[:0]
	for i, key := range keys {
		with := c.probe.SetSlot(key)
		room = append(room, place(with.Slot())<<48|place(i))
	}
	slices.Sort(room)
	return room
}

// group is the keys of one slot: places[from:to].
type group struct{ from, to int }

// groups returns the groups of the places, in room.
func (c *cluster) groups(places []place, room []group) []group {
	room = room[:0]
	for from := 0; from < len(places); {
		to := from + 1
		for to < len(places) && places[to].slot() == places[from].slot() {
			to++
		}
		room = append(room, group{from, to})
		from = to
	}
	return room
}

// byNode brings the groups of each node together: after some moves, a node's slots may lie anywhere.
func (c *cluster) byNode(order []place, groups []group) []group {
	parts := map[string][]group{}
	for _, g := range groups {
		addr := c.table.Node(order[g.from].slot())
		parts[addr] = append(parts[addr], g)
	}
	groups = groups[:0]
	for _, addr := range slices.Sorted(maps.Keys(parts)) {
		groups = append(groups, parts[addr]...)
	}
	return groups
}

func (g group) keys(keys []string, places []place, room []string) []string {
	room = room[:0]
	for _, p := range places[g.from:g.to] {
		room = append(room, keys[p.index()])
	}
	return room
}

func (g group) places(places []place) []int {
	at := make([]int, 0, g.to-g.from)
	for _, p := range places[g.from:g.to] {
		at = append(at, p.index())
	}
	return at
}

// nodes reads a chunk by an MGET for each slot, in pipelines to the nodes. What a node does not answer for goes key by key by way of
// the client, which follows the cluster.
func (s *source) nodes(req *request) error {
	s.cluster.learn(s.ctx, s.client)
	if !s.cluster.knows() {
		return s.sharedSlots(req) // rueidis finds them
	}
	order := s.cluster.order(req.keys, nil)
	groups := s.cluster.byNode(order, s.cluster.groups(order, nil))
	var alone []place
	var failed *keyError
	for len(groups) > 0 {
		node, n := s.pipeline(req.keys, order, groups)
		var err error
		if node == nil {
			for _, g := range groups[:n] {
				alone = append(alone, order[g.from:g.to]...)
			}
		} else {
			alone, err = s.pipelined(req, node, order, groups[:n], alone)
		}
		groups = groups[n:]
		if err := s.fails(&failed, err); err != nil {
			return err
		}
	}
	for try := 0; len(alone) > 0; try++ {
		var err error
		alone, err = s.alone(req, alone, try == maxBroken)
		if err := s.fails(&failed, err); err != nil {
			return err
		}
	}
	return failed.orNil()
}

// pipeline returns how many of the groups go out together, and where to.
func (s *source) pipeline(keys []string, order []place, groups []group) (node rueidis.Client, n int) {
	node = s.cluster.node(order[groups[0].from].slot())
	size := 0
	for n < len(groups) && n < pipelineCommands {
		g := groups[n]
		for _, p := range order[g.from:g.to] {
			size += len(keys[p.index()]) + keyBytes
		}
		if n > 0 && (size > pipelineBytes || s.cluster.node(order[g.from].slot()) != node) {
			break
		}
		n++
	}
	return node, n
}

// pipelined reads the groups from their node. To rueidisstream the commands are none that only read, so that it does not wait
// for, or follow, what a node says of single ones: it is here that such keys are put to alone.
func (s *source) pipelined(req *request, node rueidis.Client, order []place, groups []group, alone []place) ([]place, error) {
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	cmds := make([]rueidis.Completed, len(groups))
	var words []string
	for k, g := range groups {
		words = g.keys(req.keys, order, words)
		cmds[k] = node.B().Arbitrary("MGET").Args(words...).Build() // no Keys: the node's client shall not look at slots
	}
	replies := rueidisstream.DoMulti(ctx, node, cmds)
	defer replies.Close()
	if !s.halt.enter(&cancel) || req.begun != nil && !req.begun() {
		return alone, errHalted
	}
	defer s.halt.leave(&cancel)
	var failed *keyError
	for _, g := range groups {
		r, err := replies.Next()
		n := 0
		if err == nil {
			n, err = s.values(r, g.to-g.from, func(i int, val []byte, wrong bool) error {
				return req.put(order[g.from+i].index(), val, wrong)
			})
		}
		if err == nil {
			continue
		}
		rest := group{g.from + n, g.to}
		var user *userError
		switch err = s.halted(err); {
		case errors.As(err, &user), err == errHalted:
			return alone, err
		case fromServer(err) && !isElsewhere(err):
			err = &keyError{rest.places(order), err}
		case s.ctx.Err() == nil && !errors.Is(err, ErrReply) && !errors.Is(err, rueidisstream.ErrProtocol):
			alone = append(alone, order[rest.from:rest.to]...)
			continue
		default:
			err = &keyError{rest.places(order), err}
		}
		if err := s.fails(&failed, err); err != nil {
			return alone, err
		}
	}
	return alone, failed.orNil()
}

// alone reads keys one by one, in pipelines by way of the client, which follows MOVED and ASK and waits for nodes that are not
// ready. It returns those whose connection broke or, the last time, makes that their error.
func (s *source) alone(req *request, places []place, last bool) (broken []place, err error) {
	var failed *keyError
	for len(places) > 0 {
		some := places[:min(len(places), pipelineCommands)]
		places = places[len(some):]
		cmds := make([]rueidis.Completed, len(some))
		for k, p := range some {
			cmds[k] = s.client.B().Mget().Key(req.keys[p.index()]).Build()
		}
		left, err := s.aloneOnce(req, some, cmds, last)
		broken = append(broken, left...)
		if err := s.fails(&failed, err); err != nil {
			return nil, err
		}
	}
	return broken, failed.orNil()
}

func (s *source) aloneOnce(req *request, places []place, cmds []rueidis.Completed, last bool) (broken []place, err error) {
	if s.halt.halted.Load() {
		return nil, errHalted
	}
	replies := rueidisstream.DoMulti(s.ctx, s.client, cmds)
	defer replies.Close()
	if req.begun != nil && !req.begun() {
		return nil, errHalted
	}
	var failed *keyError
	for _, p := range places {
		r, err := replies.Next() // a final error comes again for each that is left
		if err == nil {
			_, err = s.values(r, 1, func(_ int, val []byte, wrong bool) error { return req.put(p.index(), val, wrong) })
		}
		var user *userError
		switch {
		case err == nil:
			continue
		case errors.As(err, &user), err == errHalted:
			return nil, err
		case err == io.EOF:
			err = shortReply(0, 1)
		case isBroken(err) && !last && s.ctx.Err() == nil:
			broken = append(broken, p)
			continue
		}
		if err := s.fails(&failed, &keyError{[]int{p.index()}, err}); err != nil {
			return nil, err
		}
	}
	return broken, failed.orNil()
}

// isElsewhere tells whether the server says that the command is for another node, or for later.
func isElsewhere(err error) bool {
	e, ok := err.(*rueidis.RedisError)
	if !ok {
		return false
	}
	_, moved := e.IsMoved()
	_, ask := e.IsAsk()
	return moved || ask || e.IsTryAgain() || e.IsClusterDown() || e.IsLoading()
}
