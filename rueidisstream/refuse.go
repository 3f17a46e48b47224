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

// leavesState tells whether the connection is another one after cmds: for another database or user, with keys watched. It is
// then closed rather than given to somebody else.
func leavesState(cmds []rueidis.Completed) bool {
	watched := false
	for i := range cmds {
		words := cmds[i].Commands()
		switch name := words[0]; len(name) {
		case 4:
			if strings.EqualFold(name, "AUTH") {
				return true
			}
			if strings.EqualFold(name, "EXEC") {
				watched = false
			}
		case 5:
			watched = watched || strings.EqualFold(name, "WATCH")
		case 6:
			if strings.EqualFold(name, "SELECT") {
				return true
			}
			if strings.EqualFold(name, "CLIENT") && len(words) > 1 && changesClient(words[1]) {
				return true
			}
		case 7:
			if strings.EqualFold(name, "UNWATCH") || strings.EqualFold(name, "DISCARD") {
				watched = false
			}
		case 8:
			if strings.EqualFold(name, "READONLY") {
				return true
			}
		case 9:
			if strings.EqualFold(name, "READWRITE") {
				return true
			}
		}
	}
	return watched
}

// changesClient tells whether CLIENT with that word changes the connection.
func changesClient(word string) bool {
	switch strings.ToUpper(word) {
	case "SETNAME", "SETINFO", "TRACKING", "CACHING", "NO-EVICT", "NO-TOUCH":
		return true
	}
	return false
}
