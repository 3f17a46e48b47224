package wire

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"sync/atomic"
	"time"
)

// ErrStalled is returned by the reads of a Line that was silent for too long.
var ErrStalled = fmt.Errorf("the connection was silent for longer than ClientOption.ConnWriteTimeout: %w", os.ErrDeadlineExceeded)

// A Line answers the opening of a bracket by itself, so that the bracket's owner has the connection at once and not only with
// the server's first byte. It knows it by a word that nobody can guess, or else what a caller pings could be taken for one.
var (
	opening = rand.Text()[:16]
	// alone is the word of openings that the server does not get to see. They come by twos.
	alone = opening + "."

	openingCommand, openingReply = pingCommand(opening), bulk(opening)
	aloneCommands, aloneReply    = pingCommand(alone) + pingCommand(alone), bulk(alone)
)

func pingCommand(word string) string { return "*2\r\n$4\r\nPING\r\n" + bulk(word) }

func bulk(word string) string { return "$" + strconv.Itoa(len(word)) + "\r\n" + word + "\r\n" }

// lines tells whether there ever was a Line in this process. It changes once, and only how Copy sends: without it, every Copy
// would send a PING, since a client does not tell what its connections are.
var lines atomic.Bool

// Line is a client's connection over which the context of a bracket rules from the moment that the bracket was sent, and that
// may not be silent for longer than a given time while a bracket waits for it.
type Line struct {
	net.Conn
	silence time.Duration // 0 means that there is no limit

	front    string // what Read gives before what the connection has
	answered bool   // the opening was answered here; what the server answers to it is still to come, unless it was not sent

	// While a bracket has the connection; only its owner reads then.
	ruled   bool
	patient bool // silence has no limit for now
	ctx     context.Context
	until   time.Time // of the context; the zero time is no deadline
	set     bool      // armed is the connection's deadline
	armed   time.Time
	watch   *watch // nil if the context cannot be cancelled
}

// NewLine makes a Line of conn. A silence of 0 or less has no limit.
func NewLine(conn net.Conn, silence time.Duration) *Line {
	if !lines.Load() {
		lines.Store(true)
	}
	return &Line{Conn: conn, silence: max(silence, 0)}
}

// Write sends p, and answers an opening that p begins with.
func (l *Line) Write(p []byte) (n int, err error) {
	switch {
	case begins(p, openingCommand):
		l.front, l.answered = openingReply, true
	case begins(p, aloneCommands):
		l.front, l.answered = aloneReply, true
		n = len(aloneCommands)
		if p = p[n:]; len(p) == 0 {
			return n, nil
		}
	}
	sent, err := l.Conn.Write(p)
	return n + sent, err
}

func begins(p []byte, with string) bool { return len(p) >= len(with) && string(p[:len(with)]) == with }

// Read reads what the connection has, within the limits of the bracket that has it.
func (l *Line) Read(p []byte) (int, error) {
	if l.front != "" {
		n := copy(p, l.front)
		l.front = l.front[n:]
		return n, nil
	}
	if !l.ruled {
		return l.Conn.Read(p)
	}
	if err := l.arm(); err != nil {
		return 0, err
	}
	n, err := l.Conn.Read(p)
	if err != nil && l.silent(err) {
		err = fmt.Errorf("%w (%v)", ErrStalled, l.silence)
	}
	return n, err
}

// arm gives the connection the deadline for the next read. To set it costs, so it is set an eighth later than is due, and left
// there as long as that is late enough.
func (l *Line) arm() error {
	if err := l.ctx.Err(); err != nil {
		return err
	}
	due, enough := l.until, l.armed.Equal(l.until)
	if l.silence > 0 && !l.patient {
		now := time.Now()
		if due = now.Add(l.silence + l.silence/8); !l.until.IsZero() && l.until.Before(due) {
			due = l.until
		}
		enough = !l.armed.After(due) && (l.armed.Sub(now) >= l.silence || l.armed.Equal(due))
	}
	if l.set && enough {
		return nil
	}
	l.set, l.armed = true, due
	if l.watch != nil {
		return l.watch.arm(l.ctx, due)
	}
	_ = l.Conn.SetReadDeadline(due) // it may be of a kind that knows none
	return nil
}

// silent tells whether err means that the connection was silent for too long, and not that the context is done.
func (l *Line) silent(err error) bool {
	var timeout net.Error
	if !errors.As(err, &timeout) || !timeout.Timeout() || l.ctx.Err() != nil {
		return false
	}
	return l.until.IsZero() || time.Now().Before(l.until)
}

// begin lets ctx rule.
func (l *Line) begin(ctx context.Context, w *watch) {
	l.ruled, l.ctx, l.watch, l.set = true, ctx, w, false
	l.until, _ = ctx.Deadline()
}

// end ends the rule of the context. What the connection has for a deadline is the client's business again.
func (l *Line) end() {
	l.ruled, l.patient, l.ctx, l.watch = false, false, nil, nil
}
