package rueidisstream

import (
	"context"
	"errors"
	"io"
	"net"
	"syscall"
	"time"

	"github.com/redis/rueidis"

	"github.com/rueidisx/rueidisx/internal/wire"
)

// The connections of a pool may have been closed by the server while they lay idle. The first that is known of it is an error
// from before the reply. All that lie there have the same age, so they are got rid of by PINGs, until one is answered or the
// pool is through; then a command that only reads is sent again: at once three times, then after 1, 2, 4 ... ms.
const (
	maxProbes   = 4096
	probeTime   = 200 * time.Millisecond
	triesAtOnce = 3
	maxTries    = 12
	maxPause    = 100 * time.Millisecond
)

// copies is what is needed to send commands again. rueidis recycles what it has sent, so the words are kept, not the Completed.
type copies struct {
	words    []string
	cmds     []copied
	built    []rueidis.Completed
	readOnly bool // all of them only read
}

type copied struct {
	words int // number of words
	slot  uint16
}

// take notes the commands, if they may have to be sent again: all of them only read, or it is one command for a cluster, which
// may answer that it is for another node.
func (c *copies) take(cmds []rueidis.Completed) {
	c.readOnly = true
	for i := range cmds {
		c.readOnly = c.readOnly && cmds[i].IsReadOnly()
	}
	if !c.readOnly && (len(cmds) > 1 || !inCluster(cmds[0].Slot())) {
		return
	}
	for i := range cmds {
		words := cmds[i].Commands()
		c.words = append(c.words, words...)
		c.cmds = append(c.cmds, copied{len(words), cmds[i].Slot()})
	}
}

// inCluster tells whether slot is that of a key in a cluster: other commands, and other clients', have larger numbers.
func inCluster(slot uint16) bool { return slot < 1<<14 }

// forget lets go of the words but keeps the room.
func (c *copies) forget() {
	clear(c.words)
	clear(c.built)
	c.words, c.cmds, c.built, c.readOnly = c.words[:0], c.cmds[:0], c.built[:0], false
}

// again tells, after the pause that is due, whether to send once more after err.
func (c *copies) again(ctx context.Context, client rueidis.Client, try int, err error) bool {
	if len(c.cmds) == 0 || !c.readOnly || try+1 >= maxTries || ctx.Err() != nil {
		return false
	}
	switch {
	case isOthers(err):
	case isClosed(err):
		c.probe(ctx, client)
	case (isDial(err) || errors.Is(err, rueidis.ErrNoSlot)) && inCluster(c.cmds[0].slot):
		c.ask(ctx, client)
	case !isNotReady(err):
		return false
	}
	return due(ctx, try)
}

// due waits until the next try is due. It tells whether ctx is not done.
func due(ctx context.Context, try int) bool {
	if try < triesAtOnce {
		return ctx.Err() == nil
	}
	return pause(ctx, try-triesAtOnce)
}

// pause waits for 1 ms, or twice as long for each step, up to maxPause. It tells whether ctx is not done.
func pause(ctx context.Context, step int) bool {
	timer := time.NewTimer(min(time.Millisecond<<min(step, 20), maxPause))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// probe makes the pool give up connections that are closed: those that it hands out for a PING to the commands' node.
func (c *copies) probe(ctx context.Context, client rueidis.Client) {
	begin := time.Now()
	for range maxProbes {
		if time.Since(begin) > probeTime {
			return // these are no old connections: the node accepts and closes
		}
		ping := client.B().Arbitrary("PING").Args("x").ReadOnly()
		ping = inSlot(ping, c.words[1:c.cmds[0].words], c.cmds[0].slot)
		if _, err := wire.Copy(ctx, client, ping, io.Discard, 0); err == nil || !isClosed(err) {
			return
		}
	}
}

// isDial tells whether no connection could be had.
func isDial(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// isOthers tells, while the caller's context is not done, whether err is of a context that is not the caller's: of the calls that
// dial at the same time and fail, rueidis gives to each the error that came last.
func isOthers(err error) bool { return errors.Is(err, context.Canceled) }

// isNotReady tells whether the server says that it will do later.
func isNotReady(err error) bool {
	e, ok := err.(*rueidis.RedisError)
	return ok && (e.IsLoading() || e.IsTryAgain() || e.IsClusterDown())
}

// isClosed tells whether err is that of a connection that the other side had closed.
func isClosed(err error) bool {
	return !isDial(err) && isGone(err)
}

func isGone(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// build makes the commands anew.
func (c *copies) build(client rueidis.Client) []rueidis.Completed {
	c.built = c.built[:0]
	words := c.words
	for _, k := range c.cmds {
		cmd := client.B().Arbitrary(words[:k.words]...)
		if c.readOnly {
			c.built = append(c.built, inSlot(cmd.ReadOnly(), words[1:k.words], k.slot))
		} else {
			c.built = append(c.built, inSlot(cmd.Build(), words[1:k.words], k.slot))
		}
		words = words[k.words:]
	}
	return c.built
}

// inSlot gives cmd the slot, by the word that has it: the key or, should it be another word, one that is as good.
func inSlot(cmd rueidis.Completed, words []string, slot uint16) rueidis.Completed {
	if cmd.Slot() == slot {
		return cmd
	}
	for _, w := range words {
		if with := cmd.SetSlot(w); with.Slot() == slot {
			return with
		}
	}
	return cmd
}
