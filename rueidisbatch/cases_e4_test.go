package rueidisbatch_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisbatch"
)

// E4: a bystander's worst PING while 200,000 keys are read, beside that of one giant MGET. The times are in the log; what keeps them
// small is that no command is longer than a chunk.
func TestCase_E4_Bystander(t *testing.T) {
	redistest.NoLeak(t)
	srv := redistest.Shared(t)
	plain := redistest.NewClient(t, srv)
	c, rec := recorded(t, plain)
	n := 200000
	if raceOn {
		n = 40000
	}
	keys, _ := fillKeys(t, plain, n)
	dir := fillDir(t, plain, 1, sized(20000, n))
	ctx := within(t)
	worst := func(read func()) time.Duration {
		least := time.Hour
		for range sized(2, 20) {
			least = min(least, worstPing(t, srv, read))
		}
		return least
	}
	giant := worst(func() {
		require.NoError(t, c.Do(ctx, c.B().Mget().Key(keys...).Build()).Error())
	})
	rec.taken("")
	mget := worst(func() {
		_, err := rueidisbatch.MGet(ctx, c, keys)
		require.NoError(t, err)
	})
	listing := worst(func() {
		for _, err := range rueidisbatch.Readdir(ctx, c, dir, attrKey) {
			require.NoError(t, err)
		}
	})
	t.Logf("worst PING, least of the rounds: %v during one MGET, %v during MGet, %v during Readdir", giant, mget, listing)
	require.LessOrEqual(t, longest(rec.taken("")), 4097)
	healthy(t, c)
}

// worstPing returns the longest that a PING of another client takes while read runs.
func worstPing(t testing.TB, srv *redistest.Server, read func()) (worst time.Duration) {
	other, err := rueidis.NewClient(srv.ClientOption())
	require.NoError(t, err)
	defer other.Close()
	ping := func() time.Duration {
		begin := time.Now()
		if err := other.Do(context.Background(), other.B().Ping().Build()).Error(); err != nil {
			t.Error(err)
		}
		return time.Since(begin)
	}
	ping() // dials
	stop := make(chan struct{})
	var pings sync.WaitGroup
	pings.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				worst = max(worst, ping())
			}
		}
	})
	read()
	close(stop)
	pings.Wait()
	return worst
}

// A client without connections gets its few keys by Do, and an error for many.
func TestMock(t *testing.T) {
	srv := mgetServer(t, func(*redistest.FakeConn, []string) bool { return false })
	m := mock{dial(t, srv.Addr())}
	everyShape(t, func(t *testing.T, s shape) {
		got, err := s.read(within(t), m, numbered(10))
		require.NoError(t, err)
		require.Len(t, got, 10)
		_, err = s.read(within(t), m, numbered(1000))
		require.ErrorContains(t, err, "does not hand out its connection's reader")
	})
}

// mock is a client that has no streams.
type mock struct{ rueidis.Client }

func (mock) DoMultiStream(context.Context, ...rueidis.Completed) rueidis.MultiRedisResultStream {
	return rueidis.MultiRedisResultStream{}
}
