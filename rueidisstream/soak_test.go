package rueidisstream_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

const (
	soakKeys    = 12 // of each type
	soakMembers = 1000
	soakPool    = 8
	soakGrace   = 10 * time.Second // for clients to find their way after a failover
)

// soakTime is how long TestClusterSoak runs: RUEIDISX_TEST_SOAK, such as 60s, or 15 s.
func soakTime(t *testing.T) time.Duration {
	s := os.Getenv("RUEIDISX_TEST_SOAK")
	if s == "" {
		return 15 * time.Second
	}
	d, err := time.ParseDuration(s)
	require.NoError(t, err)
	return d
}

// soak is a cluster under load.
type soak struct {
	cluster *redistest.Cluster
	clients []rueidis.Client
	slots   []int // of the keys that are read; they move

	// When a primary is down, and a while after, commands may fail. Times are nanoseconds.
	downFrom, downTo atomic.Int64

	counts   [soakKeys]soakCount
	done     [6]atomic.Int64 // calls of each kind that were right
	failures sync.Map        // text of an error to how often, as *atomic.Int64
}

// soakCount is what became of the INCRs of one key.
type soakCount struct{ sure, perhaps atomic.Int64 }

// A cluster of 3 + 3 nodes under load, while slots move to and fro, and a primary is killed and comes back: every stream is whole
// and right or ends with one error, which comes only while and after the primary is down; nothing comes twice; no write is executed
// twice. Afterwards all is as quiet as before.
func TestClusterSoak(t *testing.T) {
	redistest.NoLeak(t)
	s := &soak{cluster: redistest.NewCluster(t)}
	for i, adjust := range []func(rueidis.ClientOption) rueidis.ClientOption{
		func(o rueidis.ClientOption) rueidis.ClientOption { return o },
		rueidisstream.Dial,
	} {
		opt := s.cluster.ClientOption()
		opt.BlockingPoolSize, opt.ClientName = soakPool, fmt.Sprint("soak:", i)
		c, err := rueidis.NewClient(adjust(opt))
		require.NoError(t, err)
		t.Cleanup(c.Close)
		s.clients = append(s.clients, c)
	}
	s.fill(t)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := g; ; i++ {
				select {
				case <-stop:
					return
				default:
					s.call(t, i%len(s.done), s.clients[g%2], rand.IntN(soakKeys))
				}
			}
		})
	}
	moves := s.disturb(t, soakTime(t))
	close(stop)
	advEnds(t, "streams after the soak", wg.Wait)
	s.report(t, moves)
	s.quiet(t)
}

func (s *soak) fill(t *testing.T) {
	c, ctx := s.clients[0], caseContext(t)
	for i := range soakKeys {
		key := strconv.Itoa(i)
		require.NoError(t, c.Do(ctx, c.B().Set().Key("string:"+key).Value(soakString(i)).Build()).Error())
		sadd, rpush := c.B().Sadd().Key("set:"+key).Member(soakMember(i, 0)), c.B().Rpush().Key("list:"+key).Element(soakMember(i, 0))
		for m := 1; m < soakMembers; m++ {
			sadd, rpush = sadd.Member(soakMember(i, m)), rpush.Element(soakMember(i, m))
		}
		require.NoError(t, c.Do(ctx, sadd.Build()).Error())
		require.NoError(t, c.Do(ctx, rpush.Build()).Error())
		for _, kind := range []string{"string:", "set:", "list:", "count:"} {
			s.slots = append(s.slots, s.cluster.Slot(t, kind+key))
		}
	}
}

func soakString(i int) string    { return strings.Repeat(fmt.Sprintf("[string %d]", i), 10_000) }
func soakMember(i, m int) string { return fmt.Sprintf("%d:member:%d", i, m) }
func soakMembersOf(i int) []string {
	all := make([]string, soakMembers)
	for m := range all {
		all[m] = soakMember(i, m)
	}
	return all
}

