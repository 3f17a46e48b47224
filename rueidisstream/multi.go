package rueidisstream

import (
	"context"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/redis/rueidis"

	"github.com/rueidisx/rueidisx/internal/wire"
)

// windowBytes is how many bytes of commands are sent before their replies are read. It is less than what the buffers of a
// connection hold by default, so that a server, or a proxy, that stops reading while its answers are not read blocks nobody.
const (
	windowBytes    = 64 << 10
	windowCommands = 1024
)

// DoMulti sends cmds in one pipeline and returns their replies, in the order of the commands: it is client.DoMulti for
// replies that need not fit into memory. Close the Replies.
//
// Commands of more than 64 KiB together, or more than 1,024, are sent by windows: the next window when the replies of the one
// before were read. MULTI to EXEC and WATCH to EXEC are never divided. After an early Close, windows that were not sent stay
// unsent.
//
// On a cluster the commands' keys must be in one slot; otherwise Next returns an error. If all commands only read, MOVED and ASK
// are followed for each; else they come back as the command's own error. The commands are consumed.
func DoMulti(ctx context.Context, client rueidis.Client, cmds []rueidis.Completed, opts ...Option) *Replies {
	r := &Replies{ctx: ctx, client: client, cfg: newConfig(opts)}
	if len(cmds) == 0 {
		r.err = io.EOF
		return r
	}
	if err := wire.CheckSlots(cmds); err != nil {
		r.err = fmt.Errorf("rueidisstream: %w", err)
		return r
	}
	n := window(cmds)
	if n < len(cmds) {
		r.rest = append(r.rest, cmds[n:]...) // the caller may reuse its slice
	}
	r.send(cmds[:n])
	return r
}

// Replies is the replies to the commands of a DoMulti. It is not for concurrent use.
type Replies struct {
	ctx    context.Context
	client rueidis.Client
	cfg    config
	rest   []rueidis.Completed // not sent yet
	s      *stream             // the connection of the present window; nil between windows and at the end
	due    int                 // replies of the window that have not begun
	fresh  bool                // s stands on a reply that Next has not returned yet
	reader Reader
	err    error // final: io.EOF after the last reply
}

// Next finishes the present reply and returns a Reader of the next one, which is valid until the next call of Next or Close.
// It need not be closed. If a command's own reply is an error or a null, Next returns that, unwrapped, and the following Next
// goes on with the next command. Any other error is final. After the last reply it returns io.EOF.
func (r *Replies) Next() (*Reader, error) {
	r.reader.s = nil
	if r.err != nil {
		return nil, r.err
	}
	if err := r.step(); err != nil {
		r.abandon()
		r.err = err
		return nil, err
	}
	if r.err != nil {
		return nil, r.err
	}
	r.due--
	err := r.s.ownReply()
	if err != nil && r.s.copy.readOnly && isRedirect(err) {
		err = r.elsewhere()
	}
	if err != nil {
		if !fromServer(err) {
			r.abandon()
			r.err = err
		}
		return nil, err
	}
	r.reader = Reader{s: r.s, started: true, shared: true}
	return &r.reader, nil
}

// elsewhere sends the present command again, alone, to where the server's answer to it says, and leaves the further ones of the
// window to windows to come: by then the client knows the way. All of them only read.
func (r *Replies) elsewhere() error {
	cmds := r.s.copy.build(r.client)
	left := slices.Clone(cmds[len(cmds)-r.due-1:])
	r.rest, r.due = append(left[1:], r.rest...), 0
	r.abandon() // further answers that say the same may be on it
	var one Reader
	if err := one.open(r.ctx, r.client, left[0], r.cfg); err != nil {
		return err
	}
	r.s = one.s
	return nil
}

// step makes the stream stand on the next reply, or sets r.err to io.EOF.
func (r *Replies) step() error {
	if r.fresh {
		r.fresh = false
		return nil
	}
	if r.s != nil {
		if err := r.s.rd.Finish(); err != nil {
			return r.s.wrap(err)
		}
		if r.due > 0 {
			r.s.rd.Begin()
			if _, err := r.s.rd.Next(); err != nil {
				return r.s.wrap(err)
			}
			return nil
		}
		s := r.s
		r.s = nil
		if err := s.close(); err != nil {
			return err
		}
	}
	if len(r.rest) == 0 {
		r.err = io.EOF
		return nil
	}
	n := window(r.rest)
	r.send(r.rest[:n])
	r.rest = r.rest[n:]
	r.fresh = false
	return nil
}

// send sends a window of commands and steps to the first reply.
func (r *Replies) send(cmds []rueidis.Completed) {
	n := len(cmds)
	s, err := open(r.ctx, r.client, cmds, r.cfg)
	if err != nil {
		r.err = err
		return
	}
	r.s, r.due, r.fresh = s, n, true
}

// All returns the replies as Next does: a command's own error or null comes with a nil Reader, and the iteration goes on. Any
// other error is the last. It closes the Replies when it ends, also by break.
func (r *Replies) All() iter.Seq2[*Reader, error] {
	return func(yield func(*Reader, error) bool) {
		defer r.Close()
		for {
			reader, err := r.Next()
			if err == io.EOF || !yield(reader, err) || err != nil && !fromServer(err) {
				return
			}
		}
	}
}

// Close ends the reading. Replies that were not read are read if all of them are within WithDrain; else the connection is
// closed. Commands that were sent are executed all the same. It may be repeated. Its error is that of Reader.Close.
func (r *Replies) Close() error {
	r.reader.s = nil
	if r.err == nil {
		r.err = errClosed
	}
	s := r.s
	if s == nil {
		return nil
	}
	r.s = nil
	if r.fresh {
		r.due--
	}
	limit := s.rd.Offset() + s.cfg.drain
	for ; r.due > 0; r.due-- {
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

// abandon lets the stream go without another look at it.
func (r *Replies) abandon() {
	if r.s != nil {
		r.s.abandon()
		r.s = nil
	}
}

// window returns how many of cmds go out together.
func window(cmds []rueidis.Completed) int {
	size := 0
	together, asking := false, false // the next command belongs to the one before
	for i := range cmds {
		if cmds[i].IsEmpty() {
			return len(cmds) // refused before anything is sent
		}
		words := cmds[i].Commands()
		size += commandBytes(words)
		if i > 0 && !together && !asking && (size > windowBytes || i >= windowCommands) {
			return i
		}
		name := words[0]
		asking = strings.EqualFold(name, "ASKING")
		switch {
		case strings.EqualFold(name, "MULTI"), strings.EqualFold(name, "WATCH"):
			together = true
		case strings.EqualFold(name, "EXEC"), strings.EqualFold(name, "DISCARD"), strings.EqualFold(name, "UNWATCH"):
			together = false
		}
	}
	return len(cmds)
}

// commandBytes is about what a command has on the wire.
func commandBytes(words []string) int {
	const header = 8
	n := header
	for _, w := range words {
		n += len(w) + header
	}
	return n
}
