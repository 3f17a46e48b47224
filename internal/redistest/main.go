package redistest

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"
)

// Main runs the tests of a binary and ends it. It stops the shared server and whatever else still runs, also when the run is interrupted, and prints one line to
// stderr that says which servers the tests used, if any. go test shows no output of a package that passes when it runs several;
// so the line is also appended to the file that RUEIDISX_TEST_REPORT names.
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
	used := running.used
	running.mu.Unlock()
	if used != "" {
		report("redistest: " + used)
	}
	os.Exit(code)
}

func report(line string) {
	fmt.Fprintln(os.Stderr, line)
	name := os.Getenv("RUEIDISX_TEST_REPORT")
	if name == "" {
		return
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		fmt.Fprintln(os.Stderr, "redistest:", err)
		return
	}
	defer f.Close()
	fmt.Fprintln(f, line)
}
