package rueidisstream

import (
	"context"
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
// before were read. MULTI to EXEC and WATCH to EXEC are never divided, nor is what comes behind a SELECT and the like. After an
// early Close, windows that were not sent stay unsent.
//
// On a cluster each node gets its commands in a pipeline of its own, and their replies come in the order of the commands all the
// same. If all commands of a window only read, MOVED and ASK are followed, and nodes that are not ready
// waited for; else these answers come back as the command's own error.
// The commands are consumed.
func DoMulti(ctx context.Context, client rueidis.Client, cmds []rueidis.Completed, opts ...Option) *Replies {
	r := &Replies{ctx: ctx, client: client, cfg: newConfig(opts)}
	for i := range cmds {
		if err := refuse(&cmds[i]); err != nil {
			r.err = err
			return r
		}
	}
	r.several = wire.CheckSlots(cmds) != nil
	if r.several {
		r.cfg.patience = askTime
	}
	n := window(cmds)
	if n < len(cmds) {
		r.rest = append(r.rest, cmds[n:]...) // the caller may reuse its slice
	}
	if n == 0 {
		r.err = io.EOF
	} else if err := r.send(cmds[:n]); err != nil {
		r.end(err)
	}
	return r
}

// Replies is the replies to the commands of a DoMulti. It is not for concurrent use.
type Replies struct {
	ctx    context.Context
	client rueidis.Client
	cfg    config
	// several tells that the commands are of several slots. What happens to one node's is then no other's business.
	several bool
	rest    []rueidis.Completed // not sent yet
	lanes   []lane              // the connections of the present window, one for each node
	order   []int               // for each command of the window that has not been answered, its lane
	words   *copies             // the commands of a window for several nodes, if all of them only read; else lanes[0].s has them
	now     *lane               // the one whose reply is being read
	reader  Reader
	given   int // replies that Next has returned
	one     [1]lane
	err     error // final: io.EOF after the last reply
}

// Next finishes the present reply and returns a Reader of the next one, which is valid until the next call of Next or Close.
// It need not be closed. If a command's own reply is an error or a null, Next returns that, unwrapped, and the following Next
// goes on with the next command. So it does when only one of several nodes could not be reached, or was lost: each of its
// commands has that error. Any other error is final. After the last reply it returns io.EOF.
func (r *Replies) Next() (*Reader, error) {
	r.reader.s = nil
	if r.err != nil {
		return nil, r.err
	}
	err := r.step()
	if err == nil {
		r.given++
		r.reader = Reader{s: r.now.s, started: true, shared: true, reply: r.given}
		return &r.reader, nil
	}
	if !fromServer(err) && (!r.several || len(r.lanes) == 0) {
		r.end(err)
	}
	return nil, err
}

// step makes the next reply the present one.
func (r *Replies) step() error {
	if len(r.order) == 0 {
		if err := r.closeLanes(); err != nil {
			return err
		}
		if len(r.rest) == 0 {
			r.end(io.EOF)
			return io.EOF
		}
		n := window(r.rest)
		cmds := r.rest[:n]
		r.rest = r.rest[n:]
		if err := r.send(cmds); err != nil {
			return err
		}
	}
	r.now = &r.lanes[r.order[0]]
	err := r.now.step()
	if err != nil && (isRedirect(err) || isNotReady(err)) && r.copies().readOnly {
		err = r.elsewhere()
	} else {
		r.order = r.order[1:]
	}
	return err
}

// copies returns the commands of the window. They are there only if all of them only read.
func (r *Replies) copies() *copies {
	if len(r.lanes) == 1 && r.lanes[0].s != nil {
		return &r.lanes[0].s.copy
	}
	if r.words == nil {
		return new(copies)
	}
	return r.words
}

// elsewhere sends the next command again, alone, to where the server's answer to it says, and leaves the further ones of the
// window to windows to come: by then the client knows the way. All of them only read.
func (r *Replies) elsewhere() error {
	cmds := r.copies().build(r.client)
	left := slices.Clone(cmds[len(cmds)-len(r.order):])
	r.rest = append(left[1:], r.rest...)
	r.order = r.order[:0]
	r.abandonLanes() // further answers that say the same may be on them
	var one Reader
	r.lanes = append(r.lanes, lane{})
	r.now = &r.lanes[0]
	if err := one.open(r.ctx, r.client, left[0], r.cfg); err != nil {
		return err
	}
	r.now.s = one.s
	return nil
}

// All returns the replies as Next does: a command's own error or null comes with a nil Reader, and the iteration goes on. A
// final error is the last. It closes the Replies when it ends, also by break.
func (r *Replies) All() iter.Seq2[*Reader, error] {
	return func(yield func(*Reader, error) bool) {
		defer r.Close()
		for {
			reader, err := r.Next()
			if err == io.EOF || !yield(reader, err) || err != nil && r.err != nil {
				return
			}
		}
	}
}

// Close ends the reading. Replies that were not read are read if all of them are within WithDrain; else their connection is
// closed. Commands that were sent are executed all the same. It may be repeated. Its error is that of Reader.Close.
func (r *Replies) Close() error {
	r.reader.s = nil
	if r.err == nil {
		r.err = errClosed
	}
	return r.closeLanes()
}

// end makes err final.
func (r *Replies) end(err error) {
	r.abandonLanes()
	r.err = err
}

// window returns how many of cmds go out together.
func window(cmds []rueidis.Completed) int {
	size := 0
	together, asking := false, false // the next command belongs to the one before
	altered := false                 // all that follow do, since their connection is another one now
	for i := range cmds {
		words := cmds[i].Commands()
		size += commandBytes(words)
		if i > 0 && !together && !asking && !altered && (size > windowBytes || i >= windowCommands) {
			return i
		}
		name := words[0]
		asking = strings.EqualFold(name, "ASKING")
		switch {
		case strings.EqualFold(name, "MULTI"), strings.EqualFold(name, "WATCH"):
			together = true
		case strings.EqualFold(name, "EXEC"), strings.EqualFold(name, "DISCARD"), strings.EqualFold(name, "UNWATCH"):
			together = false
		default:
			altered = altered || wire.Alters(words)
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