// call does one call and judges it.
func (s *soak) call(t *testing.T, kind int, c rueidis.Client, i int) {
	ctx, cancel := context.WithTimeout(context.Background(), advTime)
	defer cancel()
	begin, key := time.Now(), strconv.Itoa(i)
	var err error
	wrong := ""
	check := func(got, want string) {
		if err == nil && got != want {
			wrong = fmt.Sprintf("%d bytes, not %d: %.60q", len(got), len(want), got)
		} else if err != nil && !strings.HasPrefix(want, got) {
			wrong = fmt.Sprintf("no beginning of what it should be: %.60q", got)
		}
	}
	elements := func(got []string, sorted bool) {
		want := soakMembersOf(i)
		if sorted { // they came in no order
			if slices.Sort(got); len(slices.Compact(slices.Clone(got))) != len(got) {
				wrong = "an element came twice"
			}
			slices.Sort(want)
			for _, g := range got {
				if _, ok := slices.BinarySearch(want, g); !ok {
					wrong = fmt.Sprintf("%.60q is not of the key", g)
				}
			}
		} else if len(got) > len(want) || !slices.Equal(got, want[:len(got)]) {
			wrong = "other elements than in the key"
		}
		if err == nil && len(got) != len(want) {
			wrong = fmt.Sprintf("%d elements", len(got))
		}
	}
	collect := func(seq func(func(rueidisstream.Value, error) bool)) (got []string) {
		for v, e := range seq {
			if err != nil {
				wrong = "something comes after the error"
			}
			if err = e; e == nil {
				got = append(got, v.String())
			}
		}
		return got
	}
	switch kind {
	case 0:
		var b strings.Builder
		_, err = rueidisstream.Copy(ctx, c, c.B().Get().Key("string:"+key).Build(), &b)
		check(b.String(), soakString(i))
	case 1:
		elements(collect(rueidisstream.Values(ctx, c, c.B().Lrange().Key("list:"+key).Start(0).Stop(-1).Build())), false)
	case 2:
		elements(collect(rueidisstream.Members(ctx, c, "set:"+key)), true)
	case 3:
		elements(collect(rueidisstream.Members(ctx, c, "set:"+key, rueidisstream.WithScan(100))), true)
	case 4:
		var cmds []rueidis.Completed
		for j := range soakKeys {
			cmds = append(cmds, c.B().Get().Key(fmt.Sprint("string:", j)).Build())
		}
		j := 0
		for r, e := range rueidisstream.DoMulti(ctx, c, cmds).All() {
			var b []byte
			if e == nil {
				b, e = io.ReadAll(r)
			}
			if e == nil && string(b) != soakString(j) {
				wrong = fmt.Sprintf("reply %d of a pipeline: %.60q", j, b)
			}
			err = errors.Join(err, e)
			j++
		}
		if err == nil && j != soakKeys {
			wrong = fmt.Sprintf("%d replies", j)
		}
	case 5:
		var r *rueidisstream.Reader
		if r, err = rueidisstream.Do(ctx, c, c.B().Incr().Key("count:"+key).Build()); err == nil {
			_, err = r.Value()
			err = errors.Join(err, r.Close())
		}
		var refused *rueidis.RedisError
		if err == nil {
			s.counts[i].sure.Add(1)
		} else if !errors.As(err, &refused) {
			s.counts[i].perhaps.Add(1)
		}
	}
	s.judge(t, kind, begin, err, wrong)
}

// judge fails the test if a call was wrong, or had an error that it may not have.
func (s *soak) judge(t *testing.T, kind int, begin time.Time, err error, wrong string) {
	name := [...]string{"Copy", "Values", "Members", "Members by pages", "DoMulti", "INCR"}[kind]
	if wrong != "" {
		t.Errorf("%s: %s (error: %v)", name, wrong, err)
	}
	if err == nil {
		s.done[kind].Add(1)
		return
	}
	n, _ := s.failures.LoadOrStore(fmt.Sprintf("%s: %.200s", name, digits(err.Error())), new(atomic.Int64))
	n.(*atomic.Int64).Add(1)
	var refused *rueidis.RedisError
	var network *net.OpError
	if !errors.As(err, &refused) && !errors.As(err, &network) && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, context.DeadlineExceeded) &&
		!errors.Is(err, rueidisstream.ErrStalled) && !errors.Is(err, rueidis.ErrNoSlot) && !strings.Contains(err.Error(), "no primary has slot") {
		t.Errorf("%s: not one of the errors that are due: %v", name, err)
	}
	if errors.Is(err, io.EOF) {
		t.Errorf("%s: an end that is none: %v", name, err)
	}
	from, to := s.downFrom.Load(), s.downTo.Load()
	if now := time.Now().UnixNano(); from == 0 || now < from || to != 0 && begin.UnixNano() > to+int64(soakGrace) {
		t.Errorf("%s: while all primaries were there: %v", name, err)
	}
}

