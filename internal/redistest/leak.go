package redistest

import (
	"testing"
	"time"

	"go.uber.org/goleak"
)

// How long goroutines have to end after a test: a rueidis client's background goroutines go a moment after Close.
const leakTime = 5 * time.Second

// NoLeak makes the test fail if goroutines are left at its end that were not there at this call. Call it first in a test, before the servers and clients
// whose cleanup it shall see. It waits up to five seconds for goroutines to end. What this package needs for a server that still runs does not count. It is
// not for parallel tests: it sees the whole binary.
func NoLeak(tb testing.TB) {
	tb.Helper()
	ignore := []goleak.Option{
		goleak.IgnoreCurrent(),
		goleak.IgnoreAnyFunction("github.com/rueidisx/rueidisx/internal/redistest.waitForProcess"),
		goleak.IgnoreAnyFunction("github.com/rueidisx/rueidisx/internal/redistest.Main.func1"),
	}
	tb.Cleanup(func() {
		if tb.Failed() {
			return // the failure is the news
		}
		deadline := time.Now().Add(leakTime)
		err := goleak.Find(ignore...)
		for err != nil && time.Now().Before(deadline) {
			time.Sleep(10 * time.Millisecond)
			err = goleak.Find(ignore...)
		}
		if err != nil {
			tb.Errorf("redistest: goroutines are left: %v", err)
		}
	})
}
