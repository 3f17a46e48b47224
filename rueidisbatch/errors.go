package rueidisbatch

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/redis/rueidis"

	"github.com/rueidisx/rueidisx/rueidisstream"
)

var (
	// ErrWrongType is what a key that holds something else than a string is with WithWrongType(WrongTypeError).
	ErrWrongType = errors.New("rueidisbatch: the key holds another type than a string")
	// ErrReply is the error of a reply that is not what the command asks for, such as one of fewer values than there were keys.
	ErrReply = errors.New("rueidisbatch: the reply is not what was asked for")

	// errHalted is what reading ends with when others have failed, or nobody wants more. It never comes out.
	errHalted = errors.New("rueidisbatch: halted")
)

// RangeError says for which keys there is no result, and why. Err is the reason: a *rueidis.RedisError if the server refused the
// command, for which errors.As is the way, since rueidis.IsRedisErr looks at the outermost error only.
type RangeError struct {
	// From and To are the range of the keys: the first, and the one behind the last. MGet and MGetFunc count in the keys that they were
	// given, MGetSeq and Readdir in what they give out.
	From, To int
	// Indexes are the keys in the range that have no result; nil if that is all of them. On a cluster, where keys are
	// asked for by node, others of the range may have one.
	Indexes []int
	// Err is never nil.
	Err error
}

// Error names the range and the reason.
func (e *RangeError) Error() string {
	if e.To == e.From+1 {
		return fmt.Sprintf("rueidisbatch: key %d: %v", e.From, e.Err)
	}
	if e.Indexes != nil {
		return fmt.Sprintf("rueidisbatch: %d of the keys %d to %d: %v", len(e.Indexes), e.From, e.To-1, e.Err)
	}
	return fmt.Sprintf("rueidisbatch: keys %d to %d: %v", e.From, e.To-1, e.Err)
}

// Unwrap returns the reason.
func (e *RangeError) Unwrap() error { return e.Err }

// keyError is the error of some of the keys of a chunk. at are their places in the chunk.
type keyError struct {
	at  []int
	err error
}

func (e *keyError) Error() string { return e.err.Error() }
func (e *keyError) Unwrap() error { return e.err }

func (e *keyError) orNil() error {
	if e == nil {
		return nil
	}
	return e
}

// userError is an error of the caller's function, which ends the call and comes out as it is.
type userError struct{ err error }

func (e *userError) Error() string { return e.err.Error() }

// ranged makes a RangeError of the error of a chunk of n keys. index tells the place of the chunk's i-th key.
func ranged(err error, n int, index func(i int) int) error {
	var places []int
	var some *keyError
	if errors.As(err, &some) && len(some.at) > 0 {
		err = some.err
		for _, i := range some.at {
			places = append(places, index(i))
		}
	} else {
		for i := range n {
			places = append(places, index(i))
		}
	}
	e := &RangeError{From: places[0], To: places[0] + 1, Indexes: places, Err: err}
	for _, i := range places {
		e.From, e.To = min(e.From, i), max(e.To, i+1)
	}
	if e.To-e.From == len(places) {
		e.Indexes = nil
	}
	return e
}

// fromServer tells whether err is the server's answer to the command itself.
func fromServer(err error) bool {
	if err == rueidis.Nil {
		return true
	}
	_, ok := err.(*rueidis.RedisError)
	return ok
}

// sendError makes the context's error visible in one of client.Do.
func sendError(ctx context.Context, err error) error {
	if fromServer(err) {
		return err
	}
	if done := ctx.Err(); done != nil && !errors.Is(err, done) {
		err = fmt.Errorf("%w (%w)", done, err)
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("rueidisbatch: %w", err)
}

// isBroken tells whether a connection ended early, so that what is left may be asked for again.
func isBroken(err error) bool {
	return !fromServer(err) && errors.Is(err, io.ErrUnexpectedEOF) &&
		!errors.Is(err, rueidisstream.ErrProtocol) && !errors.Is(err, rueidisstream.ErrUnsupported)
}
