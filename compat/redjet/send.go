package redjet

import (
	"errors"
	"fmt"

	"github.com/redis/rueidis"

	"github.com/rueidisx/rueidisx/internal/wire"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

// A batch up to these sizes is one window of rueidisstream.DoMulti: all of it is on its way when the first reply is read.
const (
	windowBytes    = 60 << 10
	windowCommands = 1000
)

var options = [...]rueidisstream.Option{rueidisstream.WithRawErrors()}

// send sends the commands that wait, up to the next job, or does that.
func (p *Pipeline) send() error {
	if err := p.release(); err != nil {
		return err
	}
	if j := p.infos[p.sent].job; j != nil {
		p.sent++
		return j.start(p)
	}
	end := p.sent + 1
	for end < len(p.infos) && p.infos[end].job == nil {
		end++
	}
	cmds := p.cmds[p.sent:end]
	p.windows = isWindows(cmds)
	if err := p.state.leave(p.windows); err != nil {
		return err
	}
	p.sent = end
	if len(cmds) == 1 {
		var err error
		p.rd, err = rueidisstream.Do(p.ctx, p.client.client, cmds[0], options[:]...)
		cmds[0] = rueidis.Completed{}
		if err != nil && !fromServer(err) {
			return err
		}
		p.own = err
		return nil
	}
	p.rs = rueidisstream.DoMulti(p.ctx, p.client.client, cmds, options[:]...)
	clear(cmds)
	return nil
}

func isWindows(cmds []rueidis.Completed) bool {
	if len(cmds) == 1 {
		return false
	}
	size := 0
	for i := range cmds {
		for _, w := range cmds[i].Commands() {
			size += len(w) + 16
		}
	}
	return size > windowBytes || len(cmds) > windowCommands
}

// fromServer tells whether err is the server's answer to a command.
func fromServer(err error) bool {
	_, ok := err.(*rueidis.RedisError)
	return ok
}

// alone tells whether err, of one reply among several, leaves the others to be read: on a cluster each node has a connection
// of its own.
func (p *Pipeline) alone() bool { return p.rs != nil && p.client.cluster && p.ctx.Err() == nil }

// connState follows what the commands do to their connection, which is another one in the next round.
type connState struct {
	multi   bool    // MULTI without its EXEC
	shapes  []shape // of the commands since MULTI
	watch   bool    // WATCH without its EXEC
	changed string  // the command that changed the connection
	left    string  // that command was sent
}

var errRounds = errors.New("redjet: the connection is another one after its replies were read: queue the commands that belong together before reading")

// leave is called before sending.
func (s *connState) leave(windows bool) error {
	switch {
	case s.left != "":
		return fmt.Errorf("%s: %w", s.left, errRounds)
	case s.multi:
		return fmt.Errorf("MULTI without EXEC: %w", errRounds)
	case s.watch:
		s.left = "WATCH"
	case s.changed != "" && windows:
		return fmt.Errorf("redjet: %s in a pipeline of more than %d commands or %d bytes", s.changed, windowCommands, windowBytes)
	}
	if s.changed != "" {
		s.left = s.changed
	}
	return nil
}

// special tells that commands do not go on connections that are like others.
func (s *connState) special() bool { return s.multi || s.watch || s.changed != "" }

// note takes a command and returns what the reply to EXEC holds.
func (s *connState) note(words []string, sh shape) []shape {
	switch name := words[0]; name {
	case "MULTI":
		s.multi, s.shapes = true, nil
		return nil
	case "WATCH":
		s.watch = true
	case "UNWATCH":
		s.watch = s.watch && s.multi // within MULTI it is only queued
	case "EXEC", "DISCARD":
		shapes := s.shapes
		s.multi, s.watch, s.shapes = false, false, nil
		if name == "EXEC" {
			return shapes
		}
		return nil
	case "ASKING":
		s.changed = name
	default:
		if wire.Alters(words) {
			s.changed = name
		}
	}
	if s.multi {
		s.shapes = append(s.shapes, sh)
	}
	return nil
}
