package redistest

import (
	"strings"
	"sync"
	"testing"
)

// shared is the server that Shared hands out.
var shared struct {
	mu     sync.Mutex
	server *Server
}

// Shared returns the one server that the tests of a binary share, emptied by FLUSHALL. It starts at the first call and ends with [Main]. Tests that run in parallel
// or change its configuration take [Standalone].
func Shared(tb testing.TB) *Server {
	tb.Helper()
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.server == nil {
		servers, _ := launchGroup(tb, 1, standaloneSpec(nil))
		shared.server = servers[0]
	}
	shared.server.Do(tb, "FLUSHALL")
	return shared.server
}

// Standalone starts a server of the test's own with additional server arguments, such as "--client-output-buffer-limit", "normal 1mb 0 0": an argument with spaces
// is taken for several. It is stopped when the test ends.
func Standalone(tb testing.TB, args ...string) *Server {
	tb.Helper()
	return startGroup(tb, 1, standaloneSpec(args))[0]
}

func standaloneSpec(args []string) func(ports []int) []spec {
	var words []string
	for _, arg := range args {
		if strings.Contains(arg, " ") {
			words = append(words, strings.Fields(arg)...) // Redis before 7.0 does not split them
		} else {
			words = append(words, arg)
		}
	}
	return func(ports []int) []spec { return []spec{{port: ports[0], args: words}} }
}
