package wire

import "strings"

// Refused returns how to call a command that may not be sent on a borrowed connection, since after it a reply is not to be had, or
// is not the next one: those that subscribe, that hand the connection over, that change its protocol, and that end it. It
// returns "" for others.
func Refused(words []string) string {
	name := words[0]
	if breaks(name) {
		return name
	}
	if len(words) > 1 && strings.EqualFold(name, "CLIENT") && strings.EqualFold(words[1], "REPLY") {
		return "CLIENT REPLY"
	}
	return ""
}

func breaks(name string) bool {
	if len(name) >= 9 && strings.EqualFold(name[len(name)-9:], "SUBSCRIBE") {
		return true
	}
	switch len(name) {
	case 4:
		return strings.EqualFold(name, "SYNC") || strings.EqualFold(name, "QUIT")
	case 5:
		return strings.EqualFold(name, "HELLO") || strings.EqualFold(name, "RESET") || strings.EqualFold(name, "PSYNC")
	case 7:
		return strings.EqualFold(name, "MONITOR")
	}
	return false
}

// Alters tells whether the connection is another one after a command: for another database or user, or with another name or
// mode. Nobody else may get it then. (WATCH and MULTI alter it until something ends them, which is not looked for here.)
func Alters(words []string) bool {
	switch name := words[0]; len(name) {
	case 4:
		return strings.EqualFold(name, "AUTH")
	case 6:
		return strings.EqualFold(name, "SELECT") || strings.EqualFold(name, "CLIENT") && len(words) > 1 && altersClient(words[1])
	case 8:
		return strings.EqualFold(name, "READONLY")
	case 9:
		return strings.EqualFold(name, "READWRITE")
	}
	return false
}

// altersClient tells whether CLIENT with that word changes the connection.
func altersClient(word string) bool {
	switch strings.ToUpper(word) {
	case "SETNAME", "SETINFO", "TRACKING", "CACHING", "NO-EVICT", "NO-TOUCH":
		return true
	}
	return false
}
