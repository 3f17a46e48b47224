package hints

import (
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTable(t *testing.T) {
	var table Table
	a, b := Sum(1, "a"), Sum(2, "a")
	require.NotEqual(t, a, b, "another salt")
	require.Equal(t, a, Sum(1, "a"))
	_, known := table.Get(a)
	require.False(t, known, "of nothing")
	_, known = table.Get(0)
	require.False(t, known)
	for _, sum := range []uint64{a, 0, 1 << 60, 1<<61 - 1} {
		_, known := table.Get(sum)
		require.False(t, known, "never noted: %d", sum)
		for hint := range byte(Max + 1) {
			table.Put(sum, hint)
			got, known := table.Get(sum)
			require.True(t, known)
			require.Equal(t, hint, got)
		}
	}
	_, known = table.Get(b)
	require.False(t, known)
	table.Put(a, 1)
	table.Put(a+1<<40, 2) // in the same place
	hint, known := table.Get(a)
	require.False(t, known, "forgotten, not mixed up")
	require.Zero(t, hint)
}

// It forgets, and does not grow.
func TestForgets(t *testing.T) {
	var table Table
	known := 0
	const keys = 10 * size
	for i := range keys {
		table.Put(Sum(0, strconv.Itoa(i)), byte(i&Max))
	}
	for i := range keys {
		hint, ok := table.Get(Sum(0, strconv.Itoa(i)))
		if ok {
			known++
			require.Equal(t, byte(i&Max), hint)
		}
	}
	require.Greater(t, known, size*9/10)
	require.LessOrEqual(t, known, size)
}

func TestTableConcurrently(t *testing.T) {
	var table Table
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 1000 {
				sum := Sum(uint64(g), strconv.Itoa(i%50))
				table.Put(sum, byte(g%(Max+1)))
				if hint, known := table.Get(sum); known && hint != byte(g%(Max+1)) {
					t.Error(hint, g)
				}
			}
		})
	}
	all.Wait()
}

func TestAllocations(t *testing.T) {
	var table Table
	table.Put(1, 1)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		sum := Sum(1, "a key that is not short")
		table.Put(sum, 2)
		table.Get(sum)
	}))
}
