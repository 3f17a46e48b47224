package rueidisbatch_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"strconv"
	"testing"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisbatch"
)

func TestMain(m *testing.M) { redistest.Main(m) }

// attrKey is JuiceFS' key of an inode.
func attrKey(dst []byte, e rueidisbatch.Dirent) []byte {
	return strconv.AppendUint(append(dst, 'i'), binary.BigEndian.Uint64(e.Value[1:]), 10)
}

// fillDir writes a directory of JuiceFS' layout: names "file-<n>", whose inodes are base+n, with attributes of 92 bytes.
func fillDir(t testing.TB, c rueidis.Client, inode uint64, entries int) string {
	t.Helper()
	ctx := context.Background()
	dir := "d" + strconv.FormatUint(inode, 10)
	attr := make([]byte, 92)
	for from := 0; from < entries; from += 1000 {
		hset := c.B().Hset().Key(dir).FieldValue()
		mset := c.B().Mset().KeyValue()
		for i := from; i < min(from+1000, entries); i++ {
			v := binary.BigEndian.AppendUint64([]byte{1}, inode<<32+uint64(i))
			hset = hset.FieldValue(fmt.Sprint("file-", i), string(v))
			binary.BigEndian.PutUint64(attr[8:], uint64(i))
			mset = mset.KeyValue("i"+strconv.FormatUint(inode<<32+uint64(i), 10), string(attr))
		}
		for _, res := range c.DoMulti(ctx, hset.Build(), mset.Build()) {
			require.NoError(t, res.Error())
		}
	}
	return dir
}

func TestQuick(t *testing.T) {
	redistest.NoLeak(t)
	c := redistest.NewClient(t, redistest.Shared(t))
	ctx := context.Background()
	for i, n := range []int{0, 1, 100, 4095, 4096, 4097, 10000} {
		dir := fillDir(t, c, uint64(i+1), n)
		for _, opts := range [][]rueidisbatch.Option{nil, {rueidisbatch.WithSnapshot()}, {rueidisbatch.WithChunk(7)}} {
			seen := map[string]bool{}
			for e, err := range rueidisbatch.Readdir(ctx, c, dir, attrKey, opts...) {
				require.NoError(t, err)
				require.Len(t, e.Attr, 92)
				require.Equal(t, fmt.Sprint("file-", binary.BigEndian.Uint64(e.Attr[8:])), string(e.Name))
				seen[string(e.Name)] = true
			}
			require.Len(t, seen, n)
		}
		var keys []string
		for k := range n {
			keys = append(keys, "i"+strconv.Itoa((i+1)<<32+k))
		}
		vals, err := rueidisbatch.MGet(ctx, c, keys)
		require.NoError(t, err)
		for k, v := range vals {
			require.EqualValues(t, k, binary.BigEndian.Uint64(v[8:]))
		}
	}
}
