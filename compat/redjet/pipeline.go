package redjet

import (
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/redis/rueidis"

	"github.com/rueidisx/rueidisx/rueidisstream"
)

// Pipeline is the replies to one command or more, in the order of the commands. Each method that reads takes the next one:
// the next reply or, within an array, the next element. A Pipeline is not for concurrent use, but for Close, which may end a wait of
// NextSubMessage.
type Pipeline struct {
	// CloseOnRead makes the methods that read a reply close the Pipeline. It is true if the Pipeline is from Command, false if it is from
	// Client.Pipeline. It does not count within an array, for ArrayLength and Next, nor after SUBSCRIBE.
	CloseOnRead bool

	closed  bool        // work is nil
	closing atomic.Bool // Close was called: a subscription that begins ends at once
	mu      sync.Mutex
	client  *Client
	ctx     context.Context
	err     error // final: nothing more can be read
	sub     atomic.Pointer[subscription]
	*work
}

// work is what a Pipeline needs until it is closed. It is recycled.
type work struct {
	// The commands, from the first whose reply has not begun, next, on: 0 <= next <= sent <= len(cmds) == len(infos).
	cmds  []rueidis.Completed // zero once sent, and for jobs
	infos []info
	next  int
	sent  int
	state connState

	// What was sent: either one command, or several.
	rd      *rueidisstream.Reader  // of the reply that has begun
	rs      *rueidisstream.Replies // nil for one command
	own     error                  // for one command, its own error or null in place of rd
	windows bool                   // rs may have commands that it has not sent yet

	// Where the reading stands: stack[i] elements are left in the array at depth i, which is never 0; levels are of the same length.
	stack  []int
	levels []level
	ahead  bool // rd stands on an element that was not taken yet: header
	header rueidisstream.Header

	out sink
}

var works = sync.Pool{New: func() any { return new(work) }}

var _ io.WriterTo = (*Pipeline)(nil)

// info is what is known of a command for the time of its reply.
type info struct {
	shape shape
	job   job // in place of a command to send
	exec  []shape
}

// job is something else than to send a command.
type job interface {
	start(p *Pipeline) error
}

func newPipeline(ctx context.Context, c *Client) *Pipeline {
	return &Pipeline{client: c, ctx: ctx, work: works.Get().(*work)}
}

// Error returns the text of the error that made the Pipeline useless: of the connection, the context or an argument. It is "" if there
// is none; errors that the server replied to single commands do not count.
func (p *Pipeline) Error() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		return ""
	}
	return p.err.Error()
}

// ArrayStack returns how many elements are left to read in each of the arrays that reading is within, the outermost first. It is
// empty outside of arrays. It must not be modified, and is valid until the next call.
func (p *Pipeline) ArrayStack() []int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	return p.stack
}

// Next tells whether there is more to read: a reply, an element of an array or, after SUBSCRIBE, a message that may come. It
// reads nothing, and is false on a nil Pipeline.
func (p *Pipeline) Next() bool {
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.hasMore()
}

// HasMore is Next under another name.
func (p *Pipeline) HasMore() bool { return p.Next() }

func (p *Pipeline) hasMore() bool {
	if p.err != nil || p.closed {
		return false
	}
	return p.next < len(p.infos) || len(p.stack) > 0 || p.sub.Load() != nil
}

// Close sends what has not been sent, reads what has not been read, gives the connection back, and returns the first error among
// that, wrapped; all commands are executed whatever the replies of others. After SUBSCRIBE it ends the subscription, and a wait for
// a message on another goroutine with it. It may be repeated, and is safe on a nil Pipeline.
//
// If all has been sent and more than 256 KiB of replies are unread, the connection is closed in place of reading them.
func (p *Pipeline) Close() error {
	if p == nil {
		return nil
	}
	p.closing.Store(true)
	if s := p.sub.Load(); s != nil {
		s.close()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.close()
}

func (p *Pipeline) close() error {
	if p.closed {
		return nil
	}
	var err error
	if s := p.sub.Load(); s != nil {
		s.close()
	} else {
		err = p.drain()
	}
	_ = p.release() // what it says of a reply is nothing to one that was not read
	w := p.work
	w.forget()
	*w = work{cmds: w.cmds, infos: w.infos, stack: w.stack, levels: w.levels}
	p.closed, p.work = true, nil
	works.Put(w)
	if err != nil {
		return fmt.Errorf("drain: %w", err)
	}
	return nil
}

// closeAfter is for the end of a method that has read.
func (p *Pipeline) closeAfter() {
	if p.CloseOnRead && !p.closed && len(p.stack) == 0 && p.sub.Load() == nil {
		_ = p.close()
	}
}

// forget lets go of the commands.
func (w *work) forget() {
	clear(w.cmds)
	clear(w.infos)
	clear(w.levels)
	w.cmds, w.infos, w.next, w.sent = w.cmds[:0], w.infos[:0], 0, 0
	w.stack, w.levels, w.ahead = w.stack[:0], w.levels[:0], false
}

// release gives the connection back. An error says that the replies are in doubt.
func (w *work) release() error {
	rd, rs := w.rd, w.rs
	w.rd, w.rs, w.own, w.ahead = nil, nil, nil, false
	if rs != nil {
		return rs.Close()
	}
	return rd.Close()
}

// lose makes err final.
func (p *Pipeline) lose(err error) error {
	p.err = err
	_ = p.release() // err is the better one
	return err
}
