package rueidisstream

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/redis/rueidis"
)

// errAborted is EXEC's null: a watched key was touched, and nothing was executed.
var errAborted = errors.New("rueidisstream: the transaction was aborted, since a watched key was touched")

// doer is a rueidis.Client or a rueidis.DedicatedClient.
type doer interface {
	B() rueidis.Builder
	DoMulti(ctx context.Context, multi ...rueidis.Completed) []rueidis.RedisResult
}

// transact sends cmds between MULTI and EXEC, in one pipeline, and returns their replies, each of which may be an error. The
// server executes all of them, with nothing in between, or none. An error of the server is returned as it is, and means that none was
// executed; so does errAborted. After any other error, that is not known.
//
// MULTI, which has no key, goes first: that keeps a client that sends to replicas on the primary, and the transactions of one
// goroutine on one of the client's shared connections, in order.
func transact(ctx context.Context, client doer, cmds ...rueidis.Completed) ([]rueidis.RedisMessage, error) {
	multi := make([]rueidis.Completed, 0, len(cmds)+2)
	multi = append(multi, client.B().Multi().Build())
	multi = append(multi, cmds...)
	multi = append(multi, client.B().Exec().Build())
	results := client.DoMulti(ctx, multi...)
	if len(results) != len(multi) {
		return nil, fmt.Errorf("%w: %d results for %d commands", ErrUnsupported, len(results), len(multi))
	}
	for i := range results {
		if err := results[i].NonRedisError(); err != nil {
			return nil, err
		}
	}
	exec := len(results) - 1
	for i := range results[:exec] {
		if err := results[i].Error(); err != nil { // refused when it was queued; EXEC then says EXECABORT
			return nil, err
		}
	}
	replies, err := results[exec].ToArray()
	switch {
	case err == rueidis.Nil:
		return nil, errAborted
	case err != nil && !fromServer(err):
		return nil, fmt.Errorf("%w: the reply to EXEC: %w", ErrProtocol, err)
	case err != nil:
		return nil, err
	case len(replies) != len(cmds):
		return nil, fmt.Errorf("%w: EXEC has %d replies to %d commands", ErrProtocol, len(replies), len(cmds))
	}
	return replies, nil
}

// isRedisErr tells whether err is the server's and begins with prefix.
func isRedisErr(err error, prefix string) bool {
	e, ok := err.(*rueidis.RedisError)
	return ok && strings.HasPrefix(e.Error(), prefix)
}
