package wire

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/redis/rueidis"
)

var (
	// ErrUnsupported is returned for a client that does not hand its reader out.
	ErrUnsupported = errors.New("the client does not hand out its connection's reader")
	// ErrSlots is returned for commands whose keys are in several slots of a cluster.
	ErrSlots = errors.New("commands of several cluster slots")
	// ErrOutOfStep is returned by Close where the closing reply is not what stands on the connection.
	ErrOutOfStep = errors.New("connection is out of step with its replies")
)

// MaxCommands is how many commands one bracket takes at most.
const MaxCommands = 16 << 10

// Mode says how a bracket is sent. Its bits may be combined.
type Mode byte

const (
	// ReadOnly marks the bracket as read-only, so that rueidis may send it to a replica; without it, it goes to a primary.
	ReadOnly Mode = 1 << iota
	// OneNode says that the client is one of a cluster's Nodes, to which slots do not matter.
	OneNode
	// Primary is no bit.
	Primary Mode = 0
)

// Conn is a borrowed connection. Close or Abandon must be called, once.
type Conn struct {
	stream rueidis.MultiRedisResultStream
	br     *bufio.Reader
	guard  guard
	cmds   []rueidis.Completed
	sent   int          // commands of the caller in the bracket
	due    bool         // the server's reply to the opening PING is still to be read
	blocks bool         // one of the commands may keep the server silent for as long as it likes
	waiter func() error // c.wait, made once for all that the Conn will be used for
}

var conns = sync.Pool{New: func() any {
	c := new(Conn)
	c.waiter = c.wait
	return c
}}

// Open sends cmds, which are consumed, and returns when the connection has begun to answer, or at once if it is a Line. An error of
// the server to the opening PING is returned as it is.
func Open(ctx context.Context, client rueidis.Client, cmds []rueidis.Completed, mode Mode) (*Conn, error) {
	if len(cmds) == 0 || len(cmds) > MaxCommands {
		return nil, fmt.Errorf("%d commands in a bracket", len(cmds))
	}
	if mode&OneNode == 0 {
		if err := CheckSlots(cmds); err != nil {
			return nil, err
		}
	}
	c := conns.Get().(*Conn)
	c.sent, c.blocks = len(cmds), false
	for i := range cmds {
		c.blocks = c.blocks || cmds[i].IsBlock()
	}
	c.cmds = append(c.cmds[:0], ping(client, opening, mode))
	c.cmds = append(c.cmds, cmds...)
	c.cmds = append(c.cmds, ping(client, closing(len(cmds)), mode))
	c.stream = client.DoMultiStream(ctx, c.cmds...)
	clear(c.cmds) // rueidis recycles them
	if err := c.stream.Error(); err != nil {
		c.release()
		return nil, err
	}
	c.guard.ctx = ctx
	_, err := c.stream.WriteTo((*opener)(c))
	if err == nil && c.br == nil {
		err = ErrUnsupported
	}
	if err == nil {
		c.due, err = c.guard.takeLine(c.br)
	}
	if err != nil {
		c.Abandon()
		return nil, err
	}
	c.Between(true)
	return c, nil
}

// Opening returns the message of the server's reply to the opening PING if that stands before the first reply, to be read by
// the caller. It is "" if the reply was read.
func (c *Conn) Opening() string {
	if c.due {
		return opening
	}
	return ""
}

// Between says whether the caller waits for the first byte of a reply. If there is a blocking command in the bracket, the connection
// may then be silent.
func (c *Conn) Between(replies bool) {
	if c.blocks && c.guard.line != nil {
		c.guard.line.patient = replies
	}
}

// Reader returns the connection's reader. It stands at the first reply.
func (c *Conn) Reader() *bufio.Reader { return c.br }

// Wait returns what is to be called before each read that may block; the first time nothing may be buffered. That returns the
// context's error. It may be used until Close or Abandon.
func (c *Conn) Wait() func() error { return c.waiter }

func (c *Conn) wait() error { return c.guard.wait(c.br) }

// Close gives the connection back to the client's pool. The reader must stand at the closing reply, with what may stand aside
// before it read. If anything else is there the connection is closed, and the error is ErrOutOfStep or the one from reading.
func (c *Conn) Close() error {
	if err := c.proof(); err != nil {
		c.Abandon()
		return err
	}
	c.guard.release()
	for range c.sent + 1 {
		if _, err := c.stream.WriteTo(io.Discard); err != rueidis.Nil {
			// The nulls were there a moment ago: rueidis has its own mind, and the connection is not to be trusted.
			c.Abandon()
			return fmt.Errorf("%w: null of the closing reply: %w", ErrOutOfStep, err)
		}
	}
	c.release()
	return nil
}

