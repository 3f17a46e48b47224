package redjet_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/compat/redjet"
	"github.com/rueidisx/rueidisx/internal/redistest"
)

func TestCloseOnRead(t *testing.T) {
	redistest.NoLeak(t)
	c, ctx := server(t, false), within(t)
	require.NoError(t, c.Command(ctx, "RPUSH", "l", "a", "b").Close())
	for name, read := range map[string]func(p *redjet.Pipeline) error{
		"WriteTo": func(p *redjet.Pipeline) error { _, err := p.WriteTo(io.Discard); return err },
		"Bytes":   func(p *redjet.Pipeline) error { _, err := p.Bytes(); return err },
		"String":  func(p *redjet.Pipeline) error { _, err := p.String(); return err },
		"Int":     func(p *redjet.Pipeline) error { _, err := p.Int(); return err },
		"JSON":    func(p *redjet.Pipeline) error { return p.JSON(new(int)) },
	} {
		t.Run(name, func(t *testing.T) {
			p := c.Command(ctx, "ECHO", "5")
			require.True(t, p.CloseOnRead)
			require.NoError(t, read(p))
			require.EqualError(t, read(p), "result closed")
			p = c.Command(ctx, "ECHO", "5")
			p.CloseOnRead = false
			require.NoError(t, read(p))
			require.EqualError(t, read(p), "no more results")
			p = c.Pipeline(ctx, p, "ECHO", "6")
			require.NoError(t, read(p))
			require.NoError(t, p.Close())
			// Within an array it does not count, but for the last element.
			p = c.Command(ctx, "LRANGE", "l", 0, -1)
			_, err := p.ArrayLength()
			require.NoError(t, err)
			_, err = p.String()
			require.NoError(t, err)
			require.True(t, p.Next())
			_ = read(p)
			require.False(t, p.Next())
			require.EqualError(t, read(p), "result closed")
		})
	}
	hundred(t, c)
}

func TestCloseExecutes(t *testing.T) {
	redistest.NoLeak(t)
	c, ctx := server(t, false), within(t)
	require.NoError(t, c.Command(ctx, "SET", "a", 1).Close(), "sent though nobody reads")
	p := queue(ctx, c, "INCR a", "NOSUCH", "INCR a", "LPUSH a x", "INCR a")
	err := p.Close()
	require.ErrorContains(t, err, "drain: ERR unknown command", "the first error")
	require.True(t, redjet.IsUnknownCommand(err))
	require.NoError(t, p.Close())
	n, err := c.Command(ctx, "GET", "a").Int()
	require.NoError(t, err)
	require.Equal(t, 4, n)

	// More than one window.
	var cmds []string
	for range 5000 {
		cmds = append(cmds, "INCR b")
	}
	p = queue(ctx, c, cmds...)
	_, err = p.Int()
	require.NoError(t, err)
	require.NoError(t, p.Close())
	n, err = c.Command(ctx, "GET", "b").Int()
	require.NoError(t, err)
	require.Equal(t, 5000, n)
	hundred(t, c)
}

// TestCloseGivesBackOrDrops looks at which connections survive.
func TestCloseGivesBackOrDrops(t *testing.T) {
	for _, row := range []struct {
		name, reply string
		reads       int
		kept        bool
	}{
		{"small, unread", redistest.Bulk("x"), 0, true},
		{"small array, read in part", "*3\r\n:1\r\n:2\r\n:3\r\n", 2, true},
		{"string within the limit", redistest.Bulk(strings.Repeat("x", 200<<10)), 0, true},
		{"large string", redistest.Bulk(strings.Repeat("x", 8<<20)), 0, false},
		{"large array", "*500000\r\n" + strings.Repeat(":123\r\n", 500000), 1, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			redistest.NoLeak(t)
			c, f := faked(t, func(c *redistest.FakeConn, _ []string) { c.Write(row.reply) })
			ctx := within(t)
			for _, p := range []*redjet.Pipeline{c.Command(ctx, "X"), queue(ctx, c, "X", "ECHO x")} {
				before := f.Conns()
				p.CloseOnRead = false
				for range row.reads {
					_, err := p.String()
					require.NoError(t, err)
				}
				require.NoError(t, p.Close())
				hundred(t, c)
				if before > 1 || !row.kept {
					require.Equal(t, row.kept, f.Conns() == before, "%d connections, then %d", before, f.Conns())
				}
			}
		})
	}
}

