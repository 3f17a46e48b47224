package wire

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// guard lets a context rule over the reads of a borrowed connection.
type guard struct {
	ctx   context.Context
	taken bool
	stop  func() bool
	watch *watch
	line  *Line // the connection, if it is one
}

// wait is called before each read that may block; the first time nothing may be buffered.
func (g *guard) wait(br *bufio.Reader) error {
	if err := g.ctx.Err(); err != nil {
		return err
	}
	if g.taken {
		return nil
	}
	conn, err := connOf(br)
	if err != nil {
		return err
	}
	return g.take(conn)
}

// waitBehind is wait where something may be buffered.
func (g *guard) waitBehind(br *bufio.Reader) error {
	if g.taken || br.Buffered() == 0 {
		return g.wait(br)
	}
	b, _ := br.Peek(br.Buffered())
	front := bytes.Clone(b)
	_, _ = br.Discard(len(b)) // they are buffered
	conn, err := connOf(br)
	if err != nil {
		return err
	}
	if conn == nil {
		return fmt.Errorf("%w: its source is no connection", ErrUnsupported)
	}
	br.Reset(&replay{Conn: conn, front: front})
	_, _ = br.Peek(len(front)) // from front
	return g.take(conn)
}

// takeLine lets the context rule at once if the connection is a Line that has answered the opening by itself.
func (g *guard) takeLine(br *bufio.Reader) (bool, error) {
	conn, err := connOf(br)
	line, ok := conn.(*Line)
	if err != nil || !ok || !line.answered {
		return false, err
	}
	line.answered = false
	return true, g.take(line)
}

// replay is a connection that gives front before what it has.
type replay struct {
	net.Conn
	front []byte
}

func (r *replay) Read(p []byte) (int, error) {
	if len(r.front) > 0 {
		n := copy(p, r.front)
		r.front = r.front[n:]
		return n, nil
	}
	return r.Conn.Read(p)
}

// take lets the context rule over conn, if there is one.
func (g *guard) take(conn net.Conn) error {
	if err := g.ctx.Err(); err != nil {
		return err
	}
	g.taken = true
	if conn == nil {
		return nil
	}
	var ok bool
	if g.line, ok = conn.(*Line); ok {
		conn = g.line.Conn
	} else {
		dl, _ := g.ctx.Deadline()    // the zero time is no deadline
		_ = conn.SetReadDeadline(dl) // it may be of a kind that knows none; if it is closed, the read will tell
	}
	if g.ctx.Done() != nil {
		g.watch = &watch{conn: conn}
		g.stop = context.AfterFunc(g.ctx, g.watch.interrupt)
	}
	if g.line != nil {
		g.line.begin(g.ctx, g.watch)
	}
	return nil
}

// release ends the rule for good.
func (g *guard) release() {
	g.pause()
	g.ctx = nil
}

// pause ends the rule: after it the context touches the connection no more, until it is taken again. That has to be before the
// connection goes back to the pool.
func (g *guard) pause() {
	if g.stop != nil && !g.stop() {
		g.watch.release()
	}
	if g.line != nil {
		g.line.end()
	}
	*g = guard{ctx: g.ctx}
}

// watch interrupts the reads of a connection once.
type watch struct {
	mu   sync.Mutex
	conn net.Conn // nil when the connection is somebody else's again
	done bool     // reads were interrupted, and stay so
}

// arm gives the connection a deadline, unless its reads were interrupted. Then it returns the error of ctx.
func (w *watch) arm(ctx context.Context, due time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.done {
		return ctx.Err()
	}
	_ = w.conn.SetReadDeadline(due) // it may be of a kind that knows none
	return nil
}

func (w *watch) interrupt() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done = true
	if w.conn != nil && w.conn.SetReadDeadline(time.Unix(1, 0)) != nil {
		_ = w.conn.Close() // it knows no deadlines
	}
}

func (w *watch) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conn = nil
}

// connOf returns the net.Conn that br reads from, or nil if it reads from something else. Nothing may be buffered in br. An
// error means that bytes were lost.
func connOf(br *bufio.Reader) (net.Conn, error) {
	if br.Buffered() > 0 {
		return nil, nil
	}
	s := sources.Get().(*source)
	_, err := br.WriteTo(s)
	conn, lost := s.conn, s.lost
	*s = source{}
	sources.Put(s)
	if lost {
		return nil, err
	}
	if r, ok := conn.(*replay); ok {
		conn = r.Conn // from an earlier time; it is through
	}
	return conn, nil
}

var sources = sync.Pool{New: func() any { return new(source) }}

// source is a writer that learns what it is to read from, and takes nothing.
type source struct {
	conn net.Conn
	lost bool
}

func (s *source) ReadFrom(r io.Reader) (int64, error) {
	s.conn, _ = r.(net.Conn)
	return 0, nil
}

// Write is called by a connection whose own WriteTo has read before it looked at its writer.
func (s *source) Write([]byte) (int, error) {
	s.lost = true
	return 0, io.ErrClosedPipe
}
