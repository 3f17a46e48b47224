package redistest_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
)

func dial(t *testing.T, addr string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	require.NoError(t, conn.SetDeadline(time.Now().Add(10*time.Second)))
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func send(t *testing.T, conn net.Conn, raw string) {
	t.Helper()
	_, err := io.WriteString(conn, raw)
	require.NoError(t, err)
}

func command(args ...string) string { return redistest.Array(redistest.Bulks(args...)...) }

func TestFakeServesRueidis(t *testing.T) {
	for _, row := range []struct {
		name   string
		opts   []redistest.FakeOption
		adjust func(*rueidis.ClientOption)
	}{
		{"RESP3", nil, func(*rueidis.ClientOption) {}},
		{"RESP3 without cache", nil, func(o *rueidis.ClientOption) { o.DisableCache = true }},
		{"RESP2 asked for", nil, func(o *rueidis.ClientOption) { o.AlwaysRESP2, o.DisableCache = true, true }},
		{"RESP2 only", []redistest.FakeOption{redistest.RESP2Only()}, func(o *rueidis.ClientOption) { o.DisableCache = true }},
		{"with user", nil, func(o *rueidis.ClientOption) { o.Username, o.Password, o.ClientName, o.SelectDB = "u", "p", "n", 1 }},
	} {
		t.Run(row.name, func(t *testing.T) {
			redistest.NoLeak(t)
			fake := redistest.NewFake(t, func(c *redistest.FakeConn, cmd []string) {
				if cmd[0] == "GET" {
					c.Write(redistest.Bulk("value of " + cmd[1]))
					return
				}
				c.Write("-ERR unknown command\r\n")
			}, row.opts...)
			opt := rueidis.ClientOption{InitAddress: []string{fake.Addr()}, ForceSingleClient: true}
			row.adjust(&opt)
			client, err := rueidis.NewClient(opt)
			require.NoError(t, err)
			defer client.Close()
			got, err := client.Do(context.Background(), client.B().Get().Key("k").Build()).ToString()
			require.NoError(t, err)
			require.Equal(t, "value of k", got)
			pong, err := client.Do(context.Background(), client.B().Arbitrary("PING").Args("me").Build()).ToString()
			require.NoError(t, err)
			require.Equal(t, "me", pong)
			require.Contains(t, fake.Commands(), []string{"GET", "k"})
			require.NotContains(t, fake.Commands(), []string{"PING", "me"})
			require.Contains(t, fake.AllCommands(), []string{"PING", "me"})
		})
	}
}

func TestFakeAnswersPipelineInOrder(t *testing.T) {
	redistest.NoLeak(t)
	fake := redistest.NewFake(t, func(c *redistest.FakeConn, cmd []string) {
		c.WriteSlice(redistest.Set(redistest.Bulks(cmd...)...), 1, 0)
	})
	conn := dial(t, fake.Addr())
	send(t, conn, command("PING", "a")+command("SMEMBERS", "k")+command("PING"))
	want := "$1\r\na\r\n~2\r\n$8\r\nSMEMBERS\r\n$1\r\nk\r\n+PONG\r\n"
	got := make([]byte, len(want))
	_, err := io.ReadFull(conn, got)
	require.NoError(t, err)
	require.Equal(t, want, string(got))
	require.Equal(t, [][]string{{"SMEMBERS", "k"}}, fake.Commands())
	require.Len(t, fake.AllCommands(), 3)
	require.Equal(t, 1, fake.Conns())
	require.Equal(t, 1, fake.Live())
}

func TestFakeInterceptsBuiltIns(t *testing.T) {
	for _, row := range []struct {
		name string
		opt  redistest.FakeOption
	}{{"by name", redistest.Intercept("ping")}, {"all", redistest.Intercept()}} {
		t.Run(row.name, func(t *testing.T) {
			fake := redistest.NewFake(t, func(c *redistest.FakeConn, cmd []string) {
				if len(cmd) == 1 {
					c.BuiltIn(cmd)
					return
				}
				c.Write("-ERR mine\r\n")
			}, row.opt)
			conn := dial(t, fake.Addr())
			send(t, conn, command("PING", "a")+command("PING"))
			r := bufio.NewReader(conn)
			for _, want := range []string{"-ERR mine\r\n", "+PONG\r\n"} {
				line, err := r.ReadString('\n')
				require.NoError(t, err)
				require.Equal(t, want, line)
			}
			require.Len(t, fake.Commands(), 2)
		})
	}
}

func TestFakeCutsAfterWhatWasWritten(t *testing.T) {
	redistest.NoLeak(t)
	fake := redistest.NewFake(t, func(c *redistest.FakeConn, _ []string) {
		c.Write("$10\r\nabc")
		c.Cut()
		c.Write("never")
	})
	conn := dial(t, fake.Addr())
	send(t, conn, command("GET", "k")+command("GET", "unread"))
	got, err := io.ReadAll(conn)
	require.NoError(t, err)
	require.Equal(t, "$10\r\nabc", string(got))
	require.Equal(t, [][]string{{"GET", "k"}}, fake.Commands())
	require.Eventually(t, func() bool { return fake.Live() == 0 }, 5*time.Second, time.Millisecond)
}

func TestFakeResets(t *testing.T) {
	fake := redistest.NewFake(t, func(c *redistest.FakeConn, _ []string) { c.Reset() })
	conn := dial(t, fake.Addr())
	send(t, conn, command("GET", "k"))
	_, err := io.ReadAll(conn)
	require.True(t, errors.Is(err, syscall.ECONNRESET), "%v", err)
}

func TestFakeCloseWakesHandlers(t *testing.T) {
	for _, row := range []struct {
		name   string
		handle redistest.Handler
	}{
		{"blocked", func(c *redistest.FakeConn, _ []string) { c.Block(nil) }},
		{"paused", func(c *redistest.FakeConn, _ []string) { c.Pause(time.Hour) }},
		{"slicing", func(c *redistest.FakeConn, _ []string) { c.WriteSlice("abc", 1, time.Hour) }},
		{"client does not read", func(c *redistest.FakeConn, _ []string) { c.Write(string(make([]byte, 64<<20))) }},
	} {
		t.Run(row.name, func(t *testing.T) {
			redistest.NoLeak(t)
			fake := redistest.NewFake(t, row.handle)
			send(t, dial(t, fake.Addr()), command("GET", "k"))
			require.Eventually(t, func() bool { return len(fake.Commands()) == 1 }, 5*time.Second, time.Millisecond)
			fake.Close()
			require.Zero(t, fake.Live())
		})
	}
}

func TestFakeBlockUntil(t *testing.T) {
	until := make(chan struct{})
	fake := redistest.NewFake(t, func(c *redistest.FakeConn, _ []string) {
		if c.Block(until) {
			c.Write("+DONE\r\n")
		}
	})
	conn := dial(t, fake.Addr())
	send(t, conn, command("GET", "k"))
	close(until)
	line, err := bufio.NewReader(conn).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "+DONE\r\n", line)
}
