package redistest

import (
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Proxy is a TCP proxy on 127.0.0.1 that forwards to one server and does to the bytes what the present [Fault] says. Its
// methods may be called at any time from any goroutine.
type Proxy struct {
	target string
	addr   string
	wg     sync.WaitGroup

	received atomic.Int64
	sent     atomic.Int64

	mu     sync.Mutex
	closed bool
	ln     net.Listener // nil while down
	fault  *faultState
	conns  map[*proxyConn]struct{}
}

// NewProxy starts a proxy to the server at target (host:port) that does no harm yet. It is closed when the test ends.
func NewProxy(tb testing.TB, target string) *Proxy {
	tb.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatalf("redistest: proxy: %v", err)
	}
	p := &Proxy{
		target: target, addr: ln.Addr().String(), ln: ln,
		fault: newFaultState(Fault{}), conns: map[*proxyConn]struct{}{},
	}
	p.wg.Add(1)
	go p.accept(ln)
	tb.Cleanup(p.Close)
	return p
}

// Addr returns the address to dial, as host:port.
func (p *Proxy) Addr() string { return p.addr }

// Set puts f in the place of the present fault, for the connections that are there and for new ones. Its byte counts begin now. What a stall holds back goes on under f.
func (p *Proxy) Set(f Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.set(f)
}

// Clear removes the fault, like Set with the zero Fault.
func (p *Proxy) Clear() { p.Set(Fault{}) }

// Release lets a stall go on, on all connections, and keeps the rest of the fault.
func (p *Proxy) Release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.fault.isReleased() {
		close(p.fault.released)
	}
}

// CutAll closes the present connections on both sides, with a reset if the fault says ResetPeer. New ones are accepted.
func (p *Proxy) CutAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		c.cut(p.fault.ResetPeer)
	}
}

// Down stops listening: new connections are refused. The present ones stay; [Proxy.CutAll] closes them.
func (p *Proxy) Down() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ln != nil {
		_ = p.ln.Close()
		p.ln = nil
	}
}

// Up listens again at the same address after [Proxy.Down].
func (p *Proxy) Up(tb testing.TB) {
	tb.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ln != nil || p.closed {
		return
	}
	var err error
	for range 100 { // the port may serve for a moment as the local port of somebody's connection
		if p.ln, err = net.Listen("tcp", p.addr); err == nil {
			p.wg.Add(1)
			go p.accept(p.ln)
			return
		}
		p.ln = nil
		time.Sleep(50 * time.Millisecond)
	}
	tb.Fatalf("redistest: proxy: %v", err)
}

// Received returns the bytes forwarded to clients so far.
func (p *Proxy) Received() int64 { return p.received.Load() }

// Sent returns the bytes forwarded to the server so far.
func (p *Proxy) Sent() int64 { return p.sent.Load() }

// Conns returns the number of connections that are open now.
func (p *Proxy) Conns() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.conns)
}

// Close closes the proxy and its connections and waits for its goroutines. It may be repeated; the end of the test calls it too.
func (p *Proxy) Close() {
	p.mu.Lock()
	if !p.closed {
		p.closed = true
		if p.ln != nil {
			_ = p.ln.Close()
		}
		for c := range p.conns {
			c.cut(false)
		}
	}
	for c := range p.conns {
		_ = c.client.Close() // no lingering
	}
	p.mu.Unlock()
	p.wg.Wait()
}

func (p *Proxy) set(f Fault) {
	close(p.fault.replaced)
	p.fault = newFaultState(f)
}

func (p *Proxy) present() *faultState {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fault
}

// spent clears s after a cut if it was meant to happen once.
func (p *Proxy) spent(s *faultState) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.Once && p.fault == s {
		p.set(Fault{})
	}
}

func (p *Proxy) accept(ln net.Listener) {
	defer p.wg.Done()
	for {
		client, err := ln.Accept()
		if err != nil {
			return // closed
		}
		p.wg.Add(1)
		go p.connect(client.(*net.TCPConn))
	}
}

func (p *Proxy) connect(client *net.TCPConn) {
	defer p.wg.Done()
	server, err := net.DialTimeout("tcp", p.target, 5*time.Second)
	if err != nil {
		_ = client.SetLinger(0) // as near to a refused connection as an accepted one can be
		_ = client.Close()
		return
	}
	p.mu.Lock()
	c := newProxyConn(p, client, server.(*net.TCPConn), p.fault.SocketBuffer)
	if p.closed {
		c.cut(false)
		_ = c.client.Close()
	}
	p.conns[c] = struct{}{}
	p.mu.Unlock()

	c.run()

	p.mu.Lock()
	delete(p.conns, c)
	p.mu.Unlock()
}