func TestPoolOfOne(t *testing.T) {
	redistest.NoLeak(t)
	c, ctx := server(t, false), within(t)
	require.NoError(t, c.Command(ctx, "SET", "k", "v").Ok())
	for range 1000 { // all is read, nothing is closed: the connection is free all the same
		p := queue(ctx, c, "GET k", "GET k")
		require.Equal(t, "v[] v[]", elements(p))
		n, err := c.Command(ctx, "LRANGE", "missing", 0, -1).ArrayLength()
		require.NoError(t, err)
		require.Zero(t, n)
	}
	p := queue(ctx, c, "GET k", "GET k")
	_, err := p.String()
	require.NoError(t, err)
	soon, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	_, err = c.Command(soon, "GET", "k").String()
	require.ErrorIs(t, err, context.DeadlineExceeded, "the only connection is taken")
	require.NoError(t, p.Close())
	require.Equal(t, "v[]", elements(queue(ctx, c, "GET k")))
}

func TestContext(t *testing.T) {
	for _, row := range []struct {
		name string
		read func(p *redjet.Pipeline) error
	}{
		{"String", func(p *redjet.Pipeline) error { _, err := p.String(); return err }},
		{"WriteTo", func(p *redjet.Pipeline) error { _, err := p.WriteTo(io.Discard); return err }},
		{"Close", func(p *redjet.Pipeline) error { return p.Close() }},
	} {
		t.Run(row.name, func(t *testing.T) {
			redistest.NoLeak(t)
			c, f := faked(t, func(c *redistest.FakeConn, cmd []string) {
				c.Write("$10000\r\nsome of it")
				c.Pause(10 * time.Second)
			})
			before, cancel := context.WithCancel(context.Background())
			cancel()
			p := c.Command(before, "GET", "k")
			require.ErrorIs(t, row.read(p), context.Canceled)
			require.NoError(t, p.Close())
			require.Empty(t, f.Commands(), "not sent")
			for _, cmds := range [][]string{{"GET k"}, {"OTHER k"}, {"GET k", "GET k"}} {
				ctx, cancel := context.WithCancel(context.Background())
				p := queue(ctx, c, cmds...)
				time.AfterFunc(50*time.Millisecond, cancel)
				begin := time.Now()
				err := row.read(p)
				if row.name != "Close" { // which has no use for a reply that has begun
					require.ErrorIs(t, err, context.Canceled)
				}
				require.Less(t, time.Since(begin), 5*time.Second)
				require.False(t, p.Next())
				_ = p.Close()
				cancel()
				hundred(t, c)
			}
		})
	}
}

// TestCut ends the connection behind every byte of the replies.
func TestCut(t *testing.T) {
	replies := redistest.Bulk("hello") + "*2\r\n:1\r\n*1\r\n+x\r\n" + "+OK\r\n"
	want := []string{"hello", "2", "1", "1", "x", "OK"}
	for cut := range len(replies) {
		redistest.NoLeak(t)
		c, f := faked(t, func(c *redistest.FakeConn, cmd []string) {
			if cmd[0] == "FIRST" {
				c.Write(replies[:cut])
				c.Cut()
			}
		})
		p := queue(within(t), c, "FIRST", "SECOND", "THIRD")
		var got []string
		var err error
		for p.Next() {
			var s string
			if s, err = p.String(); err != nil {
				break
			}
			got = append(got, s)
		}
		require.Error(t, err, "cut at %d", cut)
		require.NotErrorIs(t, err, io.EOF, "cut at %d", cut)
		require.Equal(t, want[:len(got)], append([]string{}, got...), "cut at %d", cut)
		require.False(t, p.Next())
		require.NotEmpty(t, p.Error())
		require.NoError(t, p.Close())
		hundred(t, c)
		f.Close()
	}
}

