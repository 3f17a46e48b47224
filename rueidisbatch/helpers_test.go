package rueidisbatch_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidishook"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisbatch"
)

// within is a context that ends a test that hangs.
func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// dial is a client of an address, such as that of a fake.
func dial(t testing.TB, addr string, adjust ...func(*rueidis.ClientOption)) rueidis.Client {
	t.Helper()
	o := rueidis.ClientOption{InitAddress: []string{addr}, DisableCache: true, ForceSingleClient: true}
	for _, a := range adjust {
		a(&o)
	}
	c, err := rueidis.NewClient(o)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

func poolOf(n int) func(*rueidis.ClientOption) {
	return func(o *rueidis.ClientOption) { o.BlockingPoolSize = n }
}

// everyClient runs f with each kind of client of one server.
func everyClient(t *testing.T, f func(t *testing.T, c rueidis.Client)) {
	srv := redistest.Shared(t)
	for _, tt := range []struct {
		name string
		make func(t *testing.T) rueidis.Client
	}{
		{"RESP3", func(t *testing.T) rueidis.Client { return redistest.NewClient(t, srv) }},
		{"RESP2", func(t *testing.T) rueidis.Client {
			return redistest.NewClient(t, srv, func(o *rueidis.ClientOption) { o.AlwaysRESP2, o.DisableCache = true, true })
		}},
		{"hook", func(t *testing.T) rueidis.Client {
			return rueidishook.WithHook(redistest.NewClient(t, srv), new(recorder))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			redistest.NoLeak(t)
			c := tt.make(t)
			f(t, c)
			healthy(t, c)
		})
	}
}

// healthy checks that the next hundred commands are right, on the shared connection and on those of the pool.
func healthy(t testing.TB, c rueidis.Client) {
	t.Helper()
	ctx := within(t)
	for i := range 50 {
		word := fmt.Sprint("word ", i)
		got, err := c.Do(ctx, c.B().Echo().Message(word).Build()).ToString()
		require.NoError(t, err)
		require.Equal(t, word, got)
		var b bytes.Buffer
		stream := c.DoStream(ctx, c.B().Echo().Message(word).Build())
		_, err = stream.WriteTo(&b)
		require.NoError(t, err)
		require.Equal(t, word, b.String())
	}
}

// recorder notes the commands that pass, as a hook.
type recorder struct {
	rueidishook.Hook
	mu   sync.Mutex
	cmds [][]string
}

func (r *recorder) note(cmds ...rueidis.Completed) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range cmds {
		r.cmds = append(r.cmds, slices.Clone(cmds[i].Commands()))
	}
}

// taken returns the commands of that name since the last call; of all names for "".
func (r *recorder) taken(name string) (cmds [][]string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, cmd := range r.cmds {
		if name == "" || cmd[0] == name {
			cmds = append(cmds, cmd)
		}
	}
	r.cmds = nil
	return cmds
}

func (r *recorder) Do(c rueidis.Client, ctx context.Context, cmd rueidis.Completed) rueidis.RedisResult {
	r.note(cmd)
	return c.Do(ctx, cmd)
}

func (r *recorder) DoMulti(c rueidis.Client, ctx context.Context, cmds ...rueidis.Completed) []rueidis.RedisResult {
	r.note(cmds...)
	return c.DoMulti(ctx, cmds...)
}

func (r *recorder) DoStream(c rueidis.Client, ctx context.Context, cmd rueidis.Completed) rueidis.RedisResultStream {
	r.note(cmd)
	return c.DoStream(ctx, cmd)
}

func (r *recorder) DoMultiStream(c rueidis.Client, ctx context.Context, cmds ...rueidis.Completed) rueidis.MultiRedisResultStream {
	r.note(cmds...)
	return c.DoMultiStream(ctx, cmds...)
}

// recorded is a client of the server with its recorder.
func recorded(t testing.TB, c rueidis.Client) (rueidis.Client, *recorder) {
	r := new(recorder)
	return rueidishook.WithHook(c, r), r
}

func longest(cmds [][]string) (n int) {
	for _, cmd := range cmds {
		n = max(n, len(cmd))
	}
	return n
}

// shape is one of the ways to read keys.
type shape struct {
	name string
	read func(ctx context.Context, c rueidis.Client, keys []string, opts ...rueidisbatch.Option) ([][]byte, error)
}

