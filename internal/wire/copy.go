package wire

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/redis/rueidis"
)

// SinkError is the error of the caller's writer, as opposed to one of the connection.
type SinkError struct{ Err error }

func (e *SinkError) Error() string { return e.Err.Error() }

// Unwrap returns the writer's error.
func (e *SinkError) Unwrap() error { return e.Err }

// Copy sends cmd, which is consumed and whose reply must be one string, and writes the string to w. It needs no bracket:
// rueidis' own streaming hands its reader to a writer that moves the bytes and accounts for each of them. When w fails, up to
// drain bytes are read to keep the connection; otherwise it is closed.
//
// It returns how many bytes w took. Its error is a *SinkError, a *rueidis.RedisError, rueidis.Nil, or from the connection.
//
// The header of the reply is read by rueidis. Its parser panics on some aggregates of an impossible length, which no server
// sends in answer to such a command; that comes back as an error.
func Copy(ctx context.Context, client rueidis.Client, cmd rueidis.Completed, w io.Writer, drain int64) (n int64, err error) {
	c := copiers.Get().(*copier)
	c.w, c.drain, c.guard.ctx = w, drain, ctx
	if lines.Load() {
		c.send(ctx, client, cmd)
	} else {
		c.stream = client.DoStream(ctx, cmd)
	}
	defer func() { // also when w panics, or ends the goroutine
		if !c.returned && !c.writing {
			if p := recover(); p != nil {
				err = fmt.Errorf("%w: %v", ErrOutOfStep, p)
			}
		}
		c.end()
	}()
	var line *Line
	if c.opening {
		line, err = c.learn()
	}
	if err == nil {
		_, err = c.stream.WriteTo(c)
	}
	if line != nil && c.stream.HasNext() {
		c.guard.release() // before the connection is somebody else's
		line.front = aloneReply
		_, _ = c.stream.WriteTo(io.Discard)
	}
	c.returned = true
	if len(c.line) > 0 {
		c.write(c.line)
	}
	if c.sink != nil {
		return c.n, &SinkError{c.sink}
	}
	if c.err != nil {
		err = c.err
	}
	return c.n, err
}

// copier is the writer that is handed the source and moves it to w.
type copier struct {
	stream rueidis.RedisResultStream
	cmds   []rueidis.Completed
	guard  guard
	br     *bufio.Reader
	w      io.Writer
	drain  int64
	n      int64 // bytes that w took
	sink   error // of w; after it w is called no more
	err    error // of the connection
	line   []byte

	opening  bool // openings were sent before the command
	writing  bool // w is being called
	returned bool // rueidis has done its part
}

// send sends cmd behind two openings. A Line keeps both of them. By its answer to the first the connection is known before the
// reply comes; by that to the second it is given back, when the context rules no more. Another client's server answers both.
func (c *copier) send(ctx context.Context, client rueidis.Client, cmd rueidis.Completed) {
	mode := Primary
	if cmd.IsReadOnly() {
		mode = ReadOnly
	}
	c.cmds = append(c.cmds[:0], ping(client, alone, mode), ping(client, alone, mode), cmd)
	c.stream = client.DoMultiStream(ctx, c.cmds...)
	clear(c.cmds) // rueidis recycles them
	c.opening = true
}

// learn reads the answers to the openings up to cmd's reply. If the connection is a Line, the context rules from now on.
func (c *copier) learn() (*Line, error) {
	for range 2 {
		if _, err := c.stream.WriteTo((*learner)(c)); err != nil {
			return nil, err
		}
		if c.br == nil {
			return nil, ErrUnsupported
		}
		isLine, err := c.guard.takeLine(c.br)
		if isLine || err != nil {
			return c.guard.line, err
		}
	}
	return nil, nil
}

// learner is a copier as the writer that takes the reply to the opening.
type learner copier

func (c *learner) ReadFrom(src io.Reader) (int64, error) {
	br, err := readWord(src, alone)
	if err != nil {
		return 0, err
	}
	c.br = br
	return int64(len(alone)), nil
}

// Write takes a reply to the opening that is no bulk string.
func (c *learner) Write([]byte) (int, error) { return 0, ErrUnsupported }

var copiers = sync.Pool{New: func() any { return new(copier) }}

// end leaves nothing of the exchange behind: the connection is back in the pool, or closed.
func (c *copier) end() {
	c.guard.release()
	for c.stream.HasNext() {
		if c.br != nil {
			c.br.Reset(empty{})
		}
		_, _ = c.stream.WriteTo(breaker{})
	}
	*c = copier{cmds: c.cmds[:0]}
	copiers.Put(c)
}

// ReadFrom moves the string that src, an *io.LimitedReader, holds.
func (c *copier) ReadFrom(src io.Reader) (int64, error) {
	lr, ok := src.(*io.LimitedReader)
	if !ok {
		return 0, ErrUnsupported
	}
	if c.br, ok = lr.R.(*bufio.Reader); !ok {
		return c.giveUp(lr.N, ErrUnsupported)
	}
	size := lr.N
	if size < 0 {
		return c.giveUp(0, fmt.Errorf("%w: a string of %d bytes", ErrOutOfStep, size))
	}
	for lr.N > 0 {
		b, err := c.next(lr.N)
		if err != nil {
			return c.giveUp(size, err)
		}
		c.write(b)
		n, _ := c.br.Discard(len(b)) // they are buffered
		if lr.N -= int64(n); c.sink != nil && lr.N > c.drain {
			return c.giveUp(size, errAbandoned)
		}
	}
	if err := c.tail(); err != nil {
		return c.giveUp(size, err)
	}
	c.guard.pause() // rueidis may give the connection back
	return size, nil
}

// tail waits for what follows the string, so that rueidis need not.
func (c *copier) tail() error {
	const crlf = 2
	if c.br.Buffered() < crlf {
		if err := c.guard.waitBehind(c.br); err != nil {
			return err
		}
		if _, err := c.br.Peek(crlf); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
	}
	return nil
}

// next returns what is buffered of the n bytes that are left, after waiting for some.
func (c *copier) next(n int64) ([]byte, error) {
	if c.br.Buffered() == 0 {
		if err := c.guard.wait(c.br); err != nil {
			return nil, err
		}
		if _, err := c.br.Peek(1); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
	}
	return c.br.Peek(int(min(n, int64(c.br.Buffered()))))
}

// write hands b to the caller's writer, unless that has failed.
func (c *copier) write(b []byte) {
	if c.sink != nil {
		return
	}
	c.writing = true
	n, err := c.w.Write(b)
	c.writing = false
	switch {
	case n < 0 || n > len(b):
		n, err = 0, fmt.Errorf("invalid count %d from Write of %d bytes", n, len(b))
	case err == nil && n < len(b):
		err = io.ErrShortWrite
	}
	c.n += int64(n)
	c.sink = err
}

// giveUp makes rueidis close the connection, by claiming more bytes than a string of that size and its CRLF have. What is unread is
// not left there: old releases look at it once more while they close.
func (c *copier) giveUp(size int64, err error) (int64, error) {
	c.err = err
	if c.br != nil {
		c.br.Reset(empty{})
	}
	return size + 3, err
}

// Write takes a reply that is a number or a line. It goes to w when rueidis is through: w may panic.
func (c *copier) Write(b []byte) (int, error) {
	c.line = append(c.line, b...)
	return len(b), nil
}