// TestAbandoned is about Pipelines that nobody closes.
func TestAbandoned(t *testing.T) {
	redistest.NoLeak(t)
	c, ctx := server(t, false), within(t)
	for range 1000 {
		c.Command(ctx, "SET", "k", "v") // never sent
		c.Pipeline(ctx, nil, "SUBSCRIBE", "k")
	}
	require.Equal(t, "[]", elements(queue(ctx, c, "GET k")))
	hundred(t, c)
}

func TestLeavingByPanic(t *testing.T) {
	redistest.NoLeak(t)
	c, ctx := server(t, false), within(t)
	require.NoError(t, c.Command(ctx, "SET", "k", strings.Repeat("x", 1<<20)).Ok())
	for _, end := range []func(){func() { panic("no") }, runtime.Goexit} {
		for _, open := range []func() *redjet.Pipeline{
			func() *redjet.Pipeline { return c.Command(ctx, "GET", "k") },
			func() *redjet.Pipeline { return queue(ctx, c, "GET k", "ECHO after") },
		} {
			p := open()
			done := make(chan struct{})
			go func() {
				defer close(done)
				defer func() { _ = recover() }()
				_, _ = p.WriteTo(writer(func(b []byte) (int, error) { end(); return len(b), nil }))
			}()
			<-done
			if p.Next() {
				require.Equal(t, "after[]", elements(p))
			}
			require.NoError(t, p.Close())
			hundred(t, c)
		}
	}
}

type writer func(b []byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }

func TestConcurrent(t *testing.T) {
	redistest.NoLeak(t)
	c := redjet.New(redistest.NewClient(t, redistest.Shared(t)))
	ctx := within(t)
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() {
			key, want := fmt.Sprint("key ", i), fmt.Sprint("value ", i)
			p := c.Command(ctx, "SET", key, want)
			if err := p.Close(); err != nil {
				t.Error(err)
			}
			for range 20 {
				q := c.Pipeline(ctx, c.Pipeline(ctx, nil, "GET", key), "ECHO", want)
				if got := elements(q); got != want+"[] "+want+"[]" {
					t.Error(got)
				}
				if err := q.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

func TestAuthentication(t *testing.T) {
	redistest.NoLeak(t)
	c, _ := faked(t, func(c *redistest.FakeConn, _ []string) { c.Write("-NOAUTH Authentication required.\r\n") })
	err := c.Command(within(t), "SET", "foo", "bar").Ok()
	require.True(t, redjet.IsAuthError(err))
	require.True(t, redjet.IsAuthError(fmt.Errorf("wrapped: %w", err)))
	require.False(t, redjet.IsUnknownCommand(err))
	require.False(t, redjet.IsAuthError(errors.New("NOAUTH")))
}

func TestClients(t *testing.T) {
	redistest.NoLeak(t)
	srv := redistest.Shared(t)
	c, err := redjet.NewFromURL("redis://" + srv.Addr)
	require.NoError(t, err)
	hundred(t, c)
	require.NotNil(t, c.Client())
	require.NoError(t, c.Close())
	require.NoError(t, c.Close(), "again")
	_, err = c.Command(within(t), "ECHO", "x").String()
	require.ErrorIs(t, err, rueidis.ErrClosing)
	_, err = redjet.NewFromURL("ftp://x")
	require.Error(t, err)
	_, err = redjet.NewFromURL("redis://127.0.0.1:1")
	require.Error(t, err)

	rc := redistest.NewClient(t, srv)
	c = redjet.New(rc)
	require.Same(t, rc, c.Client())
	require.NoError(t, c.Close())
	hundred(t, c) // it is not ours to close
}