var shapes = []shape{
	{"MGet", rueidisbatch.MGet},
	{"MGetFunc", func(ctx context.Context, c rueidis.Client, keys []string, opts ...rueidisbatch.Option) ([][]byte, error) {
		vals, calls := make([][]byte, len(keys)), make([]int, len(keys))
		err := rueidisbatch.MGetFunc(ctx, c, keys, func(i int, val []byte) error {
			vals[i] = bytes.Clone(val)
			calls[i]++
			return nil
		}, opts...)
		for i, n := range calls {
			if n > 1 || n == 0 && err == nil {
				return nil, fmt.Errorf("%d calls for key %d", n, i)
			}
		}
		return vals, err
	}},
	{"MGetSeq", func(ctx context.Context, c rueidis.Client, keys []string, opts ...rueidisbatch.Option) (vals [][]byte, err error) {
		vals = [][]byte{}
		for item, err := range rueidisbatch.MGetSeq(ctx, c, slices.Values(keys), opts...) {
			if err != nil {
				return vals, err
			}
			if item.Key != keys[len(vals)] {
				return vals, fmt.Errorf("key %d is %q", len(vals), item.Key)
			}
			vals = append(vals, bytes.Clone(item.Value))
		}
		return vals, nil
	}},
}

// everyShape runs f with each of the shapes.
func everyShape(t *testing.T, f func(t *testing.T, s shape)) {
	for _, s := range shapes {
		t.Run(s.name, func(t *testing.T) { f(t, s) })
	}
}

// fillKeys sets "key:<i>" to "value <i>" for i < n, but every 10th is missing and every 10th+1 empty, and returns keys and values.
func fillKeys(t testing.TB, c rueidis.Client, n int) (keys []string, vals [][]byte) {
	t.Helper()
	ctx := context.Background()
	var cmds rueidis.Commands
	for i := range n {
		key := fmt.Sprint("key:", i)
		keys = append(keys, key)
		switch i % 10 {
		case 0:
			vals = append(vals, nil)
		case 1:
			vals = append(vals, []byte{})
			cmds = append(cmds, c.B().Set().Key(key).Value("").Build())
		default:
			vals = append(vals, fmt.Append(nil, "value ", i))
			cmds = append(cmds, c.B().Set().Key(key).Value(fmt.Sprint("value ", i)).Build())
		}
	}
	for part := range slices.Chunk(cmds, 1000) {
		for _, res := range c.DoMulti(ctx, part...) {
			require.NoError(t, res.Error())
		}
	}
	return keys, vals
}

// same compares values, nil and empty ones being different.
func same(t testing.TB, want, got [][]byte) {
	t.Helper()
	require.Len(t, got, len(want))
	for i := range want {
		if !bytes.Equal(want[i], got[i]) || (want[i] == nil) != (got[i] == nil) {
			t.Fatalf("key %d: got %#v, want %#v", i, got[i], want[i])
		}
	}
}

// attrKey is JuiceFS' key of an inode.
func attrKey(dst []byte, e rueidisbatch.Dirent) []byte {
	return strconv.AppendUint(append(dst, 'i'), binary.BigEndian.Uint64(e.Value[1:]), 10)
}

// fillDir writes a directory of JuiceFS' layout: names "file-<n>", whose inodes are inode<<32+n, with attributes of 92 bytes.
func fillDir(t testing.TB, c rueidis.Client, inode uint64, entries int) string {
	t.Helper()
	ctx := context.Background()
	dir := "d" + strconv.FormatUint(inode, 10)
	attr := make([]byte, 92)
	for from := 0; from < entries; from += 1000 {
		hset := c.B().Hset().Key(dir).FieldValue()
		var cmds []rueidis.Completed
		for i := from; i < min(from+1000, entries); i++ {
			v := binary.BigEndian.AppendUint64([]byte{1}, inode<<32+uint64(i))
			hset = hset.FieldValue(fmt.Sprint("file-", i), string(v))
			binary.BigEndian.PutUint64(attr[8:], uint64(i))
			cmds = append(cmds, c.B().Set().Key("i"+strconv.FormatUint(inode<<32+uint64(i), 10)).Value(string(attr)).Build())
		}
		for _, res := range c.DoMulti(ctx, append(cmds, hset.Build())...) {
			require.NoError(t, res.Error())
		}
	}
	return dir
}

// list reads a directory that fillDir has written, and checks each entry against its attributes. lost tells which have none.
func list(t testing.TB, ctx context.Context, c rueidis.Client, dir string, lost func(i int) bool, opts ...rueidisbatch.Option) (n int, err error) {
	t.Helper()
	seen := map[string]bool{}
	for e, err := range rueidisbatch.Readdir(ctx, c, dir, attrKey, opts...) {
		if err != nil {
			return len(seen), err
		}
		if seen[string(e.Name)] {
			t.Fatalf("%s comes twice", e.Name)
		}
		seen[string(e.Name)] = true
		i := int(binary.BigEndian.Uint64(e.Value[1:]) & (1<<32 - 1))
		if string(e.Name) != fmt.Sprint("file-", i) {
			t.Fatalf("%s with the value of %d", e.Name, i)
		}
		if lost != nil && lost(i) {
			if e.Attr != nil {
				t.Fatalf("%s with attributes", e.Name)
			}
			continue
		}
		if len(e.Attr) != 92 || binary.BigEndian.Uint64(e.Attr[8:]) != uint64(i) {
			t.Fatalf("%s with the attributes %x", e.Name, e.Attr)
		}
	}
	return len(seen), nil
}
