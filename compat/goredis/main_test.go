package goredis_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/rueidisx/rueidisx/internal/redistest"
)

// newContext returns a context that ends what hangs.
func newContext(tb testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	tb.Cleanup(cancel)
	return ctx
}

// bothProtocols runs a test over RESP3 and RESP2, on the shared server.
func bothProtocols(t *testing.T, test func(t *testing.T, client rueidis.Client)) {
	for _, p := range []struct {
		name  string
		resp2 bool
	}{{"RESP3", false}, {"RESP2", true}} {
		t.Run(p.name, func(t *testing.T) {
			srv := redistest.Shared(t)
			redistest.NoLeak(t)
			test(t, redistest.NewClient(t, srv, func(o *rueidis.ClientOption) { o.AlwaysRESP2 = p.resp2; o.DisableCache = p.resp2 }))
		})
	}
}

// everywhere is bothProtocols, and the same on a cluster, where leaks are not looked for: rueidis keeps a goroutine there for up to 5
// seconds after Close, and tests of their own have it.
func everywhere(t *testing.T, test func(t *testing.T, client rueidis.Client)) {
	bothProtocols(t, test)
	t.Run("cluster", func(t *testing.T) {
		cluster := sharedCluster(t)
		for _, p := range []struct {
			name  string
			resp2 bool
		}{{"RESP3", false}, {"RESP2", true}} {
			t.Run(p.name, func(t *testing.T) {
				test(t, cluster.NewClient(t, func(o *rueidis.ClientOption) { o.AlwaysRESP2 = p.resp2; o.DisableCache = p.resp2 }))
			})
		}
	})
}

// lasting is a testing.TB for what lasts until redistest.Main ends it.
type lasting struct{ testing.TB }

func (lasting) Cleanup(func()) {}

var (
	clusterOnce sync.Mutex
	theCluster  *redistest.Cluster
)

// sharedCluster returns the one cluster of tests that change nothing but keys, empty.
func sharedCluster(t *testing.T) *redistest.Cluster {
	clusterOnce.Lock()
	defer clusterOnce.Unlock()
	if theCluster == nil {
		theCluster = redistest.NewCluster(lasting{t})
	}
	for _, node := range theCluster.Nodes[:3] { // the primaries
		node.Do(t, "FLUSHALL")
	}
	return theCluster
}
