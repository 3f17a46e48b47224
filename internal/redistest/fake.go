package redistest

import (
	"errors"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Handler answers one command of a [Fake]. It is called for the commands of one connection one after the other, in the order in
// which they came, and for several connections at the same time. cmd holds the name and the arguments as they were sent. A handler that
// writes nothing leaves the command without a reply. It may use tb.Error, but not tb.Fatal.
type Handler func(c *FakeConn, cmd []string)

// Fake is a RESP server on 127.0.0.1 that answers from a script. Its methods may be called at any time from any goroutine.
type Fake struct {
	tb        testing.TB
	handle    Handler
	resp2     bool
	intercept []string // upper case
	all       bool     // intercept everything

	ln   net.Listener
	done chan struct{}
	wg   sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	accepted int
	conns    map[*FakeConn]struct{}
	scripted [][]string
	received [][]string
}

// FakeOption changes how a [Fake] answers.
type FakeOption func(*Fake)

// RESP2Only makes HELLO an unknown command, as it is for servers before Redis 6. The default knows HELLO 2 and HELLO 3.
func RESP2Only() FakeOption {
	return func(f *Fake) { f.resp2 = true }
}

// Intercept gives the handler the commands of these names (PING, HELLO, CLIENT ...) although the fake has built-in answers for them; with no
// names, all commands. A handler answers with [FakeConn.BuiltIn] what it does not care about.
func Intercept(names ...string) FakeOption {
	return func(f *Fake) {
		f.all = f.all || len(names) == 0
		for _, name := range names {
			f.intercept = append(f.intercept, strings.ToUpper(name))
		}
	}
}

// NewFake starts a scripted server, which is closed when the test ends. What a rueidis client needs to connect is built in: HELLO, AUTH, SELECT, PING,
// CLIENT, READONLY, INFO, ROLE and QUIT. Every other command goes to handle. A nil handle answers them with an "unknown command" error.
func NewFake(tb testing.TB, handle Handler, opts ...FakeOption) *Fake {
	tb.Helper()
	if handle == nil {
		handle = func(c *FakeConn, cmd []string) { c.Write("-ERR unknown command '" + cmd[0] + "'\r\n") }
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatalf("redistest: fake server: %v", err)
	}
	f := &Fake{tb: tb, handle: handle, ln: ln, done: make(chan struct{}), conns: map[*FakeConn]struct{}{}}
	for _, opt := range opts {
		opt(f)
	}
	f.wg.Add(1)
	go f.accept()
	tb.Cleanup(f.Close)
	return f
}

// Addr returns the address to dial, as host:port.
func (f *Fake) Addr() string { return f.ln.Addr().String() }

// Conns returns the number of connections accepted so far.
func (f *Fake) Conns() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.accepted
}

// Live returns the number of connections that are open now.
func (f *Fake) Live() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.conns)
}

// Commands returns the commands that went to the handler so far, of all connections, in the order of their arrival.
func (f *Fake) Commands() [][]string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.scripted)
}

// AllCommands returns all commands received so far, those with built-in answers included.
func (f *Fake) AllCommands() [][]string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.received)
}

// CutAll closes the connections that are open now. New ones are accepted.
func (f *Fake) CutAll() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for c := range f.conns {
		c.Cut()
	}
}

// Close stops the server, wakes handlers that pause or block, and waits for them. It may be repeated; the end of the test calls it too. A handler must not call it.
func (f *Fake) Close() {
	f.mu.Lock()
	if !f.closed {
		f.closed = true
		close(f.done)
		_ = f.ln.Close()
		for c := range f.conns {
			c.Cut()
		}
	}
	f.mu.Unlock()
	f.wg.Wait()
}

func (f *Fake) accept() {
	defer f.wg.Done()
	for {
		nc, err := f.ln.Accept()
		if err != nil {
			return // closed
		}
		f.mu.Lock()
		if f.closed {
			f.mu.Unlock()
			_ = nc.Close()
			return
		}
		f.accepted++
		c := &FakeConn{ID: f.accepted, fake: f, conn: nc.(*net.TCPConn), gone: make(chan struct{})}
		f.conns[c] = struct{}{}
		f.wg.Add(1)
		f.mu.Unlock()
		go f.serve(c)
	}
}

func (f *Fake) serve(c *FakeConn) {
	defer f.wg.Done()
	defer func() {
		c.Cut()
		f.mu.Lock()
		delete(f.conns, c)
		f.mu.Unlock()
	}()
	if err := c.loop(); err != nil {
		var malformed *malformedError
		if errors.As(err, &malformed) {
			f.tb.Errorf("%v (connection %d)", malformed, c.ID)
		}
	}
}

// scriptedFor reports whether the handler answers the command, and records it.
func (f *Fake) scriptedFor(cmd []string) bool {
	name := strings.ToUpper(cmd[0])
	scripted := f.all || !isBuiltIn(name) || slices.Contains(f.intercept, name)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.received = append(f.received, cmd)
	if scripted {
		f.scripted = append(f.scripted, cmd)
	}
	return scripted
}
