package rueidisstream

import (
	"context"
	"errors"
	"io"
	"net"
	"syscall"
	"time"

	"github.com/redis/rueidis"
)

// The connections of a pool may have been closed by the server while they lay idle. The first that is known of it is an error
// from before the reply, and then a command that only reads is sent again: at once three times, then after 1, 2, 4 ... ms.
const (
	triesAtOnce = 3
	maxTries    = 12
	maxPause    = 100 * time.Millisecond
)

// copies is what is needed to send commands again. rueidis recycles what it has sent, so the words are kept, not the Completed.
type copies struct {
	words []string
	cmds  []copied
	built []rueidis.Completed
}

type copied struct {
	words int // number of words
	slot  uint16
}

// take notes the commands if all of them only read; else nothing may be sent again.
func (c *copies) take(cmds []rueidis.Completed) {
	for i := range cmds {
		if !cmds[i].IsReadOnly() {
			c.forget()
			return
		}
		words := cmds[i].Commands()
		c.words = append(c.words, words...)
		c.cmds = append(c.cmds, copied{len(words), cmds[i].Slot()})
	}
}

// forget lets go of the words but keeps the room.
func (c *copies) forget() {
	clear(c.words)
	clear(c.built)
	c.words, c.cmds, c.built = c.words[:0], c.cmds[:0], c.built[:0]
}

// again tells, after the pause that is due, whether to send once more after err.
func (c *copies) again(ctx context.Context, try int, err error) bool {
	if len(c.cmds) == 0 || try+1 >= maxTries || ctx.Err() != nil || !isClosed(err) {
		return false
	}
	if try < triesAtOnce {
		return true
	}
	timer := time.NewTimer(min(time.Millisecond<<(try-triesAtOnce), maxPause))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// isClosed tells whether err is that of a connection that the other side had closed.
func isClosed(err error) bool {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return false
	}
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// build makes the commands anew.
func (c *copies) build(client rueidis.Client) []rueidis.Completed {
	c.built = c.built[:0]
	words := c.words
	for _, k := range c.cmds {
		cmd := client.B().Arbitrary(words[:k.words]...).ReadOnly()
		for _, w := range words[1:k.words] {
			if cmd.Slot() == k.slot {
				break
			}
			// The key is whichever word has the command's slot; should it be another word, the slot is right all the same.
			if with := cmd.SetSlot(w); with.Slot() == k.slot {
				cmd = with
			}
		}
		c.built = append(c.built, cmd)
		words = words[k.words:]
	}
	return c.built
}
