package rueidisbatch_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidishook"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisbatch"
)

// On a cluster all sizes, options and shapes give the same as elsewhere, with each kind of client.
func TestCluster(t *testing.T) {
	redistest.NoLeak(t)
	cluster := redistest.NewCluster(t)
	plain := cluster.NewClient(t)
	for name, c := range map[string]rueidis.Client{
		"plain":    plain,
		"hook":     rueidishook.WithHook(plain, new(recorder)),
		"RESP2":    cluster.NewClient(t, func(o *rueidis.ClientOption) { o.AlwaysRESP2, o.DisableCache = true, true }),
		"nameless": nameless{plain},
		"replicas": cluster.NewClient(t, func(o *rueidis.ClientOption) {
			o.SendToReplicas = func(cmd rueidis.Completed) bool { return cmd.IsReadOnly() }
		}),
	} {
		t.Run(name, func(t *testing.T) {
			allKeys, allVals := fillKeys(t, plain, 5000)
			waitReplicas(t, cluster)
			for _, row := range optionRows {
				for _, n := range []int{0, 1, 64, 65, light(5000, 2000)} {
					if row.most > 0 {
						n = min(n, row.most)
					}
					for _, s := range shapes {
						got, err := s.read(within(t), c, allKeys[:n], row.opts...)
						require.NoError(t, err, "%s, %s, %d keys", s.name, row.name, n)
						same(t, allVals[:n], got)
					}
				}
			}
			for i, n := range []int{0, 1, 100, 5000} {
				dir := fillDir(t, plain, uint64(i+1), n)
				waitReplicas(t, cluster)
				for _, opt := range []rueidisbatch.Option{{}, rueidisbatch.WithSnapshot(), rueidisbatch.AllowReplica()} {
					if name == "nameless" && n > 1000 {
						continue // names are read from a node
					}
					got, err := list(t, within(t), c, dir, nil, opt)
					require.NoError(t, err, "%d entries", n)
					require.Equal(t, n, got)
				}
			}
		})
	}
	t.Run("wrong types", func(t *testing.T) {
		keys, vals := fillKeys(t, plain, 1000)
		require.NoError(t, plain.Do(within(t), plain.B().Del().Key(keys[500]).Build()).Error())
		require.NoError(t, plain.Do(within(t), plain.B().Lpush().Key(keys[500]).Element("x").Build()).Error())
		vals[500] = nil
		for _, s := range shapes {
			for _, opt := range []rueidisbatch.Option{{}, rueidisbatch.WithSmall(1000), rueidisbatch.AllowReplica()} {
				_, err := s.read(within(t), plain, keys, rueidisbatch.WithWrongType(rueidisbatch.WrongTypeError), opt)
				require.ErrorIs(t, err, rueidisbatch.ErrWrongType)
				require.Equal(t, []int{500}, failedKeys(err))
			}
		}
		got, err := rueidisbatch.MGet(within(t), plain, keys, rueidisbatch.WithWrongType(rueidisbatch.WrongTypeError), rueidisbatch.WithPartial())
		require.ErrorIs(t, err, rueidisbatch.ErrWrongType)
		same(t, vals, got)
		require.NoError(t, plain.Do(within(t), plain.B().Del().Key(keys[500]).Build()).Error())
	})
	t.Run("leaving", func(t *testing.T) {
		keys, _ := fillKeys(t, plain, 9000)
		mine := errors.New("mine")
		for _, at := range []int{0, 4444, 8999} {
			err := rueidisbatch.MGetFunc(within(t), plain, keys, func(i int, _ []byte) error {
				if i == at {
					return mine
				}
				return nil
			}, rueidisbatch.WithChunk(500))
			require.True(t, err == mine, "%v", err)
			require.PanicsWithValue(t, "mine", func() {
				_ = rueidisbatch.MGetFunc(within(t), plain, keys, func(i int, _ []byte) error {
					if i == at {
						panic("mine")
					}
					return nil
				}, rueidisbatch.WithChunk(500))
			})
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		for _, s := range shapes {
			for _, small := range []int{0, 9000} {
				_, err := s.read(ctx, plain, keys, rueidisbatch.WithSmall(small))
				require.ErrorIs(t, err, context.Canceled)
			}
		}
	})
	t.Run("errors of a node", func(t *testing.T) {
		keys, vals := fillKeys(t, plain, 3000)
		node := cluster.NodeOf(t, cluster.Slot(t, keys[2]))
		node.Do(t, "ACL", "SETUSER", "default", "-mget")
		for _, s := range shapes {
			for _, opt := range []rueidisbatch.Option{{}, rueidisbatch.WithSmall(3000), rueidisbatch.WithChunk(100)} {
				_, err := s.read(within(t), plain, keys, opt)
				require.ErrorContains(t, err, "NOPERM")
				require.NotEmpty(t, failedKeys(err))
			}
		}
		got, err := rueidisbatch.MGet(within(t), plain, keys, rueidisbatch.WithPartial())
		require.ErrorContains(t, err, "NOPERM")
		failed := failedKeys(err)
		require.Greater(t, len(failed), 500)
		require.Less(t, len(failed), 1500)
		for i := range keys {
			if _, lost := slices.BinarySearch(failed, i); lost {
				require.Nil(t, got[i])
			} else {
				require.Equal(t, string(vals[i]), string(got[i]))
			}
		}
		node.Do(t, "ACL", "SETUSER", "default", "+mget")
	})
	healthyCluster(t, plain)
}

func waitReplicas(t testing.TB, cluster *redistest.Cluster) {
	t.Helper()
	for _, n := range cluster.Nodes[:3] {
		n.Do(t, "WAIT", "1", "5000")
	}
}

func healthyCluster(t testing.TB, c rueidis.Client) {
	for i := range 100 {
		key := fmt.Sprint("healthy:", i)
		require.NoError(t, c.Do(within(t), c.B().Set().Key(key).Value(key).Build()).Error())
		got, err := rueidisbatch.MGet(within(t), c, []string{key}, rueidisbatch.WithSmall(i%2))
		require.NoError(t, err)
		require.Equal(t, key, string(got[0]))
	}
}

// nameless is a client of a cluster whose nodes have other names than the cluster gives them.
type nameless struct{ rueidis.Client }

func (nameless) Nodes() map[string]rueidis.Client { return nil }

// fewRoundTrips is F2: with keys of many slots, a pipeline holds many MGETs; with keys of one slot there is one MGET a chunk.
func fewRoundTrips(t *testing.T, plain rueidis.Client) {
	c, rec := recorded(t, plain)
	keys := numbered(10000)
	_, err := rueidisbatch.MGet(within(t), c, keys)
	require.NoError(t, err)
	brackets, gets := 0, 0
	for _, cmd := range rec.taken("") {
		switch cmd[0] {
		case "PING":
			brackets++
		case "MGET":
			gets++
		}
	}
	brackets /= 2
	require.LessOrEqual(t, gets, 8000, "keys of one slot go together")
	require.LessOrEqual(t, brackets, 3*4+3, "pipelines of about a thousand")
	var tagged []string
	for i := range 10000 {
		tagged = append(tagged, fmt.Sprint("{tag}", i))
	}
	_, err = rueidisbatch.MGet(within(t), c, tagged)
	require.NoError(t, err)
	cmds := rec.taken("MGET")
	require.Len(t, cmds, 3)
	require.LessOrEqual(t, longest(cmds), 4097)
	_, err = rueidisbatch.MGet(within(t), c, tagged[:50])
	require.NoError(t, err)
	require.Len(t, rec.taken(""), 1, "one command over the shared connection")
}

// movingSlot is F7: in each state of a slot on the move, results are full and right.
func movingSlot(t *testing.T, cluster *redistest.Cluster) {
	var keys []string
	var vals [][]byte
	c := cluster.NewClient(t)
	for i := range 200 {
		key := fmt.Sprint("{moving}", i)
		keys = append(keys, key)
		if i%7 == 0 {
			vals = append(vals, nil)
			continue
		}
		vals = append(vals, []byte(key))
		require.NoError(t, c.Do(within(t), c.B().Set().Key(key).Value(key).Build()).Error())
	}
	slot := cluster.Slot(t, keys[0])
	from := cluster.NodeOf(t, slot)
	var to *redistest.Server
	for _, n := range cluster.Nodes[:3] {
		if n.Addr != from.Addr {
			to = n
		}
	}
	check := func(state string) {
		t.Helper()
		for name, c := range map[string]rueidis.Client{"known": c, "new": cluster.NewClient(t)} {
			for _, s := range shapes {
				for _, opts := range [][]rueidisbatch.Option{nil, {rueidisbatch.WithSmall(1000)}, {rueidisbatch.WithSmall(0), rueidisbatch.WithChunk(30)}, {rueidisbatch.AllowReplica()}} {
					got, err := s.read(within(t), c, keys, opts...) // it does not wait for the end of the move, which never comes
					require.NoError(t, err, "%s, %s, %s", state, name, s.name)
					same(t, vals, got)
				}
			}
		}
	}
	check("at rest")
	cluster.StartMove(t, slot, to)
	check("none moved")
	cluster.MoveKeys(t, slot, to, keys[1:100]...)
	check("half of them moved")
	cluster.MoveKeys(t, slot, to, keys[100:]...)
	check("all of them moved")
	cluster.FinishMove(t, slot, to)
	check("moved")
	cluster.MoveSlot(t, slot, from)
	check("and back")
}

// movingUnderLoad is F9: slots move while many goroutines read; commands are built anew for each try.
func movingUnderLoad(t *testing.T, cluster *redistest.Cluster) {
	c := cluster.NewClient(t)
	keys, vals := fillKeys(t, c, 2000)
	end := time.Now().Add(time.Duration(sized(3, 600)) * time.Second)
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for time.Now().Before(end) {
				s := shapes[g%len(shapes)]
				got, err := s.read(context.Background(), c, keys, rueidisbatch.WithChunk(100+300*g))
				if err != nil {
					t.Error(s.name, err)
					return
				}
				for i := range vals {
					if string(got[i]) != string(vals[i]) {
						t.Errorf("%s: key %d: %q", s.name, i, got[i])
						return
					}
				}
			}
		})
	}
	for i := 2; time.Now().Before(end); i++ {
		slot := cluster.Slot(t, keys[i])
		from := cluster.NodeOf(t, slot)
		for _, n := range cluster.Nodes[:3] {
			if n.Addr != from.Addr {
				cluster.MoveSlot(t, slot, n)
				break
			}
		}
	}
	all.Wait()
}

