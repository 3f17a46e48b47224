package rueidisbatch_test

import (
	"context"
	"encoding/binary"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisbatch"
)

// quiet keeps the client's own PINGs, one a second, from allocating meanwhile.
func quiet(o *rueidis.ClientOption) { o.Dialer.KeepAlive = time.Hour }

// Allocations go by chunks, not by keys.
func TestAllocations(t *testing.T) {
	c := redistest.NewClient(t, redistest.Shared(t), quiet)
	keys, _ := fillKeys(t, c, 40000)
	few, many := fillDir(t, c, 1, 4000), fillDir(t, c, 2, 40000)
	ctx := context.Background()
	for name, read := range map[string]func(n int){
		"MGet": func(n int) {
			_, err := rueidisbatch.MGet(ctx, c, keys[:n])
			require.NoError(t, err)
		},
		"MGetFunc": func(n int) {
			require.NoError(t, rueidisbatch.MGetFunc(ctx, c, keys[:n], func(int, []byte) error { return nil }))
		},
		"MGetSeq": func(n int) {
			for _, err := range rueidisbatch.MGetSeq(ctx, c, slices.Values(keys[:n])) {
				require.NoError(t, err)
			}
		},
		"Readdir": func(n int) {
			dir := few
			if n > 4000 {
				dir = many
			}
			for _, err := range rueidisbatch.Readdir(ctx, c, dir, attrKey, rueidisbatch.WithSnapshot()) {
				require.NoError(t, err)
			}
		},
	} {
		a, b := redistest.Allocs(func() { read(4000) }), redistest.Allocs(func() { read(40000) })
		t.Log(name, a, b)
		if !raceOn { // which allocates itself
			require.Less(t, b-min(a, b), uint64(10*70), "%s: for ten chunks", name)
		}
	}
}

// F5: 100 keys of 20 MB are read in little memory, and by small MGETs if so wished.
func TestCase_F5_LargeValues(t *testing.T) {
	c, rec := recorded(t, redistest.NewClient(t, redistest.Shared(t), quiet))
	ctx := within(t)
	size := 20 << 20
	n := light(100, 20)
	var keys []string
	for i := range n {
		keys = append(keys, "huge:"+strconv.Itoa(i%5))
	}
	for _, key := range keys[:5] {
		require.NoError(t, c.Do(ctx, c.B().Setrange().Key(key).Offset(int64(size-1)).Value("x").Build()).Error())
	}
	defer c.Do(ctx, c.B().Flushall().Build())
	for _, tt := range []struct {
		opts  []rueidisbatch.Option
		limit int64
	}{
		{[]rueidisbatch.Option{rueidisbatch.WithSmall(0)}, 64 << 20},
		// Each MGET assembles its values in a buffer of its own, which is garbage then.
		{[]rueidisbatch.Option{rueidisbatch.WithSmall(0), rueidisbatch.WithChunkBytes(int64(2 * size))}, 256 << 20},
	} {
		opts := tt.opts
		rec.taken("")
		read := make([]int, n)
		top := redistest.PeakHeap(func() {
			require.NoError(t, rueidisbatch.MGetFunc(ctx, c, keys, func(i int, val []byte) error {
				read[i] += len(val)
				return nil
			}, opts...))
		})
		require.Equal(t, slices.Repeat([]int{size}, n), read)
		t.Logf("%d keys of %d MiB: heap rose by %d MiB", n, size>>20, top>>20)
		if !raceOn {
			require.Less(t, top, tt.limit)
		}
		if cmds := rec.taken("MGET"); len(opts) > 1 {
			for _, cmd := range cmds[2:] { // the first ones do not know
				require.LessOrEqual(t, len(cmd), 3)
			}
		}
	}
}

// rawFill writes a hash of n JuiceFS entries, and the attributes of the first attrs of them, as fast as the server takes them.
func rawFill(t testing.TB, c rueidis.Client, dir string, n, attrs int) {
	ctx := context.Background()
	attr := string(make([]byte, 92))
	value := make([]byte, 9)
	var cmds rueidis.Commands
	flush := func() {
		for _, res := range c.DoMulti(ctx, cmds...) {
			require.NoError(t, res.Error())
		}
		cmds = cmds[:0]
	}
	for from := 0; from < n; from += 500 {
		hset := c.B().Hset().Key(dir).FieldValue()
		mset := c.B().Mset().KeyValue()
		for i := from; i < min(from+500, n); i++ {
			binary.BigEndian.PutUint64(value[1:], uint64(i))
			hset = hset.FieldValue("file-"+strconv.Itoa(i), string(value))
			if i < attrs {
				mset = mset.KeyValue("i"+strconv.Itoa(i), attr)
			}
		}
		cmds = append(cmds, hset.Build())
		if from < attrs {
			cmds = append(cmds, mset.Build())
		}
		if len(cmds) >= 40 {
			flush()
		}
	}
	flush()
}

// G8: five million entries: the heap stays small, each name comes once, the first ones soon, and leaving early costs a page.
// Attributes exist for the first 100,000 of them.
func TestCase_G8_FiveMillionEntries(t *testing.T) {
	redistest.NoLeak(t)
	srv := redistest.Standalone(t)
	c := redistest.NewClient(t, srv, quiet)
	n := light(5000000, 200000)
	begin := time.Now()
	rawFill(t, c, "d1", n, 100000)
	t.Logf("filled with %d entries in %v", n, time.Since(begin))
	for _, tt := range []struct {
		name  string
		opts  []rueidisbatch.Option
		limit int64
	}{
		{"pages", nil, 192 << 20},
		{"snapshot", []rueidisbatch.Option{rueidisbatch.WithSnapshot()}, 64 << 20},
	} {
		t.Run(tt.name, func(t *testing.T) {
			seen := make([]uint64, n/64+1) // before the heap is looked at
			count, attrs := 0, 0
			begin, first := time.Now(), time.Duration(0)
			top := redistest.PeakHeap(func() {
				for e, err := range rueidisbatch.Readdir(context.Background(), c, "d1", attrKey, tt.opts...) {
					if err != nil {
						t.Fatal(err)
					}
					if count++; count == 1 {
						first = time.Since(begin)
					}
					i := binary.BigEndian.Uint64(e.Value[1:])
					if seen[i/64]&(1<<(i%64)) != 0 {
						t.Fatalf("%s comes twice", e.Name)
					}
					seen[i/64] |= 1 << (i % 64)
					if e.Attr != nil {
						attrs++
					}
				}
			})
			require.Equal(t, n, count)
			require.Equal(t, 100000, attrs)
			t.Logf("%d entries in %v, the first after %v; the heap rose by %d MiB", n, time.Since(begin), first, top>>20)
			if !raceOn {
				require.Less(t, top, tt.limit)
			}
		})
	}
	t.Run("leaving early", func(t *testing.T) {
		hooked, rec := recorded(t, c)
		for range rueidisbatch.Readdir(context.Background(), hooked, "d1", attrKey) {
			break
		}
		count := map[string]int{}
		for _, cmd := range rec.taken("") {
			count[cmd[0]]++
		}
		require.LessOrEqual(t, count["HSCAN"], 5, "%v", count)
	})
	healthy(t, c)
}
