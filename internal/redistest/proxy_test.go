package redistest_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
)

// text is what the fake server behind the proxy answers to every GET.
const text = "+0123456789abcdefghijklmnopqrstuvwxyz\r\n"

func proxied(t *testing.T) (*redistest.Fake, *redistest.Proxy) {
	t.Helper()
	redistest.NoLeak(t)
	fake := redistest.NewFake(t, func(c *redistest.FakeConn, _ []string) { c.Write(text) })
	return fake, redistest.NewProxy(t, fake.Addr())
}

func get(t *testing.T, conn net.Conn) string {
	t.Helper()
	send(t, conn, command("GET", "k"))
	got := make([]byte, len(text))
	n, _ := io.ReadFull(conn, got)
	return string(got[:n])
}

func TestProxyForwards(t *testing.T) {
	fake, proxy := proxied(t)
	conn := dial(t, proxy.Addr())
	require.Equal(t, text, get(t, conn))
	require.Equal(t, int64(len(text)), proxy.Received())
	require.Equal(t, int64(len(command("GET", "k"))), proxy.Sent())
	require.Equal(t, 1, proxy.Conns())
	require.NoError(t, conn.Close())
	require.Eventually(t, func() bool { return proxy.Conns() == 0 && fake.Live() == 0 }, 5*time.Second, time.Millisecond)
}

func TestProxyCutsExactly(t *testing.T) {
	for n := range len(text) + 1 {
		for _, existing := range []bool{false, true} {
			t.Run(fmt.Sprintf("after %d existing=%t", n, existing), func(t *testing.T) {
				_, proxy := proxied(t)
				var conn net.Conn
				if existing {
					conn = dial(t, proxy.Addr())
					require.Equal(t, text, get(t, conn))
				}
				proxy.Set(redistest.Fault{CutAfter: redistest.After(n), Once: true})
				if !existing {
					conn = dial(t, proxy.Addr())
				}
				send(t, conn, command("GET", "k"))
				got, err := io.ReadAll(conn)
				require.NoError(t, err)
				require.Equal(t, text[:n], string(got))
				require.Equal(t, text, get(t, dial(t, proxy.Addr())), "the fault was for once")
			})
		}
	}
}

func TestProxyCutsUpstream(t *testing.T) {
	cmd := command("GET", "k")
	for _, row := range []struct {
		name  string
		after int64
		seen  int
	}{{"at once", redistest.AtOnce, 0}, {"within", 5, 0}, {"at the end", int64(len(cmd)), 1}} {
		t.Run(row.name, func(t *testing.T) {
			fake, proxy := proxied(t)
			proxy.Set(redistest.Fault{CutUpAfter: row.after})
			conn := dial(t, proxy.Addr())
			send(t, conn, cmd)
			_, err := io.ReadAll(conn)
			require.NoError(t, err)
			require.Equal(t, max(row.after, 0), proxy.Sent())
			require.Eventually(t, func() bool { return len(fake.Commands()) == row.seen }, 5*time.Second, time.Millisecond)
		})
	}
}

func TestProxyResets(t *testing.T) {
	_, proxy := proxied(t)
	proxy.Set(redistest.Fault{CutAfter: redistest.AtOnce, ResetPeer: true})
	conn := dial(t, proxy.Addr())
	send(t, conn, command("GET", "k"))
	_, err := io.ReadAll(conn)
	require.True(t, errors.Is(err, syscall.ECONNRESET), "%v", err)
}

func TestProxyStalls(t *testing.T) {
	for _, row := range []struct {
		name  string
		after int
		goOn  func(*redistest.Proxy)
	}{
		{"release", 10, (*redistest.Proxy).Release},
		{"release from the start", 0, (*redistest.Proxy).Release},
		{"clear", 10, (*redistest.Proxy).Clear},
		{"set", 10, func(p *redistest.Proxy) { p.Set(redistest.Fault{SliceBytes: 1}) }},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, proxy := proxied(t)
			proxy.Set(redistest.Fault{StallAfter: redistest.After(row.after)})
			conn := dial(t, proxy.Addr())
			send(t, conn, command("GET", "k"))
			head := make([]byte, row.after)
			_, err := io.ReadFull(conn, head)
			require.NoError(t, err)
			time.Sleep(20 * time.Millisecond)
			require.Equal(t, int64(row.after), proxy.Received())
			row.goOn(proxy)
			rest := make([]byte, len(text)-row.after)
			_, err = io.ReadFull(conn, rest)
			require.NoError(t, err)
			require.Equal(t, text, string(head)+string(rest))
		})
	}
}

func TestProxyStallEndsWithClient(t *testing.T) {
	fake, proxy := proxied(t)
	proxy.Set(redistest.Fault{StallAfter: 10})
	conn := dial(t, proxy.Addr())
	send(t, conn, command("GET", "k"))
	require.Eventually(t, func() bool { return proxy.Received() == 10 }, 5*time.Second, time.Millisecond)
	require.NoError(t, conn.Close())
	require.Eventually(t, func() bool { return proxy.Conns() == 0 && fake.Live() == 0 }, 5*time.Second, time.Millisecond)
}

func TestProxySlows(t *testing.T) {
	for _, row := range []struct {
		name  string
		fault redistest.Fault
		least time.Duration
	}{
		{"slices", redistest.Fault{SliceBytes: 1}, 0},
		{"latency", redistest.Fault{Latency: 30 * time.Millisecond}, 30 * time.Millisecond},
		{"bandwidth", redistest.Fault{Bandwidth: 1000}, 30 * time.Millisecond},
		{"small buffers", redistest.Fault{SocketBuffer: 4096}, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, proxy := proxied(t)
			proxy.Set(row.fault)
			conn := dial(t, proxy.Addr())
			start := time.Now()
			require.Equal(t, text, get(t, conn))
			require.GreaterOrEqual(t, time.Since(start), row.least)
		})
	}
}

func TestProxyDownAndUp(t *testing.T) {
	_, proxy := proxied(t)
	conn := dial(t, proxy.Addr())
	require.Equal(t, text, get(t, conn))
	proxy.Down()
	_, err := net.Dial("tcp", proxy.Addr())
	require.True(t, errors.Is(err, syscall.ECONNREFUSED), "%v", err)
	require.Equal(t, text, get(t, conn), "present connections stay")
	proxy.CutAll()
	require.Empty(t, get(t, conn))
	proxy.Up(t)
	require.Equal(t, text, get(t, dial(t, proxy.Addr())))
}