// digits makes the digits of a text the same, so that ports do not make errors differ.
func digits(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return '#'
		}
		return r
	}, s)
}

// disturb moves slots for so long, and kills a primary on the way. It returns how many slots have moved.
func (s *soak) disturb(t *testing.T, d time.Duration) (moves int) {
	begin, killed := time.Now(), false
	for time.Since(begin) < d && !t.Failed() {
		slot := s.slots[rand.IntN(len(s.slots))]
		to := s.otherPrimary(t, slot)
		s.cluster.StartMove(t, slot, to)
		if !killed && time.Since(begin) > d/3 {
			killed = true
			s.kill(t, slot, to)
		}
		time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond) // with ASK
		s.cluster.FinishMove(t, slot, to)
		moves++
	}
	return moves
}

// kill kills the primary that has no part in the move of the slot, while that goes on, and brings it back.
func (s *soak) kill(t *testing.T, slot int, to *redistest.Server) {
	from := s.cluster.NodeOf(t, slot)
	for _, other := range s.slots {
		if p := s.cluster.NodeOf(t, other); p.Addr != from.Addr && p.Addr != to.Addr {
			s.downFrom.Store(time.Now().UnixNano())
			stopped, successor := s.cluster.KillPrimary(t, other)
			t.Logf("killed %s, %s took over after %v", stopped.Addr, successor.Addr, time.Since(time.Unix(0, s.downFrom.Load())))
			stopped.Start(t)
			s.cluster.WaitOK(t)
			s.downTo.Store(time.Now().UnixNano())
			return
		}
	}
	t.Error("all slots are on two primaries")
}

// otherPrimary returns a primary that does not have the slot.
func (s *soak) otherPrimary(t *testing.T, slot int) *redistest.Server {
	has := s.cluster.NodeOf(t, slot).Addr
	others := map[string]*redistest.Server{}
	for _, at := range []int{0, 5000, 10000, 16383} { // slots that do not move, of all three
		if p := s.cluster.NodeOf(t, at); p.Addr != has {
			others[p.Addr] = p
		}
	}
	addrs := slices.Collect(maps.Keys(others))
	return others[addrs[rand.IntN(len(addrs))]]
}

func (s *soak) report(t *testing.T, moves int) {
	total := int64(0)
	for kind := range s.done {
		n := s.done[kind].Load()
		require.NotZero(t, n, "calls of kind %d", kind)
		total += n
	}
	t.Logf("%d slots moved, %d calls were right", moves, total)
	s.failures.Range(func(text, n any) bool {
		t.Logf("%d times %s", n.(*atomic.Int64).Load(), text)
		return true
	})
	require.NotZero(t, s.downTo.Load(), "no primary was killed")
}

// quiet checks that nothing is left of the load.
func (s *soak) quiet(t *testing.T) {
	s.cluster.WaitOK(t)
	for g, c := range s.clients {
		s.downFrom.Store(0) // from here on every error is one
		for n := range 120 {
			s.call(t, n%5, c, n%soakKeys) // connections that the killed node had are still in the pool: commands that only read go round them
		}
		for _, node := range s.cluster.Nodes {
			n := strings.Count(node.Do(t, "CLIENT", "LIST"), fmt.Sprintf(" name=soak:%d ", g))
			require.LessOrEqual(t, n, soakPool+rueidis.MaxPipelineMultiplex, "connections to %s", node.Addr)
		}
	}
	ctx, c := caseContext(t), s.clients[0]
	lost := int64(0)
	for i := range s.counts {
		n, err := c.Do(ctx, c.B().Get().Key(fmt.Sprint("count:", i)).Build()).AsInt64()
		require.NoError(t, err)
		sure, perhaps := s.counts[i].sure.Load(), s.counts[i].perhaps.Load()
		require.LessOrEqual(t, n, sure+perhaps, "an INCR of count:%d was executed twice", i)
		lost += max(sure-n, 0)
	}
	t.Logf("%d INCRs were lost with the primary, which had not sent them to its replica", lost)
}
