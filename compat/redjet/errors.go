package redjet

import (
	"errors"
	"strings"
)

// ErrNil is in the error of Int, JSON and Ok for a reply that is a null: errors.Is tells it from a text that is no number, no JSON, or
// not OK. For WriteTo, Bytes, String, Strings and ArrayLength a null is no error, as in redjet.
var ErrNil = errors.New("redjet: nil reply")

var (
	errClosed = errors.New("result closed")
	errNoMore = errors.New("no more results")
)

// Error is an error that the server replied to a command, as opposed to one of the protocol or the connection.
type Error struct{ raw string }

// Error returns the server's text, with its code: "ERR unknown command ...".
func (e *Error) Error() string { return e.raw }

// IsUnknownCommand tells whether err is, or wraps, the server's error for a command that it does not know.
func IsUnknownCommand(err error) bool { return hasCode(err, "ERR unknown command") }

// IsAuthError tells whether err is, or wraps, the server's error for a client that has not authenticated, NOAUTH.
func IsAuthError(err error) bool { return hasCode(err, "NOAUTH") }

func hasCode(err error, prefix string) bool {
	var e *Error
	return errors.As(err, &e) && strings.HasPrefix(e.raw, prefix)
}
