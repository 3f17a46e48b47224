package redistest

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"
)

// Main runs the tests of a binary and ends it. It stops the shared server and whatever else still runs, also when the run is interrupted, and prints one line to
// stderr that says which servers the tests used, if any.
func Main(m *testing.M) {
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-interrupted
		stopAll()
		os.Exit(1)
	}()
	code := m.Run()
	stopAll()
	running.mu.Lock()
	if running.used != "" {
		fmt.Fprintln(os.Stderr, "redistest:", running.used)
	}
	running.mu.Unlock()
	os.Exit(code)
}
