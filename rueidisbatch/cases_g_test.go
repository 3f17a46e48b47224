package rueidisbatch_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisbatch"
)

// G1: a small directory is two commands and nothing else; no command of a large one is longer than the chunk.
func TestCase_G1_TwoCommands(t *testing.T) {
	redistest.NoLeak(t)
	plain := redistest.NewClient(t, redistest.Shared(t))
	c, rec := recorded(t, plain)
	for i, n := range []int{1, 20, 100, 300, 500} {
		dir := fillDir(t, plain, uint64(i+1), n)
		got, err := list(t, within(t), c, dir, nil)
		require.NoError(t, err)
		require.Equal(t, n, got)
		cmds := rec.taken("")
		require.Len(t, cmds, 2, "%d entries", n)
		require.Equal(t, []string{"HSCAN", "MGET"}, []string{cmds[0][0], cmds[1][0]})
		require.Len(t, cmds[1], n+1)
	}
	for _, dir := range []string{fillDir(t, plain, 10, 0), fillDir(t, plain, 11, 20000)} {
		_, err := list(t, within(t), c, dir, nil)
		require.NoError(t, err)
		require.LessOrEqual(t, longest(rec.taken("")), 4097)
	}
}

// G2: leaving in mid-list by the context lets everything go on.
func TestCase_G2_CancelledListing(t *testing.T) {
	redistest.NoLeak(t)
	c := redistest.NewClient(t, redistest.Shared(t), poolOf(3))
	dir := fillDir(t, c, 1, 20000)
	for at := 1; at < 20000; at += light(1999, 6000) {
		ctx, cancel := context.WithCancel(within(t))
		n := 0
		var last error
		for _, err := range rueidisbatch.Readdir(ctx, c, dir, attrKey, rueidisbatch.WithChunk(500)) {
			if last = err; err != nil {
				break
			}
			if n++; n == at {
				cancel()
			}
		}
		cancel()
		if last != nil {
			require.ErrorIs(t, last, context.Canceled)
		}
		got, err := list(t, within(t), c, dir, nil, rueidisbatch.WithChunk(500))
		require.NoError(t, err)
		require.Equal(t, 20000, got)
	}
	healthy(t, c)
}

// G3: every MGET fails: one error, from any of the chunks, and no goroutine left.
func TestCase_G3_EveryMGetFails(t *testing.T) {
	redistest.NoLeak(t)
	srv := redistest.Standalone(t)
	c := redistest.NewClient(t, srv)
	for i, n := range []int{100, light(60000, 14000)} {
		dir := fillDir(t, c, uint64(i+1), n)
		srv.Do(t, "ACL", "SETUSER", "default", "-mget")
		for _, opts := range [][]rueidisbatch.Option{{rueidisbatch.WithParallelism(8)}, {rueidisbatch.WithSnapshot()}, {rueidisbatch.WithChunk(1000)}} {
			errs := 0
			for _, err := range rueidisbatch.Readdir(within(t), c, dir, attrKey, opts...) {
				require.ErrorContains(t, err, "NOPERM")
				var at *rueidisbatch.RangeError
				require.ErrorAs(t, err, &at)
				require.Zero(t, at.From)
				errs++
			}
			require.Equal(t, 1, errs)
		}
		srv.Do(t, "ACL", "SETUSER", "default", "+mget")
		got, err := list(t, within(t), c, dir, nil)
		require.NoError(t, err)
		require.Equal(t, n, got)
	}
	healthy(t, c)
}

