package redistest_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
)

func ctx(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func setAndGet(t *testing.T, client rueidis.Client, key string) {
	t.Helper()
	require.NoError(t, client.Do(ctx(t), client.B().Set().Key(key).Value("v").Build()).Error())
	got, err := client.Do(ctx(t), client.B().Get().Key(key).Build()).ToString()
	require.NoError(t, err)
	require.Equal(t, "v", got)
}

func TestShared(t *testing.T) {
	redistest.NoLeak(t)
	server := redistest.Shared(t)
	setAndGet(t, redistest.NewClient(t, server), "k")
	require.Equal(t, "1", server.Do(t, "DBSIZE"))
	require.Same(t, server, redistest.Shared(t))
	require.Equal(t, "0", redistest.RawDo(t, server.Addr, "DBSIZE"), "emptied")
	require.NotEmpty(t, server.Version)
	require.Contains(t, []string{"redis", "valkey"}, server.Flavor)
	require.True(t, server.AtLeast(6, 0))
	require.False(t, server.AtLeast(99, 0))
}

func TestStandalone(t *testing.T) {
	redistest.NoLeak(t)
	server := redistest.Standalone(t, "--client-output-buffer-limit", "normal 1mb 0 0")
	require.Contains(t, server.Do(t, "CONFIG", "GET", "client-output-buffer-limit"), "normal 1048576 0 0")
	client := redistest.NewClient(t, server, func(o *rueidis.ClientOption) { o.DisableCache = true })
	setAndGet(t, client, "k")

	server.Restart(t)
	require.Equal(t, "0", server.Do(t, "DBSIZE"))
	require.Eventually(t, func() bool {
		return client.Do(ctx(t), client.B().Set().Key("k").Value("again").Build()).Error() == nil
	}, 10*time.Second, 10*time.Millisecond)

	server.Pause(t)
	short, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, client.Do(short, client.B().Get().Key("k").Build()).Error(), context.DeadlineExceeded)
	server.Unpause(t)
	require.Eventually(t, func() bool { // the client gave the connection up, and may still be at it
		return client.Do(ctx(t), client.B().Set().Key("k").Value("once more").Build()).Error() == nil
	}, 10*time.Second, 10*time.Millisecond)

	server.Stop(t)
	require.Error(t, client.Do(ctx(t), client.B().Set().Key("k").Value("v").Build()).Error())
}

func TestStandaloneStopsWhilePaused(t *testing.T) {
	redistest.NoLeak(t)
	redistest.Standalone(t).Pause(t)
}
