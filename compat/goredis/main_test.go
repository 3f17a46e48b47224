package goredis_test

import (
	"context"
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

// everywhere is bothProtocols, and the same on a cluster.
func everywhere(t *testing.T, test func(t *testing.T, client rueidis.Client)) {
	bothProtocols(t, test)
	t.Run("cluster", func(t *testing.T) {
		redistest.NoLeak(t)
		cluster := redistest.NewCluster(t)
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
