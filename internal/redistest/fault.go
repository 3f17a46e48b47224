package redistest

import "time"

// AtOnce is the byte count of a [Fault] that means before the first byte. (Zero means never.)
const AtOnce int64 = -1

// After returns n as the byte count of a [Fault]: n itself, and [AtOnce] for zero. It is for tables that run through all n from 0.
func After(n int) int64 {
	if n <= 0 {
		return AtOnce
	}
	return int64(n)
}

// Fault is what a [Proxy] does to the bytes that pass. The zero value does nothing. Fields may be combined.
//
// Byte counts are those of each connection: for a connection that is there when the fault is set they begin with [Proxy.Set], for a later one with its first
// byte (a reply to HELLO included). They are exact: CutAfter 10 forwards ten bytes and not the eleventh.
type Fault struct {
	SliceBytes   int           // at most so many bytes in one write to the client; 1 is a packet for every byte
	Latency      time.Duration // waits so long before each chunk read from the server goes on
	Bandwidth    int64         // bytes a second to the client
	StallAfter   int64         // after so many bytes to the client, forwards no more until Release, Set or Clear
	CutAfter     int64         // after so many bytes to the client, closes the connection on both sides
	CutUpAfter   int64         // after so many bytes to the server, closes the connection on both sides
	ResetPeer    bool          // closes with a TCP reset where it would close with FIN
	Once         bool          // is cleared by the first cut, so that the next connection works
	SocketBuffer int           // SO_SNDBUF and SO_RCVBUF of both sockets, and the proxy's own buffer; new connections only
}

// faultState is a fault that is set. It is never changed; Set makes a new one.
type faultState struct {
	Fault
	replaced chan struct{} // closed when another fault takes its place
	released chan struct{} // closed by Release
}

func newFaultState(f Fault) *faultState {
	return &faultState{Fault: f, replaced: make(chan struct{}), released: make(chan struct{})}
}

func (s *faultState) isReleased() bool {
	select {
	case <-s.released:
		return true
	default:
		return false
	}
}

// left returns how many bytes may pass before a limit is reached of which so many have passed: -1 without a limit.
func left(limit, passed int64) int64 {
	switch {
	case limit == 0:
		return -1
	case limit < 0:
		return 0
	default:
		return max(limit-passed, 0)
	}
}
