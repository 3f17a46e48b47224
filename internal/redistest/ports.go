package redistest

import (
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"testing"
)

// Ports are taken from below the range from which kernels take the local ports of outgoing connections. A cluster's bus
// uses the port 10000 higher, so that must be below it, too.
const (
	firstPort = 11000
	lastPort  = 21999
	busOffset = 10000
)

// ports remembers what this binary gave out, so that two topologies of parallel tests do not meet.
type ports struct {
	mu    sync.Mutex
	given map[int]bool
}

var givenPorts = ports{given: map[int]bool{}}

// take returns n ports that are free at the moment, and whose bus ports are. Another process may be faster to use them: who starts servers tries again with others.
func (p *ports) take(tb testing.TB, n int) []int {
	tb.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []int
	for range 10000 {
		if len(out) == n {
			return out
		}
		port := firstPort + rand.IntN(lastPort-firstPort+1)
		if !p.given[port] && isFree(port) && isFree(port+busOffset) {
			p.given[port] = true
			out = append(out, port)
		}
	}
	tb.Fatalf("redistest: found no %d free ports between %d and %d", n, firstPort, lastPort)
	return nil
}

func (p *ports) giveBack(ports []int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, port := range ports {
		delete(p.given, port)
	}
}

func isFree(port int) bool {
	ln, err := net.Listen("tcp", ":"+strconv.Itoa(port))
	if err != nil {
		return false
	}
	_ = ln.Close()
	return true
}

func local(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
