package rueidisbatch_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisbatch"
)

var readdirRows = []struct {
	name string
	most int // entries for which this is quick enough; 0 is any number
	opts []rueidisbatch.Option
}{
	{"defaults", 0, nil},
	{"snapshot", 0, []rueidisbatch.Option{rueidisbatch.WithSnapshot()}},
	{"chunk 1", 200, []rueidisbatch.Option{rueidisbatch.WithChunk(1)}},
	{"chunk above n", 0, []rueidisbatch.Option{rueidisbatch.WithChunk(100000)}},
	{"chunk 100, parallel 5", 0, []rueidisbatch.Option{rueidisbatch.WithChunk(100), rueidisbatch.WithParallelism(5)}},
	{"chunks of 2000 bytes", 5000, []rueidisbatch.Option{rueidisbatch.WithChunkBytes(2000)}},
	{"marked", 0, []rueidisbatch.Option{rueidisbatch.WithWrongType(rueidisbatch.WrongTypeMark)}},
}

// All sizes, options and clients give each entry once, with its own attributes.
func TestReaddir(t *testing.T) {
	everyClient(t, func(t *testing.T, c rueidis.Client) { readdirSizes(t, c) })
}

func readdirSizes(t *testing.T, c rueidis.Client) {
	for i, n := range []int{0, 1, 100, 200, 511, 513, 4095, 4096, 4097, 8192, 8193, 10000} {
		dir := fillDir(t, c, uint64(i+1), n)
		for _, row := range readdirRows {
			if row.most > 0 && n > row.most {
				continue
			}
			got, err := list(t, within(t), c, dir, nil, row.opts...)
			require.NoError(t, err, "%s, %d entries", row.name, n)
			require.Equal(t, n, got, row.name)
		}
	}
}

// A nil KeyFunc reads names only, one that leaves dst alone says that the entry has no attributes.
func TestReaddirKeys(t *testing.T) {
	everyClient(t, func(t *testing.T, c rueidis.Client) {
		for i, n := range []int{100, 5000} {
			dir := fillDir(t, c, uint64(i+1), n)
			hooked, rec := recorded(t, c)
			for _, opts := range [][]rueidisbatch.Option{nil, {rueidisbatch.WithSnapshot()}} {
				got := 0
				for e, err := range rueidisbatch.Readdir(within(t), hooked, dir, nil, opts...) {
					require.NoError(t, err)
					require.Nil(t, e.Attr)
					require.Len(t, e.Value, 9)
					got++
				}
				require.Equal(t, n, got)
				require.Empty(t, rec.taken("MGET"))

				odd := func(dst []byte, e rueidisbatch.Dirent) []byte {
					switch e.Value[8] % 3 {
					case 0:
						return dst
					case 1:
						return []byte(string(attrKey(nil, e))) // not what was asked for, but clear
					}
					return attrKey(dst, e)
				}
				for e, err := range rueidisbatch.Readdir(within(t), hooked, dir, odd, opts...) {
					require.NoError(t, err)
					require.Equal(t, e.Value[8]%3 == 0, e.Attr == nil)
					if e.Attr != nil {
						require.Equal(t, e.Value[5:], e.Attr[12:16])
					}
				}
				rec.taken("")
			}
		}
	})
}

// Leaving early, in each way.
func TestReaddirLeaves(t *testing.T) {
	everyClient(t, func(t *testing.T, c rueidis.Client) {
		dir := fillDir(t, c, 1, 10000)
		for _, opts := range [][]rueidisbatch.Option{{rueidisbatch.WithChunk(100)}, {rueidisbatch.WithSnapshot(), rueidisbatch.WithChunk(100)}} {
			read := func(at int, leave func() bool) {
				n := 0
				for _, err := range rueidisbatch.Readdir(within(t), c, dir, attrKey, opts...) {
					require.NoError(t, err)
					if n++; n == at && leave() {
						break
					}
				}
			}
			for _, at := range []int{1, 333, 9999} {
				read(at, func() bool { return true })
				require.PanicsWithValue(t, "body", func() { read(at, func() bool { panic("body") }) })
				left := make(chan struct{})
				go func() {
					defer close(left)
					read(at, func() bool { goexit(); return true })
				}()
				<-left
				require.Panics(t, func() {
					for range rueidisbatch.Readdir(within(t), c, dir, func([]byte, rueidisbatch.Dirent) []byte { panic("key") }, opts...) {
					}
				})
			}
		}
	})
}

