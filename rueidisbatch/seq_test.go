package rueidisbatch_test

import (
	"fmt"
	"iter"
	"runtime"
	"slices"
	"testing"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisbatch"
)

func goexit() { runtime.Goexit() }

// A sequence of keys may have no end, and the loop may be left anywhere.
func TestMGetSeqEndless(t *testing.T) {
	everyClient(t, func(t *testing.T, c rueidis.Client) {
		_, vals := fillKeys(t, c, 1000)
		asked := 0
		var endless iter.Seq[string] = func(yield func(string) bool) {
			for i := 0; yield(fmt.Sprint("key:", i%1000)); i++ {
				asked++
			}
		}
		for _, stop := range []int{1, 100, 5000, 20000} {
			n := 0
			asked = 0
			for item, err := range rueidisbatch.MGetSeq(within(t), c, endless, rueidisbatch.WithChunk(500)) {
				require.NoError(t, err)
				require.Equal(t, string(vals[n%1000]), string(item.Value))
				if n++; n == stop {
					break
				}
			}
			require.LessOrEqual(t, asked, stop+5*500, "no more than parallelism + 2 chunks ahead")
		}
	})
}

// The loop ends by a panic or Goexit, in its body or in the sequence of keys.
func TestMGetSeqLeaves(t *testing.T) {
	redistest.NoLeak(t)
	c := redistest.NewClient(t, redistest.Shared(t))
	keys, _ := fillKeys(t, c, 5000)
	read := func(seq iter.Seq[string], at int, leave func()) {
		n := 0
		for range rueidisbatch.MGetSeq(within(t), c, seq, rueidisbatch.WithChunk(100)) {
			if n++; n == at {
				leave()
			}
		}
	}
	for _, at := range []int{1, 77, 2500} {
		require.PanicsWithValue(t, "body", func() { read(slices.Values(keys), at, func() { panic("body") }) })
		require.PanicsWithValue(t, "keys", func() {
			read(func(yield func(string) bool) {
				for _, key := range keys[:at] {
					yield(key)
				}
				panic("keys")
			}, -1, nil)
		})
		left := make(chan struct{})
		go func() {
			defer close(left)
			read(slices.Values(keys), at, goexit)
		}()
		<-left
	}
	healthy(t, c)
}
