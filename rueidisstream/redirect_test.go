package rueidisstream_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

// another returns a primary that does not have the slot.
func another(t testing.TB, cluster *redistest.Cluster, slot int) *redistest.Server {
	for _, n := range cluster.Nodes[:3] {
		if n.Addr != cluster.NodeOf(t, slot).Addr {
			return n
		}
	}
	t.Fatal("no other primary")
	return nil
}

// I1, L5: a slot on the move. ASK and MOVED are followed before anything is delivered, for reads and for writes; their text never
// reaches the caller, the bytes come once, and after a MOVED the client knows.
func TestCase_I1_SlotOnTheMove(t *testing.T) {
	redistest.NoLeak(t)
	cluster := redistest.NewCluster(t)
	c := cluster.NewClient(t, casePool(1))
	ctx := caseContext(t)
	fillWays(t, c)
	slot := cluster.Slot(t, "{w}")
	to := another(t, cluster, slot)
	cluster.StartMove(t, slot, to)
	everything(t, c)
	cluster.MoveKeys(t, slot, to, "{w}string", "{w}set")
	t.Run("ASK", func(t *testing.T) {
		for range 3 {
			var b strings.Builder
			_, err := rueidisstream.Copy(ctx, c, c.B().Get().Key("{w}string").Build(), &b)
			require.NoError(t, err)
			require.Equal(t, "value", b.String())
			n := 0
			for _, err := range rueidisstream.Values(ctx, c, c.B().Smembers().Key("{w}set").Build()) {
				require.NoError(t, err)
				n++
			}
			require.Equal(t, 1000, n)
			for p, err := range rueidisstream.Pairs(ctx, c, c.B().Hgetall().Key("{w}hash").Build()) {
				require.NoError(t, err, "still where it was")
				require.Equal(t, "f", p.Key.String())
			}
			r, err := rueidisstream.Do(ctx, c, c.B().Append().Key("{w}new").Value("x").Build())
			require.NoError(t, err, "a write")
			require.NoError(t, r.Close())
		}
		got, err := c.Do(ctx, c.B().Get().Key("{w}new").Build()).ToString()
		require.NoError(t, err)
		require.Equal(t, "xxx", got, "each once")
	})
	t.Run("TRYAGAIN", func(t *testing.T) {
		mget := c.B().Mget().Key("{w}string", "{w}other", "{w}hash").Build()
		time.AfterFunc(300*time.Millisecond, func() { to.Do(t, "SET", "unrelated", "x") })
		done := make(chan struct{})
		go func() {
			defer close(done)
			time.Sleep(200 * time.Millisecond)
			cluster.FinishMove(t, slot, to)
		}()
		var got []string
		for v, err := range rueidisstream.Values(ctx, c, mget) {
			require.NoError(t, err)
			got = append(got, v.String())
		}
		require.Equal(t, []string{"value", "", ""}, got)
		<-done
	})
	t.Run("MOVED", func(t *testing.T) {
		fresh := cluster.NewClient(t, casePool(1))
		everything(t, fresh)
		everything(t, c)
		back := another(t, cluster, slot)
		cluster.MoveSlot(t, slot, back)
		everything(t, fresh)
		require.Eventually(t, func() bool {
			s := fresh.DoStream(ctx, fresh.B().Get().Key("{w}string").Build())
			var b strings.Builder
			_, err := s.WriteTo(&b)
			return err == nil && b.String() == "value"
		}, 10*time.Second, 50*time.Millisecond, "the client knows the node")
	})
}

// While slots move to and fro, every stream gives the whole right reply.
func TestMovingSlots(t *testing.T) {
	redistest.NoLeak(t)
	cluster := redistest.NewCluster(t)
	c := cluster.NewClient(t, casePool(8))
	fillWays(t, c)
	slot := cluster.Slot(t, "{w}")
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
			defer cancel()
			for {
				select {
				case <-stop:
					return
				default:
				}
				seen := map[string]bool{}
				for v, err := range rueidisstream.Values(ctx, c, c.B().Smembers().Key("{w}set").Build()) {
					if err != nil {
						t.Error(err)
						return
					}
					seen[v.String()] = true
				}
				var b strings.Builder
				_, err := rueidisstream.Copy(ctx, c, c.B().Get().Key("{w}string").Build(), &b)
				if err != nil || b.String() != "value" || len(seen) != 1000 {
					t.Error(err, b.String(), len(seen))
					return
				}
			}
		}()
	}
	moves := 20
	if testing.Short() {
		moves = 4
	}
	for range moves {
		cluster.MoveSlot(t, slot, another(t, cluster, slot))
	}
	close(stop)
	wg.Wait()
	everything(t, c)
}

// A server that is not ready yet is waited for by commands that only read, within the context.
func TestNotReady(t *testing.T) {
	for _, answer := range []string{"LOADING Redis is loading the dataset in memory", "CLUSTERDOWN The cluster is down", "TRYAGAIN Multiple keys"} {
		t.Run(strings.Fields(answer)[0], func(t *testing.T) {
			redistest.NoLeak(t)
			var mu sync.Mutex
			refuse := 3
			f := redistest.NewFake(t, func(c *redistest.FakeConn, cmd []string) {
				mu.Lock()
				defer mu.Unlock()
				if refuse > 0 {
					refuse--
					c.Write("-" + answer + "\r\n")
					return
				}
				c.Write(redistest.Bulk(strings.Join(cmd, " ")))
			})
			c := caseDial(t, f.Addr(), casePool(1), func(o *rueidis.ClientOption) { o.DisableCache = true })
			ctx := caseContext(t)
			r, err := rueidisstream.Do(ctx, c, caseReadOnly(c, "READ", "1"))
			require.NoError(t, err)
			require.Equal(t, "READ 1", value(t, r))
			require.NoError(t, r.Close())
			mu.Lock()
			refuse = 1
			mu.Unlock()
			_, err = rueidisstream.Do(ctx, c, caseWords(c, "WRITE", "1"))
			require.EqualError(t, err, answer, "a write is not repeated")
			mu.Lock()
			refuse = 1 << 30
			mu.Unlock()
			short, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
			defer cancel()
			begin := time.Now()
			_, err = rueidisstream.Do(short, c, caseReadOnly(c, "READ", "2"))
			require.Error(t, err)
			require.Less(t, time.Since(begin), 5*time.Second)
		})
	}
}

// A primary that is killed: reads come right once its replica has taken over.
func TestFailover(t *testing.T) {
	redistest.NoLeak(t)
	cluster := redistest.NewCluster(t)
	c := cluster.NewClient(t, casePool(4))
	fillWays(t, c)
	slot := cluster.Slot(t, "{w}")
	time.Sleep(200 * time.Millisecond) // replication
	done := make(chan error, 1)
	stop := make(chan struct{})
	go func() {
		ctx := caseContext(t)
		for i := 0; ; i++ {
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
			var b strings.Builder
			if _, err := rueidisstream.Copy(ctx, c, c.B().Get().Key("{w}string").Build(), &b); err == nil && b.String() != "value" {
				done <- fmt.Errorf("wrong: %q", b.String())
				return
			}
		}
	}()
	cluster.KillPrimary(t, slot)
	require.Eventually(t, func() bool {
		r, err := rueidisstream.Do(caseContext(t), c, c.B().Get().Key("{w}string").Build())
		if err != nil {
			return false
		}
		defer r.Close()
		return value(t, r) == "value"
	}, 30*time.Second, 10*time.Millisecond)
	close(stop)
	require.NoError(t, <-done)
	everything(t, c)
}
