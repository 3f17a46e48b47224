package redistest

import (
	"context"
	"sync"
	"testing"
	"time"
)

const (
	launchTime  = 60 * time.Second // for a group to be up
	launchTries = 5                // another process may take a port first
)

// running holds what has to be stopped before the test binary ends, whoever started it.
var running struct {
	mu      sync.Mutex
	removes map[int]func()
	last    int
	used    string // the line for Main
}

// launchGroup starts n servers whose specs describe makes from their ports, and returns them with the function that stops them for good.
func launchGroup(tb testing.TB, n int, describe func(ports []int) []spec) ([]*Server, func()) {
	tb.Helper()
	eng := useEngine(tb)
	var err error
	for range launchTries {
		ports := givenPorts.take(tb, n)
		group := describe(ports)
		for i := range group {
			group[i].at.addr = local(group[i].port)
		}
		ctx, cancel := context.WithTimeout(context.Background(), launchTime)
		var nodes []node
		var remove func()
		if nodes, remove, err = eng.launch(ctx, group); err == nil {
			cancel()
			return servers(tb, eng, group, nodes), register(func() {
				remove()
				givenPorts.giveBack(ports)
			})
		}
		cancel()
		givenPorts.giveBack(ports)
		if hopeless(err) {
			break
		}
	}
	tb.Fatalf("redistest: %s (%s): %v", eng.name(), eng.from(), err)
	return nil, nil
}

// startGroup is launchGroup until the end of the test.
func startGroup(tb testing.TB, n int, describe func(ports []int) []spec) []*Server {
	tb.Helper()
	servers, remove := launchGroup(tb, n, describe)
	tb.Cleanup(remove)
	return servers
}

// register makes remove known to stopAll, and safe to be called by both.
func register(remove func()) func() {
	running.mu.Lock()
	defer running.mu.Unlock()
	if running.removes == nil {
		running.removes = map[int]func(){}
	}
	running.last++
	id, once := running.last, sync.Once{}
	stop := func() {
		once.Do(remove)
		running.mu.Lock()
		defer running.mu.Unlock()
		delete(running.removes, id)
	}
	running.removes[id] = stop
	return stop
}

// stopAll stops what still runs.
func stopAll() {
	running.mu.Lock()
	var removes []func()
	for _, remove := range running.removes {
		removes = append(removes, remove)
	}
	running.mu.Unlock()
	var all sync.WaitGroup
	for _, remove := range removes {
		all.Go(remove)
	}
	all.Wait()
}
