package rueidisstream

import (
	"fmt"
	"strings"

	"github.com/redis/rueidis"
)

// refuse returns an error for a command that may not be sent in a bracket, before anything is sent.
func refuse(cmd *rueidis.Completed) error {
	if cmd.IsEmpty() {
		return ErrReused
	}
	words := cmd.Commands()
	name := words[0]
	if cmd.NoReply() || breaksBracket(name) {
		return fmt.Errorf("rueidisstream: %.40s: %w", name, ErrUnsupported)
	}
	if len(words) > 1 && strings.EqualFold(name, "CLIENT") && strings.EqualFold(words[1], "REPLY") {
		return fmt.Errorf("rueidisstream: CLIENT REPLY: %w", ErrUnsupported)
	}
	return nil
}

// breaksBracket tells whether after the command of that name a reply is not to be had, or is not the next one: those that
// subscribe, that hand the connection over, that change its protocol, and that end it.
func breaksBracket(name string) bool {
	if len(name) > 9 && strings.EqualFold(name[len(name)-9:], "SUBSCRIBE") {
		return true
	}
	switch len(name) {
	case 4:
		return strings.EqualFold(name, "SYNC") || strings.EqualFold(name, "QUIT")
	case 5:
		return strings.EqualFold(name, "HELLO") || strings.EqualFold(name, "RESET") || strings.EqualFold(name, "PSYNC")
	case 7:
		return strings.EqualFold(name, "MONITOR")
	case 9:
		return strings.EqualFold(name, "SUBSCRIBE")
	}
	return false
}
