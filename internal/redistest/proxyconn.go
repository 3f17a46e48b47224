package redistest

import (
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// How long a cut connection still reads what its client sends: closing with bytes unread would turn FIN into a reset.
const lingerTime = time.Second

// proxyConn is one connection through a Proxy: the client's and the server's.
type proxyConn struct {
	proxy          *Proxy
	client, server *net.TCPConn
	bufferSize     int
	once           sync.Once
	gone           chan struct{} // closed by cut
}

func newProxyConn(p *Proxy, client, server *net.TCPConn, socketBuffer int) *proxyConn {
	c := &proxyConn{proxy: p, client: client, server: server, bufferSize: 64 << 10, gone: make(chan struct{})}
	if socketBuffer > 0 {
		c.bufferSize = socketBuffer
		for _, conn := range []*net.TCPConn{client, server} {
			_ = conn.SetReadBuffer(socketBuffer)
			_ = conn.SetWriteBuffer(socketBuffer)
		}
	}
	return c
}

// run forwards in both directions until the connection is gone, and closes it.
func (c *proxyConn) run() {
	var down sync.WaitGroup
	down.Add(1)
	go func() {
		defer down.Done()
		c.down()
	}()
	c.up()
	down.Wait()
	_ = c.client.Close()
	_ = c.server.Close()
}

// cut closes both sides. The client's socket stays half open until up has read what is left of it.
func (c *proxyConn) cut(reset bool) {
	c.once.Do(func() {
		close(c.gone)
		if reset {
			_ = c.client.SetLinger(0)
			_ = c.server.SetLinger(0)
			_ = c.client.Close()
		} else {
			_ = c.client.CloseWrite()
			_ = c.client.SetDeadline(time.Now().Add(lingerTime))
		}
		_ = c.server.Close()
	})
}

// down forwards from the server to the client.
func (c *proxyConn) down() {
	var (
		buf    = make([]byte, c.bufferSize)
		fault  = c.proxy.present()
		passed int64 // bytes since fault was set
	)
	for {
		n, err := c.server.Read(buf)
		chunk := buf[:n]
		if n > 0 {
			c.wait(c.proxy.present().Latency, nil)
		}
		for len(chunk) > 0 && !c.isGone() {
			if now := c.proxy.present(); now != fault {
				fault, passed = now, 0
			}
			if left(fault.CutAfter, passed) == 0 {
				break
			}
			if left(fault.StallAfter, passed) == 0 && !fault.isReleased() {
				c.stall(fault)
				continue
			}
			piece := chunk[:fault.piece(len(chunk), passed)]
			start := time.Now()
			c.proxy.received.Add(int64(len(piece))) // first: who has read them may count on it
			if n, werr := c.client.Write(piece); werr != nil {
				c.proxy.received.Add(int64(n - len(piece)))
				c.cut(false)
				return
			}
			chunk = chunk[len(piece):]
			passed += int64(len(piece))
			if fault.Bandwidth > 0 {
				took := time.Duration(len(piece)) * time.Second / time.Duration(fault.Bandwidth)
				c.wait(took-time.Since(start), fault.replaced)
			}
			if left(fault.CutAfter, passed) == 0 {
				break
			}
		}
		switch {
		case c.isGone():
			return
		case n > 0 && left(fault.CutAfter, passed) == 0:
			c.proxy.spent(fault) // first: who sees the cut may count on it
			c.cut(fault.ResetPeer)
			return
		case err != nil:
			c.cut(!errors.Is(err, io.EOF))
			return
		}
	}
}

// up forwards from the client to the server. After a cut it reads the client to the end.
func (c *proxyConn) up() {
	var (
		buf    = make([]byte, c.bufferSize)
		fault  = c.proxy.present()
		passed int64
	)
	for {
		n, err := c.client.Read(buf)
		if n > 0 && !c.isGone() {
			if now := c.proxy.present(); now != fault {
				fault, passed = now, 0
			}
			rest := left(fault.CutUpAfter, passed)
			chunk := buf[:n]
			if rest >= 0 && rest < int64(n) {
				chunk = buf[:rest]
			}
			c.proxy.sent.Add(int64(len(chunk)))
			if n, werr := c.server.Write(chunk); werr != nil {
				c.proxy.sent.Add(int64(n - len(chunk)))
				c.cut(false)
			}
			passed += int64(len(chunk))
			if left(fault.CutUpAfter, passed) == 0 {
				c.proxy.spent(fault)
				c.cut(fault.ResetPeer)
			}
		}
		if err != nil {
			c.cut(false) // Redis clients do not close one half: what is on its way to them has no reader
			return
		}
	}
}

// piece returns how many of n bytes may go to the client in the next write, at least one.
func (s *faultState) piece(n int, passed int64) int {
	most := int64(n)
	if s.SliceBytes > 0 {
		most = min(most, int64(s.SliceBytes))
	}
	if s.Bandwidth > 0 {
		most = min(most, max(s.Bandwidth/100, 1)) // a hundred pieces a second
	}
	if rest := left(s.CutAfter, passed); rest > 0 {
		most = min(most, rest)
	}
	if rest := left(s.StallAfter, passed); rest > 0 {
		most = min(most, rest)
	}
	return int(most)
}

func (c *proxyConn) stall(fault *faultState) {
	select {
	case <-fault.released:
	case <-fault.replaced:
	case <-c.gone:
	}
}

func (c *proxyConn) wait(d time.Duration, until <-chan struct{}) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-until:
	case <-c.gone:
	}
}

func (c *proxyConn) isGone() bool {
	select {
	case <-c.gone:
		return true
	default:
		return false
	}
}