func TestCase_F2_FewRoundTrips(t *testing.T) {
	redistest.NoLeak(t)
	fewRoundTrips(t, redistest.NewCluster(t).NewClient(t))
}

func TestCase_F7_KeysMoveInFlight(t *testing.T) {
	redistest.NoLeak(t)
	movingSlot(t, redistest.NewCluster(t))
}

func TestCase_F9_CommandsAreBuiltAnew(t *testing.T) {
	redistest.NoLeak(t)
	movingUnderLoad(t, redistest.NewCluster(t))
}

// A node that is restarted, and one that is down.
func TestClusterNodeDown(t *testing.T) {
	redistest.NoLeak(t)
	cluster := redistest.NewCluster(t)
	c := cluster.NewClient(t)
	keys, vals := fillKeys(t, c, 3000)
	for _, s := range shapes {
		got, err := s.read(within(t), c, keys)
		require.NoError(t, err)
		same(t, vals, got)
	}
	waitReplicas(t, cluster)
	cluster.KillPrimary(t, cluster.Slot(t, keys[2]))
	cluster.WaitOK(t)
	for _, s := range shapes {
		got, err := s.read(within(t), c, keys)
		require.NoError(t, err)
		same(t, vals, got)
	}
	for range 100 {
		got, err := rueidisbatch.MGet(within(t), c, keys[:50])
		require.NoError(t, err)
		same(t, vals[:50], got)
	}
}
