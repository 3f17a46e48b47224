package rueidisstream

import (
	"errors"
	"strconv"
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
			_, err = l.s.rd.Next()
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
	r.words.forget()
	r.words.take(cmds)
	if !r.words.readOnly {
		r.words.forget()
	}
	r.order = r.order[:0]
	if wire.CheckSlots(cmds) == nil {
		for range cmds {
			r.order = append(r.order, 0)
		}
		r.lanes = append(r.lanes, lane{})
		r.lanes[0].open(r, route{client: r.client}, cmds)
		if err := r.lanes[0].err; err != nil {
			return err
		}
		return nil
	}
	return r.sendToNodes(cmds)
}

// sendToNodes opens a lane for each node that has slots of the commands.
func (r *Replies) sendToNodes(cmds []rueidis.Completed) error {
	slots, err := slotTable(r.ctx, r.client)
	if err != nil {
		return err
	}
	nodes := r.client.Nodes()
	places := spread(cmds)
	byNode := map[string]int{}
	var parts [][]rueidis.Completed
	var routes []route
	for i, slot := range places {
		addr := slots.node(slot)
		n, ok := byNode[addr]
		if !ok {
			to := route{client: nodes[addr], node: true}
			if to.client == nil { // the client may know better; slot by slot
				to = route{client: r.client}
				addr = "slot " + strconv.Itoa(int(slot))
			}
			if n, ok = byNode[addr]; !ok {
				n = len(parts)
				byNode[addr] = n
				parts, routes = append(parts, nil), append(routes, to)
			}
		}
		parts[n] = append(parts[n], cmds[i])
		r.order = append(r.order, n)
	}
	r.lanes = make([]lane, len(parts))
	for n := range parts {
		r.lanes[n].open(r, routes[n], parts[n])
	}
	return nil
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