// A pool of one connection is enough, for a snapshot too, whose names hold it while attributes are read.
func TestReaddirPoolOfOne(t *testing.T) {
	redistest.NoLeak(t)
	srv := redistest.Shared(t)
	c := redistest.NewClient(t, srv, poolOf(1))
	dir := fillDir(t, c, 1, 10000)
	for _, opt := range []rueidisbatch.Option{{}, rueidisbatch.WithSnapshot()} {
		n, err := list(t, within(t), c, dir, nil, opt, rueidisbatch.WithChunk(500))
		require.NoError(t, err)
		require.Equal(t, 10000, n)
	}
	healthy(t, c)
}

// What is wrong with the names comes out as it is.
func TestReaddirErrors(t *testing.T) {
	redistest.NoLeak(t)
	c := redistest.NewClient(t, redistest.Shared(t))
	require.NoError(t, c.Do(within(t), c.B().Set().Key("string").Value("x").Build()).Error())
	for _, opt := range []rueidisbatch.Option{{}, rueidisbatch.WithSnapshot()} {
		_, err := list(t, within(t), c, "string", nil, opt)
		_, ok := err.(*rueidis.RedisError)
		require.True(t, ok, "%v", err)
		require.ErrorContains(t, err, "WRONGTYPE")
	}
	dir := fillDir(t, c, 1, 10000)
	ctx, cancel := context.WithCancel(within(t))
	defer cancel()
	n := 0
	var last error
	for _, err := range rueidisbatch.Readdir(ctx, c, dir, attrKey, rueidisbatch.WithChunk(100)) {
		last = err
		if n++; n == 1000 {
			cancel()
		}
	}
	require.ErrorIs(t, last, context.Canceled)
	_, err := list(t, ctx, c, dir, nil)
	require.ErrorIs(t, err, context.Canceled)
	healthy(t, c)
}

// A directory that is written meanwhile: what is there throughout comes once.
func TestReaddirChanging(t *testing.T) {
	redistest.NoLeak(t)
	c := redistest.NewClient(t, redistest.Shared(t))
	dir := fillDir(t, c, 1, 20000)
	n, seen := 0, map[string]bool{}
	for e, err := range rueidisbatch.Readdir(within(t), c, dir, nil, rueidisbatch.WithChunk(200)) {
		require.NoError(t, err)
		require.False(t, seen[string(e.Name)], "%s comes twice", e.Name)
		seen[string(e.Name)] = true
		if n++; n != 2000 {
			continue
		}
		// H1: shrinking makes HSCAN repeat.
		del := c.B().Hdel().Key(dir).Field()
		for i := 100; i < 20000; i++ {
			if name := fmt.Sprint("file-", i); !seen[name] {
				del = del.Field(name)
			}
		}
		require.NoError(t, c.Do(within(t), del.Build()).Error())
		time.Sleep(150 * time.Millisecond) // the server resizes in the background
	}
	for i := range 100 {
		require.True(t, seen[fmt.Sprint("file-", i)], "file-%d", i)
	}
}

// A first page that is no page is an error.
func TestReaddirFirstPage(t *testing.T) {
	for name, reply := range map[string]string{
		"a string":               redistest.Bulk("x"),
		"one element":            redistest.Array(redistest.Bulk("0")),
		"no array":               redistest.Array(redistest.Bulk("0"), redistest.Bulk("x")),
		"an odd page":            redistest.Array(redistest.Bulk("0"), redistest.Array(redistest.Bulk("a"))),
		"a name that is no text": redistest.Array(redistest.Bulk("0"), redistest.Array(redistest.Array(), redistest.Bulk("a"))),
		"an error":               "-OOPS\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			redistest.NoLeak(t)
			srv := redistest.NewFake(t, func(c *redistest.FakeConn, cmd []string) {
				if strings.EqualFold(cmd[0], "HSCAN") {
					c.Write(reply)
					return
				}
				c.Write(redistest.Bulk(cmd[1]))
			})
			c := dial(t, srv.Addr())
			_, err := list(t, within(t), c, "d1", nil)
			require.Error(t, err)
			healthy(t, c)
		})
	}
}

// The names come by one HGETALL as long as they are no more than a page has, and by pages beyond that.
func TestReaddirOnePage(t *testing.T) {
	redistest.NoLeak(t)
	plain := redistest.NewClient(t, redistest.Shared(t))
	c, rec := recorded(t, plain)
	for i, row := range []struct {
		entries, chunk, hgetall int
	}{
		{600, 0, 1},
		{4096, 0, 1},
		{4097, 0, 0},
		{4097, 10000, 0}, // a page is not larger for that
		{1000, 1000, 1},
		{1001, 1000, 0},
	} {
		dir := fillDir(t, plain, uint64(i+1), row.entries)
		got, err := list(t, within(t), c, dir, nil, rueidisbatch.WithChunk(row.chunk))
		require.NoError(t, err)
		require.Equal(t, row.entries, got)
		require.Len(t, rec.taken("HGETALL"), row.hgetall, "%+v", row)
	}
	healthy(t, c)
}
