package redistest

import (
	"bufio"
	"net"
	"sync"
	"time"
)

// FakeConn is one connection of a [Fake], as its handler sees it. Its methods may be called from any goroutine; what is
// written after the connection is gone is dropped.
type FakeConn struct {
	ID int // 1 for the first connection that the Fake accepted, 2 for the next

	fake  *Fake
	conn  *net.TCPConn
	proto int // of the last HELLO, 0 before; only its own goroutine uses it

	write sync.Mutex // keeps writes whole
	bytes []byte     // of the last one; in it a server that sends without end makes no garbage, which tests of memory would see
	once  sync.Once
	gone  chan struct{} // closed with the connection
}

// Write sends the bytes as they are, in one write. It returns when the kernel has them: with a client that does not read, that is when
// the connection is closed.
func (c *FakeConn) Write(raw string) {
	c.write.Lock()
	defer c.write.Unlock()
	c.bytes = append(c.bytes[:0], raw...)
	_, _ = c.conn.Write(c.bytes)
	if cap(c.bytes) > 64<<10 {
		c.bytes = nil
	}
}

// WriteSlice sends n bytes at a time, each in a packet of its own, with a pause of gap between them.
func (c *FakeConn) WriteSlice(raw string, n int, gap time.Duration) {
	for n = max(n, 1); len(raw) > n && !c.isGone(); raw = raw[n:] {
		c.Write(raw[:n])
		c.Pause(gap)
	}
	c.Write(raw)
}

// Pause waits for d, or until the connection is gone.
func (c *FakeConn) Pause(d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-c.gone:
	}
}

// Block waits until until is closed or yields, or until this side closes the connection ([FakeConn.Cut], [Fake.CutAll], [Fake.Close]). A nil channel
// blocks for good: the command never gets its reply. It reports whether the connection is still there. That the client went away is not noticed here.
func (c *FakeConn) Block(until <-chan struct{}) bool {
	select {
	case <-until:
		return !c.isGone()
	case <-c.gone:
		return false
	}
}

// Cut closes the connection at once. The client reads what was written before, then the end. Commands that wait are not handled any more.
func (c *FakeConn) Cut() {
	c.once.Do(func() {
		close(c.gone)
		// First the end alone: closing with commands unread is a reset, which would hide it.
		_ = c.conn.CloseWrite()
		_ = c.conn.Close()
	})
}

// Reset closes the connection with a TCP reset (RST): the client's next read or write fails with "connection reset by peer".
func (c *FakeConn) Reset() {
	c.once.Do(func() {
		close(c.gone)
		_ = c.conn.SetLinger(0)
		_ = c.conn.Close()
	})
}

// BuiltIn writes the built-in answer to the command, or an "unknown command" error if there is none. A handler calls it for commands that [Intercept] gave it. Only the handler may call it.
func (c *FakeConn) BuiltIn(cmd []string) {
	c.builtIn(cmd)
}

func (c *FakeConn) isGone() bool {
	select {
	case <-c.gone:
		return true
	default:
		return false
	}
}

func (c *FakeConn) loop() error {
	r := bufio.NewReader(c.conn)
	for {
		cmd, err := readCommand(r)
		switch {
		case c.isGone():
			return nil
		case err != nil:
			return err
		case len(cmd) == 0:
			continue
		case c.fake.scriptedFor(cmd):
			c.fake.handle(c, cmd)
		default:
			c.builtIn(cmd)
		}
		if c.isGone() {
			return nil
		}
	}
}
