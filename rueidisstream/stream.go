package rueidisstream

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/redis/rueidis"

	"github.com/rueidisx/rueidisx/internal/resp"
	"github.com/rueidisx/rueidisx/internal/wire"
)

// stream is the machinery below a Reader: a borrowed connection and the parser on it. It is recycled.
type stream struct {
	rd   resp.Reader
	conn *wire.Conn // nil for a reply that comes from no connection
	ctx  context.Context
	cfg  config
	copy copies
	// altered tells that the connection is not what the next one to have it expects.
	altered bool
}

var streams = sync.Pool{New: func() any { return new(stream) }}

// open sends cmds, which are consumed, and returns when the first byte of the first reply is there.
func open(ctx context.Context, to route, cmds []rueidis.Completed, cfg config) (*stream, error) {
	for i := range cmds {
		if err := refuse(&cmds[i]); err != nil {
			return nil, err
		}
	}
	s := streams.Get().(*stream)
	s.ctx, s.cfg, s.altered = ctx, cfg, leavesState(cmds)
	s.copy.take(cmds)
	if err := s.sendOn(to, cmds); err != nil {
		s.release()
		return nil, err
	}
	return s, nil
}

// sendOn sends cmds, and once more as long as that may help.
func (s *stream) sendOn(to route, cmds []rueidis.Completed) error {
	ctx := s.ctx
	if s.cfg.patience > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, patience(ctx, s.cfg.patience))
		defer cancel()
	}
	for try := 0; ; try++ {
		err := s.send(to, cmds)
		if err == nil {
			return nil
		}
		// A node that cannot be reached is not the one to ask again, while others wait.
		if to.node && (isDial(err) && !isOthers(err) || try >= triesAtOnce-1) || !s.copy.again(ctx, to.client, try, err) {
			return sendError(s.ctx, err, s.cfg.raw)
		}
		cmds = s.copy.build(to.client)
	}
}

// patience is for how long to try again where others wait for their turn: limit, but a quarter of what ctx leaves at most.
func patience(ctx context.Context, limit time.Duration) time.Duration {
	if dl, ok := ctx.Deadline(); ok {
		return min(limit, time.Until(dl)/4)
	}
	return limit
}

// redirected sends the one command again if the server's answer, err, says that this helps, and tells whether it did. Then
// the stream stands on the next answer, unless there is an error.
func (s *stream) redirected(client rueidis.Client, try int, err error) (bool, error) {
	if !s.copy.redirects(client, err) || try >= maxRedirects || s.ctx.Err() != nil {
		return false, nil
	}
	if err := s.detach(); err != nil {
		return true, err
	}
	to := s.copy.redirect(s.ctx, client, try, err)
	return true, s.sendOn(to, s.copy.build(to.client))
}

// send opens a bracket and steps to the first reply.
func (s *stream) send(to route, cmds []rueidis.Completed) (err error) {
	if to.asking {
		cmds = append([]rueidis.Completed{to.client.B().Arbitrary("ASKING").Build()}, cmds...)
	}
	mode := s.cfg.mode
	if to.node {
		mode |= wire.OneNode
	}
	if s.conn, err = wire.Open(s.ctx, to.client, cmds, mode); err != nil {
		return err
	}
	if word := s.conn.Opening(); word != "" {
		err = s.greet(word)
	}
	if err == nil {
		s.rd.Reset(s.conn.Reader(), s.conn.Wait(), s.cfg.limits)
		_, err = s.rd.Next()
	}
	if to.asking && err == nil {
		if err = s.rd.Finish(); err == nil {
			s.rd.Begin()
			_, err = s.rd.Next()
		}
	}
	if err != nil {
		s.conn.Abandon()
		s.conn = nil
		return err
	}
	s.conn.Between(false)
	return nil
}

// greet reads the reply to the opening of the bracket, which has to be word.
func (s *stream) greet(word string) error {
	s.rd.Reset(s.conn.Reader(), s.conn.Wait(), s.cfg.limits)
	if _, err := s.rd.Next(); err != nil {
		return err
	}
	e, err := s.rd.Current()
	switch {
	case err != nil:
		return err
	case isReplyError(e.Kind()):
		return replyError(e, s.cfg.raw)
	case e.Kind() != resp.BulkString || string(e.Bytes) != word:
		return fmt.Errorf("%w: %.40q where the reply to the opening is due", ErrProtocol, e.Bytes)
	}
	_, err = s.rd.Sync()
	return err
}

// source makes a stream of bytes that come from no connection.
func source(r io.Reader, cfg config) *stream {
	br, ok := r.(*bufio.Reader)
	if !ok {
		br = bufio.NewReader(r)
	}
	s := streams.Get().(*stream)
	s.ctx, s.cfg = context.Background(), cfg
	s.rd.Reset(br, nil, cfg.limits)
	return s
}

// own returns the error that the element is on which the parser stands, or nil.
func (s *stream) own() error {
	if !isReplyError(s.rd.Header().Kind) {
		return nil
	}
	e, err := s.rd.Current()
	if err != nil {
		return s.wrap(err)
	}
	return replyError(e, s.cfg.raw)
}

// ownReply is own for the reply itself, which is then read to its end.
func (s *stream) ownReply() error {
	err := s.own()
	if err != nil && fromServer(err) {
		_ = s.rd.Finish() // it is in memory
	}
	return err
}

// close gives the connection back if what is left of the reply can be read within the limit, or else closes it. Its error
// tells that the reply was not what it seemed; what happens to a connection after the whole reply was read is nobody's error.
func (s *stream) close() error {
	err := s.detach()
	s.release()
	return err
}

// detach is close for a stream that goes on with another connection.
func (s *stream) detach() error {
	conn := s.conn
	s.conn = nil
	unread := !s.rd.Done() && (s.cfg.drain == 0 || s.ctx.Err() != nil || s.rd.FinishWithin(s.cfg.drain) != nil)
	switch {
	case conn == nil && unread:
		return nil
	case conn == nil:
		s.rd.Leave()
		return nil
	case unread, s.altered:
		conn.Abandon()
		return nil
	}
	if _, err := s.rd.Sync(); err != nil {
		conn.Abandon()
		return s.misplaced(err)
	}
	return s.misplaced(conn.Close())
}

// abandon closes the connection, whatever is unread on it.
func (s *stream) abandon() {
	if s.conn != nil {
		s.conn.Abandon()
	}
	s.release()
}

// misplaced returns an error if there was something behind the reply that is not the closing of the bracket.
func (s *stream) misplaced(err error) error {
	if errors.Is(err, wire.ErrOutOfStep) || errors.Is(err, resp.ErrProtocol) {
		return fmt.Errorf("rueidisstream: behind the reply (%d bytes): %w: %w", s.rd.Offset(), ErrProtocol, err)
	}
	return nil
}

func (s *stream) release() {
	s.conn, s.ctx, s.altered = nil, nil, false
	s.copy.forget()
	streams.Put(s)
}

// wrap adds the position to an error from reading.
func (s *stream) wrap(err error) error { return s.at(cause(s.ctx, err)) }

// at adds the position to an error.
func (s *stream) at(err error) error {
	return fmt.Errorf("rueidisstream: after %d elements (%d bytes): %w", s.rd.Elements(), s.rd.Offset(), err)
}
