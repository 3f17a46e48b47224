package rueidisstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/redis/rueidis"

	"github.com/rueidisx/rueidisx/internal/resp"
	"github.com/rueidisx/rueidisx/internal/wire"
)

var (
	// ErrReused is returned for a command that was sent before: rueidis recycles a Completed once it is sent, so an iterator
	// of Values or Pairs can be ranged over once only.
	ErrReused = errors.New("rueidisstream: a command can be sent once only")
	// ErrTooBig is returned for an element that is larger than WithMaxBytes or nested deeper than WithMaxDepth.
	ErrTooBig = resp.ErrTooBig
	// ErrShape is returned where a reply has another shape than the call needs, such as an odd number of elements for Pairs.
	ErrShape = resp.ErrShape
	// ErrProtocol is returned for bytes that are not RESP, and for a reply that is not alone where it stands.
	ErrProtocol = resp.ErrProtocol
	// ErrUnsupported is returned for a client that does not hand out its connections' readers, such as a mock, and for
	// commands that cannot be streamed: those that subscribe, and those that change how the connection speaks.
	ErrUnsupported = wire.ErrUnsupported

	// ErrStalled is returned for a connection of a client of Dial that was silent for longer than ClientOption.ConnWriteTimeout while
	// a reply was due. It is an os.ErrDeadlineExceeded, but no context.DeadlineExceeded.
	ErrStalled = wire.ErrStalled

	errClosed = errors.New("rueidisstream: the Reader is closed")
)

// replyError returns the error that an element of kind Error, BlobError or Null stands for, as client.Do returns it.
func replyError(e resp.Element, raw bool) error {
	switch {
	case e.Kind() == resp.Null:
		return rueidis.Nil
	case raw:
		return wire.RawError(string(e.Bytes))
	}
	return wire.RedisError(string(e.Bytes))
}

func isReplyError(kind byte) bool {
	return kind == resp.Null || kind == resp.Error || kind == resp.BlobError
}

// fromServer tells whether err is the server's answer to the command itself.
func fromServer(err error) bool {
	if err == rueidis.Nil {
		return true
	}
	_, ok := err.(*rueidis.RedisError)
	return ok
}

// sendError describes an error from before the reply's first byte.
func sendError(ctx context.Context, err error, raw bool) error {
	if fromServer(err) {
		if raw {
			return err
		}
		return normal(err)
	}
	return fmt.Errorf("rueidisstream: before the reply: %w", cause(ctx, err))
}

// normal returns a server's error as client.Do does, which leaves out the prefix "ERR ".
func normal(err error) error {
	if e, ok := err.(*rueidis.RedisError); ok && !e.IsNil() {
		return (*rueidis.RedisMessage)(e).Error()
	}
	return err
}

// cause makes the context's error visible in err, and the end of a connection unmistakable.
func cause(ctx context.Context, err error) error {
	done := ctx.Err()
	if done == nil && (errors.Is(err, os.ErrDeadlineExceeded) || isOthers(err)) {
		if dl, ok := ctx.Deadline(); ok && !time.Now().Before(dl) {
			// The connection has the context's deadline and may see it a moment before the context does.
			done = context.DeadlineExceeded
		}
	}
	switch {
	case done != nil && errors.Is(err, done):
		return err
	case done != nil && errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("%w (%v)", done, err) // by which the read was interrupted
	case done != nil && isOthers(err):
		return fmt.Errorf("%w (%v)", done, err)
	case done != nil:
		return fmt.Errorf("%w (%w)", done, unexpected(err))
	case isOthers(err):
		return fmt.Errorf("no connection, since another call was cancelled: %v", err)
	case isClosed(err):
		return fmt.Errorf("the connection was closed (by a restart, a proxy, or the server's client-output-buffer-limit): %w", unexpected(err))
	default:
		return err
	}
}

// unexpected makes every kind of early end io.ErrUnexpectedEOF, and none io.EOF.
func unexpected(err error) error {
	switch {
	case err == io.EOF:
		return io.ErrUnexpectedEOF
	case isClosed(err) && !errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w (%w)", io.ErrUnexpectedEOF, err)
	default:
		return err
	}
}
