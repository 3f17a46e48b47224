package wire

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCommands(t *testing.T) {
	for line, want := range map[string]struct {
		refused string
		alters  bool
	}{
		"GET k":                {"", false},
		"PING":                 {"", false},
		"SUBSCRIBE c":          {"SUBSCRIBE", false},
		"unsubscribe":          {"unsubscribe", false},
		"PSUBSCRIBE c":         {"PSUBSCRIBE", false},
		"SUNSUBSCRIBE c":       {"SUNSUBSCRIBE", false},
		"SYNC":                 {"SYNC", false},
		"PSYNC ? -1":           {"PSYNC", false},
		"quit":                 {"quit", false},
		"HELLO 3":              {"HELLO", false},
		"RESET":                {"RESET", false},
		"Monitor":              {"Monitor", false},
		"client Reply OFF":     {"CLIENT REPLY", false},
		"CLIENT":               {"", false},
		"CLIENT LIST":          {"", false},
		"CLIENT ID":            {"", false},
		"client setname n":     {"", true},
		"CLIENT SETINFO a b":   {"", true},
		"CLIENT TRACKING on":   {"", true},
		"CLIENT CACHING yes":   {"", true},
		"CLIENT NO-EVICT on":   {"", true},
		"CLIENT NO-TOUCH on":   {"", true},
		"select 1":             {"", true},
		"AUTH p":               {"", true},
		"READONLY":             {"", true},
		"readwrite":            {"", true},
		"WATCH k":              {"", false},
		"MSETNX k v":           {"", false},
		"LPUSHX k SUBSCRIBE":   {"", false},
		"BITFIELD_RO k":        {"", false},
		"PUBSUB NUMSUB c":      {"", false},
		"EXISTS SELECT CLIENT": {"", false},
	} {
		words := strings.Fields(line)
		require.Equal(t, want.refused, Refused(words), line)
		require.Equal(t, want.alters, Alters(words), line)
	}
}
