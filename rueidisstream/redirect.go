package rueidisstream

import (
	"context"
	"time"

	"github.com/redis/rueidis"
)

const (
	// maxRedirects is how often a command is sent to another place, or again to one that was not ready.
	maxRedirects = 128
	// askTime bounds the client's own search for a slot.
	askTime = 2 * time.Second
)

// route is where a command goes.
type route struct {
	client rueidis.Client
	node   bool // the client is of one node
	asking bool // the node takes the command only behind ASKING
}

// redirects tells whether the one command of c can be sent again after the server's answer err: MOVED and ASK say that another
// node has the slot, and that nothing was executed; TRYAGAIN, CLUSTERDOWN and LOADING that the node will do later, for which
// a command that only reads can wait.
//
// The client of a single node knows no other one.
func (c *copies) redirects(client rueidis.Client, err error) bool {
	if len(c.cmds) != 1 {
		return false
	}
	if isRedirect(err) {
		return inCluster(c.cmds[0].slot) && client.Mode() == rueidis.ClientModeCluster
	}
	return c.readOnly && isNotReady(err)
}

// redirect returns where to, after the pause that is due.
func (c *copies) redirect(ctx context.Context, client rueidis.Client, try int, err error) route {
	if !isRedirect(err) {
		pause(ctx, try)
		return route{client: client}
	}
	c.ask(ctx, client)
	e := err.(*rueidis.RedisError)
	addr, asking := e.IsAsk()
	if !asking {
		addr, _ = e.IsMoved()
	}
	if node, ok := client.Nodes()[addr]; ok {
		return route{client: node, node: true, asking: asking}
	}
	pause(ctx, try)
	return route{client: client} // it knows the node by now, or soon
}

// ask makes the client look for the slot, which it does on an answer to a command of its own.
func (c *copies) ask(ctx context.Context, client rueidis.Client) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	cmd := client.B().Arbitrary("EXISTS").ReadOnly()
	for _, word := range c.words[1:c.cmds[0].words] {
		if with := cmd.SetSlot(word); with.Slot() == c.cmds[0].slot {
			_ = client.Do(ctx, client.B().Exists().Key(word).Build()).Error()
			return
		}
	}
}

// isRedirect tells whether err says that another node has the slot.
func isRedirect(err error) bool {
	e, ok := err.(*rueidis.RedisError)
	if !ok {
		return false
	}
	_, moved := e.IsMoved()
	_, ask := e.IsAsk()
	return moved || ask
}
