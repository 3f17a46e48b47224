package rueidisstream

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/redis/rueidis"

	"github.com/rueidisx/rueidisx/internal/wire"
)

// lane is the commands of a window that go to one node.
type lane struct {
	s     *stream // nil if it could not be opened, or was lost
	due   int     // replies that have not begun
	fresh bool    // s stands on a reply that was not looked at
	err   error   // why s is nil
}

// open sends the lane's commands and steps to the first reply.
func (l *lane) open(r *Replies, to route, cmds []rueidis.Completed) {
	n := len(cmds)
	if l.s, l.err = open(r.ctx, to, cmds, r.cfg); l.err == nil {
		l.due, l.fresh = n, true
	}
}

// step finishes the present reply and begins the next. It returns the error that this is, or why there is none.
func (l *lane) step() error {
	if l.err != nil {
		return l.err
	}
	if !l.fresh {
		err := l.s.rd.Finish()
		if err == nil {
			l.s.rd.Begin()
			l.s.conn.Between(true)
			_, err = l.s.rd.Next()
			l.s.conn.Between(false)
		}
		if err != nil {
			return l.lose(l.s.wrap(err))
		}
	}
	l.fresh = false
	l.due--
	err := l.s.ownReply()
	if err != nil && !fromServer(err) {
		return l.lose(err)
	}
	return err
}

func (l *lane) lose(err error) error {
	l.abandon()
	l.err = err
	return err
}

func (l *lane) abandon() {
	if l.s != nil {
		l.s.abandon()
		l.s = nil
	}
}

// close reads the replies that are left if they are within the limit, or else closes the connection.
func (l *lane) close() error {
	s := l.s
	l.s = nil
	if s == nil {
		return nil
	}
	if l.fresh {
		l.due--
	}
	limit := s.rd.Offset() + s.cfg.drain
	for ; l.due > 0; l.due-- {
		left := limit - s.rd.Offset()
		if left <= 0 || s.ctx.Err() != nil || s.rd.FinishWithin(left) != nil {
			s.abandon()
			return nil
		}
		s.rd.Begin()
	}
	s.cfg.drain = max(limit-s.rd.Offset(), 0)
	return s.close()
}

// send opens the lanes of a window.
func (r *Replies) send(cmds []rueidis.Completed) error {
	r.words = nil
	if wire.CheckSlots(cmds) == nil {
		if r.order = allFirst[:]; len(cmds) > len(allFirst) {
			r.order = make([]int, len(cmds))
		}
		r.order = r.order[:len(cmds):len(cmds)]
		r.lanes = r.one[:1]
		r.lanes[0].open(r, route{client: r.client}, cmds)
		if err := r.lanes[0].err; err != nil {
			return err
		}
		return nil
	}
	return r.sendToNodes(cmds)
}

// allFirst is the order of commands that all go to the first lane. It is shared, and never written to.
var allFirst [64]int

// sendToNodes opens a lane for each node that has slots of the commands. The nodes' order is the same for everybody, so that two
// pipelines do not wait for each other's connections.
func (r *Replies) sendToNodes(cmds []rueidis.Completed) error {
	r.words = new(copies)
	r.words.take(cmds)
	r.order = nil
	slots, err := slotTable(r.ctx, r.client)
	if err != nil {
		return err
	}
	nodes, places := r.client.Nodes(), spread(cmds)
	parts := map[string][]rueidis.Completed{}
	for i, slot := range places {
		addr := slots.node(slot)
		if nodes[addr] == nil {
			return r.sendSlot(cmds, places)
		}
		parts[addr] = append(parts[addr], cmds[i])
	}
	addrs := slices.Sorted(maps.Keys(parts))
	for _, slot := range places {
		n, _ := slices.BinarySearch(addrs, slots.node(slot))
		r.order = append(r.order, n)
	}
	r.lanes = make([]lane, len(addrs))
	for n, addr := range addrs {
		r.lanes[n].open(r, route{client: nodes[addr], node: true}, parts[addr])
	}
	return nil
}

// sendSlot sends the first of the commands that are of one slot, and leaves the others to windows to come: the client does not
// know a node by the name that the cluster gives it.
func (r *Replies) sendSlot(cmds []rueidis.Completed, places []uint16) error {
	n := 1
	for n < len(places) && places[n] == places[0] {
		n++
	}
	r.rest = append(slices.Clone(cmds[n:]), r.rest...)
	return r.send(cmds[:n])
}

// spread returns the slot by which each command goes. MULTI and WATCH go with what follows, others that have none with what
// they follow.
func spread(cmds []rueidis.Completed) []uint16 {
	places := make([]uint16, len(cmds))
	for i := range cmds {
		places[i] = cmds[i].Slot()
	}
	for i := len(cmds) - 2; i >= 0; i-- {
		if name := cmds[i].Commands()[0]; !inCluster(places[i]) && (strings.EqualFold(name, "MULTI") || strings.EqualFold(name, "ASKING")) {
			places[i] = places[i+1]
		}
	}
	for i := 1; i < len(cmds); i++ {
		if !inCluster(places[i]) {
			places[i] = places[i-1]
		}
	}
	for i := len(cmds) - 2; i >= 0; i-- {
		if !inCluster(places[i]) {
			places[i] = places[i+1]
		}
	}
	return places
}

// closeLanes gives the connections of the window back.
func (r *Replies) closeLanes() error {
	var all error
	for i := range r.lanes {
		if err := r.lanes[i].close(); err != nil {
			all = errors.Join(all, err)
		}
	}
	r.clearLanes()
	return all
}

func (r *Replies) abandonLanes() {
	for i := range r.lanes {
		r.lanes[i].abandon()
	}
	r.clearLanes()
}

func (r *Replies) clearLanes() {
	clear(r.lanes)
	r.lanes, r.order, r.now = r.lanes[:0], r.order[:0], nil
}