// G5: attributes that are gone, or of another type, are told from real ones.
func TestCase_G5_AttributesGone(t *testing.T) {
	everyClient(t, func(t *testing.T, c rueidis.Client) {
		for k, n := range []int{100, light(10000, 2000)} {
			inode := uint64(k + 1)
			dir := fillDir(t, c, inode, n)
			key := func(i int) string { return "i" + strconv.FormatUint(inode<<32+uint64(i), 10) }
			lost := func(i int) bool { return i%10 == 3 }
			for i := 3; i < n; i += 10 {
				require.NoError(t, c.Do(within(t), c.B().Del().Key(key(i)).Build()).Error())
			}
			for _, opt := range []rueidisbatch.Option{{}, rueidisbatch.WithSnapshot(), rueidisbatch.WithWrongType(rueidisbatch.WrongTypeError)} {
				got, err := list(t, within(t), c, dir, lost, opt)
				require.NoError(t, err)
				require.Equal(t, n, got)
			}
			require.NoError(t, c.Do(within(t), c.B().Lpush().Key(key(3)).Element("x").Build()).Error())
			got, err := list(t, within(t), c, dir, lost)
			require.NoError(t, err, "as a missing one")
			require.Equal(t, n, got)
			for e, err := range rueidisbatch.Readdir(within(t), c, dir, attrKey, rueidisbatch.WithWrongType(rueidisbatch.WrongTypeMark)) {
				require.NoError(t, err)
				require.Equal(t, string(e.Name) == "file-3", e.WrongType)
			}
			_, err = list(t, within(t), c, dir, lost, rueidisbatch.WithWrongType(rueidisbatch.WrongTypeError))
			require.ErrorIs(t, err, rueidisbatch.ErrWrongType)
			require.NoError(t, c.Do(within(t), c.B().Del().Key(key(3)).Build()).Error())
		}
	})
}

// G6 and G7: all entries come, with their attributes, by few commands.
func TestCase_G6_AllEntries(t *testing.T) {
	redistest.NoLeak(t)
	plain := redistest.NewClient(t, redistest.Shared(t))
	c, rec := recorded(t, plain)
	for i, n := range []int{4096, 4097, 6000, 10000} {
		dir := fillDir(t, plain, uint64(i+1), n)
		for _, opt := range []rueidisbatch.Option{{}, rueidisbatch.WithSnapshot()} {
			got, err := list(t, within(t), c, dir, nil, opt)
			require.NoError(t, err)
			require.Equal(t, n, got)
			rec.taken("")
		}
	}
}

func TestCase_G7_FewCommands(t *testing.T) {
	redistest.NoLeak(t)
	plain := redistest.NewClient(t, redistest.Shared(t))
	c, rec := recorded(t, plain)
	dir := fillDir(t, plain, 1, 6000)
	_, err := list(t, within(t), c, dir, nil)
	require.NoError(t, err)
	count := map[string]int{}
	for _, cmd := range rec.taken("") {
		count[cmd[0]]++
	}
	delete(count, "PING") // what frames a stream
	require.LessOrEqual(t, count["HSCAN"], 1+3)
	require.LessOrEqual(t, count["MGET"], 4, "windows of 512, 1024, 2048 and 4096")
	require.LessOrEqual(t, count["INFO"], 3)
}

// D6: small commands of others go on while many keys are read, since those do not use the shared connection.
func TestCase_D6_SharedConnectionIsFree(t *testing.T) {
	redistest.NoLeak(t)
	plain := redistest.NewClient(t, redistest.Shared(t))
	c, rec := recorded(t, plain)
	keys, vals := fillKeys(t, plain, light(100000, 20000))
	stop := make(chan struct{})
	var others sync.WaitGroup
	var worst time.Duration
	others.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			begin := time.Now()
			if got, err := plain.Do(context.Background(), plain.B().Get().Key("key:2").Build()).ToString(); err != nil || got != "value 2" {
				t.Error(got, err)
				return
			}
			worst = max(worst, time.Since(begin))
		}
	})
	for _, s := range shapes {
		got, err := s.read(within(t), c, keys)
		require.NoError(t, err)
		same(t, vals, got)
		framed := 0
		cmds := rec.taken("")
		for _, cmd := range cmds {
			if cmd[0] == "PING" {
				framed++
			}
		}
		require.Equal(t, 2*(len(cmds)-framed), framed, "each MGET in a stream of its own")
		require.LessOrEqual(t, longest(cmds), 4097)
	}
	close(stop)
	others.Wait()
	t.Log("worst GET of another caller:", worst)
}

