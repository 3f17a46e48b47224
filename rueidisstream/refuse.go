package rueidisstream

import (
	"fmt"
	"strings"

	"github.com/redis/rueidis"

	"github.com/rueidisx/rueidisx/internal/wire"
)

// refuse returns an error for a command that may not be sent in a bracket, before anything is sent.
func refuse(cmd *rueidis.Completed) error {
	if cmd.IsEmpty() {
		return ErrReused
	}
	words := cmd.Commands()
	name := wire.Refused(words)
	if name == "" && cmd.NoReply() {
		name = words[0]
	}
	if name != "" {
		return fmt.Errorf("rueidisstream: %.40s: %w", name, ErrUnsupported)
	}
	return nil
}

// leavesState tells whether the connection is another one after cmds: for another database or user, with keys watched. It is
// then closed rather than given to somebody else.
func leavesState(cmds []rueidis.Completed) bool {
	watched := false
	for i := range cmds {
		words := cmds[i].Commands()
		if wire.Alters(words) {
			return true
		}
		switch name := words[0]; len(name) {
		case 4:
			watched = watched && !strings.EqualFold(name, "EXEC")
		case 5:
			watched = watched || strings.EqualFold(name, "WATCH")
		case 7:
			watched = watched && !strings.EqualFold(name, "UNWATCH") && !strings.EqualFold(name, "DISCARD")
		}
	}
	return watched
}
