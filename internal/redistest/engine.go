package redistest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// spec says how one server is to be started.
type spec struct {
	port  int
	at    endpoint          // where to ask whether it is up; launch fills in the address
	args  []string          // beside those that every server gets
	conf  string            // a file from files that the server shall take as its configuration file, "" for none
	files map[string]string // in the server's working directory, by name
}

// node is one server that was started.
type node interface {
	stop(ctx context.Context) error
	start(ctx context.Context) error
	pause(ctx context.Context, on bool) error
	dead(ctx context.Context) bool // for certain: a server elsewhere that answers at its port is not this one
	output() string                // the end of what it wrote
}

// engine starts servers.
type engine interface {
	name() string // "container" or "process"
	from() string // the image or the binary
	// launch starts a group of servers that reach each other, and the test, at 127.0.0.1. Nothing remains of a group that failed. The group ends with remove.
	launch(ctx context.Context, group []spec) (nodes []node, remove func(), err error)
}

// chosen is the engine of this test binary.
var chosen struct {
	once   sync.Once
	engine engine
	err    error
}

// useEngine returns the engine. Where there is none, it skips the test, or fails it if servers are required or the image was named.
func useEngine(tb testing.TB) engine {
	tb.Helper()
	chosen.once.Do(func() { chosen.engine, chosen.err = chooseEngine() })
	if chosen.err == nil {
		return chosen.engine
	}
	asked := os.Getenv("RUEIDISX_TEST_IMAGE") != "" && !errors.Is(chosen.err, errNoDocker) // an image that cannot be had
	if asked || os.Getenv("RUEIDISX_REQUIRE_SERVER") != "" {
		tb.Fatalf("redistest: no server to test with: %v", chosen.err)
	}
	tb.Skipf("redistest: no server to test with: %v", chosen.err)
	return nil
}

func chooseEngine() (engine, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute) // an image may have to be made or pulled
	defer cancel()
	switch want := os.Getenv("RUEIDISX_TEST_ENGINE"); want {
	case "container":
		return newContainers(ctx)
	case "process":
		return newProcesses()
	case "", "auto":
		containers, err := newContainers(ctx)
		if err == nil {
			return containers, nil
		}
		if os.Getenv("RUEIDISX_TEST_IMAGE") != "" && !errors.Is(err, errNoDocker) {
			return nil, err // somebody asked for this image: another server would not do
		}
		processes, perr := newProcesses()
		if perr != nil {
			return nil, fmt.Errorf("%w; and %w", err, perr)
		}
		return processes, nil
	default:
		return nil, fmt.Errorf("RUEIDISX_TEST_ENGINE is %q; it may be container, process or auto", want)
	}
}

// commonArgs are what every server is started with.
func commonArgs(port int) []string {
	return []string{"--port", fmt.Sprint(port), "--protected-mode", "no", "--save", "", "--appendonly", "no"}
}

// ready waits until the server answers. LOADING and the like are not yet an answer.
func ready(ctx context.Context, n node, s spec) error {
	var last error
	for i := 0; ; i++ {
		if _, last = s.at.do("PING"); last == nil {
			return nil
		}
		if i%20 == 19 && n.dead(ctx) {
			return &endedError{s.at.addr, n.output()}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the server at %s does not answer: %w: %s", s.at.addr, last, n.output())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// endedError says that a server ended by itself.
type endedError struct{ addr, output string }

func (e *endedError) Error() string { return "the server at " + e.addr + " ended: " + e.output }

// hopeless reports whether another attempt would end the same way.
func hopeless(err error) bool {
	var ended *endedError
	return errors.As(err, &ended) && !strings.Contains(ended.output, "in use") // as when somebody took the port
}
