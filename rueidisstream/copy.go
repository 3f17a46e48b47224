package rueidisstream

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/redis/rueidis"

	"github.com/rueidisx/rueidisx/internal/wire"
)

// Copy sends cmd, whose reply must be one string, and writes the string to w while it arrives. It returns how many bytes w
// took. It is client.DoStream(ctx, cmd).WriteTo(w), but right when w fails: the connection is given back if what is left is
// within WithDrain, and else closed; no byte of the value is ever taken for a reply.
//
// An error of w comes back wrapped, a short write as io.ErrShortWrite. A reply that is an error or a null is returned
// unwrapped, an aggregate as ErrShape. A connection that ends early is io.ErrUnexpectedEOF, wrapped with the position.
//
// For GET and other commands that reply with nothing but a string, rueidis' own streaming is used: it applies
// ClientOption.ConnWriteTimeout to the wait for the first byte. What follows has no limit but the context's.
func Copy(ctx context.Context, client rueidis.Client, cmd rueidis.Completed, w io.Writer, opts ...Option) (int64, error) {
	cfg := newConfig(opts)
	if err := refuse(&cmd); err != nil {
		return 0, err
	}
	if repliesString(cmd.Commands()[0]) {
		return copyString(ctx, client, cmd, w, cfg)
	}
	return copyBracket(ctx, client, cmd, w, cfg)
}

// copyBracket is Copy of any command.
func copyBracket(ctx context.Context, client rueidis.Client, cmd rueidis.Completed, w io.Writer, cfg config) (int64, error) {
	var r Reader
	if err := r.open(ctx, client, cmd, cfg); err != nil {
		return 0, err
	}
	defer r.Close()
	n, err := r.WriteTo(w)
	if err != nil {
		return n, err
	}
	return n, r.Close()
}

// copyString is Copy of a command of which nothing but a string, a null or an error can come.
func copyString(ctx context.Context, client rueidis.Client, cmd rueidis.Completed, w io.Writer, cfg config) (int64, error) {
	s := streams.Get().(*stream) // for its copies
	defer s.release()
	cmds := [1]rueidis.Completed{cmd}
	s.copy.take(cmds[:])
	for try := 0; ; try++ {
		n, err := wire.Copy(ctx, client, cmd, w, cfg.drain)
		if err == nil {
			return n, nil
		}
		var sink *wire.SinkError
		switch {
		case errors.As(err, &sink):
			return n, fmt.Errorf("rueidisstream: after %d bytes: %w", n, sink.Err)
		case n > 0:
			return n, fmt.Errorf("rueidisstream: after %d bytes: %w", n, cause(ctx, err))
		case s.copy.redirects(client, err):
			return copyBracket(ctx, client, s.copy.build(client)[0], w, cfg)
		case !s.copy.again(ctx, client, try, err):
			return 0, sendError(ctx, err, cfg.raw)
		}
		cmd = s.copy.build(client)[0]
	}
}

// repliesString tells whether the command of that name, in upper case as rueidis' builder writes it, has no other reply than
// a bulk string, a null or an error.
func repliesString(name string) bool {
	switch name {
	case "GET", "GETEX", "GETDEL", "GETRANGE", "GETSET", "SUBSTR", "HGET", "LINDEX", "DUMP", "ECHO":
		return true
	}
	return false
}
