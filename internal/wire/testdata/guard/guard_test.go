// This file is copied, with the package's own, into a module of its own for each release of rueidis that TestReleases names.
package wire

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"
)

func client(t *testing.T, resp2, line bool) rueidis.Client {
	opt := rueidis.ClientOption{
		InitAddress: []string{os.Getenv("RUEIDISX_GUARD_ADDR")}, ForceSingleClient: true,
		DisableCache: resp2, AlwaysRESP2: resp2, BlockingPoolSize: 1,
	}
	if line {
		opt.DialFn = func(addr string, d *net.Dialer, _ *tls.Config) (net.Conn, error) {
			conn, err := d.Dial("tcp", addr)
			if err != nil {
				return nil, err
			}
			return NewLine(conn, 10*time.Second), nil
		}
	}
	c, err := rueidis.NewClient(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// connection returns the id of the pool's one connection, which tells whether it was kept.
func connection(t *testing.T, c rueidis.Client) string {
	var b strings.Builder
	s := c.DoStream(context.Background(), c.B().Arbitrary("CLIENT", "ID").Build())
	if _, err := s.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func fill(t *testing.T, c rueidis.Client) {
	ctx := context.Background()
	for _, cmd := range [][]string{
		{"DEL", "guard:set", "guard:string"},
		{"EVAL", "for i = 1, 5000 do redis.call('SADD', KEYS[1], 'member:' .. i) end return 1", "1", "guard:set"},
		{"SET", "guard:string", strings.Repeat("$6\r\nFORGED\r\n", 100000)},
	} {
		if err := c.Do(ctx, c.B().Arbitrary(cmd...).Build()).Error(); err != nil {
			t.Fatal(err)
		}
	}
}

func smembers(c rueidis.Client) rueidis.Completed {
	return c.B().Arbitrary("SMEMBERS", "guard:set").Build()
}

func get(c rueidis.Client) rueidis.Completed {
	return c.B().Arbitrary("GET", "guard:string").Build()
}

// opened returns a bracket that stands at the first reply. A Line has answered the opening before the server.
func opened(ctx context.Context, t *testing.T, c rueidis.Client, cmds []rueidis.Completed, mode Mode, line bool) *Conn {
	t.Helper()
	w, err := Open(ctx, c, cmds, mode)
	if err != nil {
		t.Fatal(err)
	}
	if line != (w.Opening() != "") {
		t.Fatalf("the opening is due: %v", !line)
	}
	if line {
		reply := make([]byte, len(bulk(w.Opening())))
		if _, err := io.ReadFull(w.Reader(), reply); err != nil || string(reply) != bulk(w.Opening()) {
			t.Fatalf("%v: %q", err, reply)
		}
	}
	return w
}

func TestGuard(t *testing.T) {
	for _, resp2 := range []bool{false, true} {
		for _, mode := range []Mode{Primary, ReadOnly} {
			for _, line := range []bool{false, true} {
				t.Run(fmt.Sprintf("resp2=%v/mode=%d/line=%v", resp2, mode, line), func(t *testing.T) { guarded(t, resp2, mode, line) })
			}
		}
	}
}

func guarded(t *testing.T, resp2 bool, mode Mode, line bool) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c := client(t, resp2, line)
	fill(t, c)
	id := connection(t, c)
	t.Run("read and closed", func(t *testing.T) {
		for _, k := range []int{1, 2, 20} {
			cmds := make([]rueidis.Completed, k)
			for i := range cmds {
				cmds[i] = smembers(c)
			}
			w := opened(ctx, t, c, cmds, mode, line)
			for range k {
				for range 1 + 2*5000 {
					if w.Reader().Buffered() == 0 {
						if err := w.Wait()(); err != nil {
							t.Fatal(err)
						}
					}
					if _, err := w.Reader().ReadSlice('\n'); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if now := connection(t, c); now != id {
				t.Fatalf("connection %s became %s", id, now)
			}
		}
	})
	t.Run("given up", func(t *testing.T) {
		for read := range 30 {
			w := opened(ctx, t, c, []rueidis.Completed{get(c)}, mode, line)
			if _, err := w.Reader().Discard(read); err != nil {
				t.Fatal(err)
			}
			w.Abandon()
			now := connection(t, c)
			if now == id {
				t.Fatal("the connection was kept")
			}
			id = now
		}
	})
	t.Run("the connection below is found", func(t *testing.T) {
		short, cancel := context.WithCancel(ctx)
		defer cancel()
		w := opened(short, t, c, []rueidis.Completed{c.B().Arbitrary("BLPOP", "guard:none", "30").Blocking()}, Primary, line)
		_, _ = w.Reader().Discard(w.Reader().Buffered())
		if err := w.Wait()(); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(50*time.Millisecond, cancel)
		begin := time.Now()
		_, err := w.Reader().ReadByte()
		if err == nil || time.Since(begin) > 10*time.Second {
			t.Fatal(err, time.Since(begin))
		}
		w.Abandon()
		id = connection(t, c)
	})
	t.Run("copied", func(t *testing.T) {
		n, err := Copy(ctx, c, get(c), io.Discard, 0)
		if err != nil || n != 1200000 {
			t.Fatal(n, err)
		}
		if now := connection(t, c); now != id {
			t.Fatalf("connection %s became %s", id, now)
		}
		n, err = Copy(ctx, c, get(c), &failing{after: 2}, 0)
		if err == nil || n != 2 {
			t.Fatal(n, err)
		}
		if now := connection(t, c); now == id {
			t.Fatal("the connection was kept")
		}
	})
}

type failing struct{ after int }

func (f *failing) Write([]byte) (int, error) { return f.after, io.ErrClosedPipe }