// proof checks that the closing reply stands on the connection and steps over its header. It waits for no more bytes than
// are due, and not for those behind a wrong one.
func (c *Conn) proof() error {
	payload := closing(c.sent)
	var digits [20]byte
	size := strconv.AppendInt(digits[:0], int64(len(payload)), 10)
	at := 0
	for _, part := range [...]string{"$", string(size), "\r\n", payload, "\r\n"} {
		for part != "" {
			b, err := c.peek(at)
			if err != nil {
				return err
			}
			n := min(len(b)-at, len(part))
			if string(b[at:at+n]) != part[:n] {
				return fmt.Errorf("%w: %.40q where the closing reply is due", ErrOutOfStep, b)
			}
			at, part = at+n, part[n:]
		}
	}
	_, err := c.br.Discard(at - len(payload) - 2)
	return err
}

// peek returns what is buffered, at least one byte more than at.
func (c *Conn) peek(at int) ([]byte, error) {
	if c.br.Buffered() <= at {
		if err := c.guard.waitBehind(c.br); err != nil {
			return nil, err
		}
	}
	if _, err := c.br.Peek(at + 1); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return c.br.Peek(c.br.Buffered())
}

// Abandon closes the connection, whatever is unread on it.
func (c *Conn) Abandon() {
	c.guard.release()
	if c.br != nil {
		c.br.Reset(empty{})
	}
	for c.stream.HasNext() {
		_, _ = c.stream.WriteTo(breaker{})
	}
	c.release()
}

func (c *Conn) release() {
	*c = Conn{cmds: c.cmds[:0], waiter: c.waiter}
	conns.Put(c)
}

// opener is a Conn as the writer that learns the reader.
type opener Conn

func (c *opener) ReadFrom(src io.Reader) (n int64, err error) {
	if c.br, err = readWord(src, opening); err != nil {
		return 0, err
	}
	return int64(len(opening)), nil
}

// readWord reads the message of the reply to an opening, which src has to be, and returns the reader that has it.
func readWord(src io.Reader, want string) (*bufio.Reader, error) {
	lr, ok := src.(*io.LimitedReader)
	if !ok {
		return nil, ErrUnsupported
	}
	br, ok := lr.R.(*bufio.Reader)
	if !ok || lr.N != int64(len(want)) {
		return nil, ErrUnsupported
	}
	word, err := br.Peek(len(want))
	if err != nil {
		return nil, err
	}
	if string(word) != want {
		return nil, fmt.Errorf("%w: %.40q where the reply to the opening is due", ErrOutOfStep, word)
	}
	_, err = br.Discard(len(want))
	return br, err
}

// Write takes a reply to the opening PING that is no bulk string.
func (c *opener) Write([]byte) (int, error) { return 0, ErrUnsupported }

// breaker makes rueidis close the connection: it claims to have read more than there was.
type breaker struct{}

func (breaker) ReadFrom(src io.Reader) (int64, error) {
	lr, ok := src.(*io.LimitedReader)
	if !ok {
		return 0, errAbandoned
	}
	return lr.N + 3, errAbandoned // the string, its CRLF, and one more
}

func (breaker) Write([]byte) (int, error) { return 0, errAbandoned }

var errAbandoned = errors.New("connection was given up")

// empty is the source of a reader whose connection was given up.
type empty struct{}

func (empty) Read([]byte) (int, error) { return 0, errAbandoned }

func ping(client rueidis.Client, payload string, mode Mode) rueidis.Completed {
	b := client.B().Arbitrary("PING").Args(payload)
	if mode&ReadOnly != 0 {
		return b.ReadOnly()
	}
	return b.Build()
}

// closing is the payload of the closing PING behind n commands: n+1 nulls, but for the last CRLF.
func closing(n int) string { return nulls[:len(null)*(n+1)-2] }

const null = "_\r\n"

var nulls = strings.Repeat(null, MaxCommands+1)

// CheckSlots returns ErrSlots for commands whose keys are in several slots of a cluster, on which rueidis would panic.
func CheckSlots(cmds []rueidis.Completed) error {
	first := initSlot
	for i := range cmds {
		switch s := cmds[i].Slot(); {
		case s >= initSlot: // of no slot, or of a client that is no cluster's
		case first == initSlot:
			first = s
		case s != first:
			return fmt.Errorf("%w: %d and %d", ErrSlots, first, s)
		}
	}
	return nil
}

// initSlot is what rueidis marks a cluster's command with that has no key; smaller numbers are slots.
const initSlot = uint16(1 << 14)