// E2: over a million keys, no command has more than 4,097 words, which every server takes.
func TestCase_E2_MillionKeys(t *testing.T) {
	redistest.NoLeak(t)
	plain := redistest.NewClient(t, redistest.Shared(t))
	c, rec := recorded(t, plain)
	keys := make([]string, light(1100000, 200000))
	for i := range keys {
		keys[i] = "absent:" + strconv.Itoa(i)
	}
	require.NoError(t, plain.Do(within(t), plain.B().Set().Key(keys[len(keys)-1]).Value("last").Build()).Error())
	got, err := rueidisbatch.MGet(within(t), c, keys)
	require.NoError(t, err)
	require.Nil(t, got[0])
	require.Equal(t, "last", string(got[len(got)-1]))
	cmds := rec.taken("MGET")
	require.Len(t, cmds, (len(keys)+4095)/4096)
	require.LessOrEqual(t, longest(cmds), 4097)
	healthy(t, c)
}

// E3: many listings of one large directory at once take the server little memory.
func TestCase_E3_ManyListings(t *testing.T) {
	redistest.NoLeak(t)
	srv := redistest.Standalone(t)
	c := redistest.NewClient(t, srv)
	entries := sized(light(20000, 4000), 1000000)
	dir := fillDir(t, c, 1, entries)
	srv.Do(t, "MEMORY", "PURGE")
	used := serverNumber(t, srv, "used_memory:")
	srv.Do(t, "CONFIG", "RESETSTAT") // the peak
	var all sync.WaitGroup
	for range 32 {
		all.Go(func() {
			n := 0
			for e, err := range rueidisbatch.Readdir(context.Background(), c, dir, attrKey) {
				if err != nil || len(e.Attr) != 92 {
					t.Error(err)
					return
				}
				n++
			}
			if n != entries {
				t.Error(n)
			}
		})
	}
	all.Wait()
	const page = 4096 * 160 // bytes of an MGET's reply and command, with what the server's buffers round up
	connections := int64(32 * 3)
	peak := serverNumber(t, srv, "used_memory_peak:")
	t.Logf("server: %d bytes before, %d at most, %d for each listing", used, peak, (peak-used)/32)
	require.Less(t, peak-used, connections*3*page)
	healthy(t, c)
}

// sized is n, or what RUEIDISX_TEST_LONG asks for.
func sized(n, long int) int {
	if os.Getenv("RUEIDISX_TEST_LONG") != "" {
		return long
	}
	return n
}

// light is n, or less with the race detector.
func light(n, race int) int {
	if raceOn {
		return race
	}
	return n
}

// serverNumber returns a number of the server's INFO.
func serverNumber(t testing.TB, srv *redistest.Server, field string) int64 {
	for line := range strings.Lines(srv.Do(t, "INFO", "memory")) {
		if n, ok := strings.CutPrefix(strings.TrimSpace(line), field); ok {
			v, err := strconv.ParseInt(n, 10, 64)
			require.NoError(t, err)
			return v
		}
	}
	t.Fatal(field)
	return 0
}

// G10: listers and deleters at once: no deadlock, no wrong entry, no error.
func TestCase_G10_ListAndDelete(t *testing.T) {
	redistest.NoLeak(t)
	c := redistest.NewClient(t, redistest.Shared(t))
	dir := fillDir(t, c, 1, 20000)
	long := time.Duration(sized(3, 60)) * time.Second
	end := time.Now().Add(long)
	var all sync.WaitGroup
	var worst time.Duration
	for range 8 {
		all.Go(func() {
			for time.Now().Before(end) {
				for e, err := range rueidisbatch.Readdir(context.Background(), c, dir, attrKey, rueidisbatch.WithChunk(1000)) {
					if err != nil || e.Attr != nil && len(e.Attr) != 92 {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	for g := range 8 {
		all.Go(func() {
			for i := g; time.Now().Before(end); i += 8 {
				name, key := fmt.Sprint("file-", i%20000), "i"+strconv.Itoa(1<<32+i%20000)
				for _, res := range c.DoMulti(context.Background(), c.B().Hdel().Key(dir).Field(name).Build(), c.B().Del().Key(key).Build()) {
					if err := res.Error(); err != nil && !errors.Is(err, context.Canceled) {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	all.Go(func() {
		for time.Now().Before(end) {
			begin := time.Now()
			if err := c.Do(context.Background(), c.B().Ping().Build()).Error(); err != nil {
				t.Error(err)
				return
			}
			worst = max(worst, time.Since(begin))
			time.Sleep(time.Millisecond)
		}
	})
	all.Wait()
	t.Log("worst PING of a bystander:", worst)
	healthy(t, c)
}
