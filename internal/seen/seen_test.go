package seen

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

func name(i int) []byte { return binary.BigEndian.AppendUint64([]byte("name "), uint64(i)) }

// All sizes around those at which the set changes its form: each string is new once.
func TestAdd(t *testing.T) {
	for _, n := range []int{0, 1, small - 1, small, small + 1, most - 1, most, most + 1, 3 * most, 100000} {
		s := New()
		for i := range n {
			if !s.Add(name(i)) || s.Add(name(i)) {
				t.Fatalf("%d of %d", i, n)
			}
		}
		for _, i := range rand.Perm(n) {
			if s.Add(name(i)) {
				t.Fatalf("%d of %d, later", i, n)
			}
		}
		require.Equal(t, n, s.Len())
		require.True(t, s.Add(nil))
		require.False(t, s.Add([]byte{}))
	}
}

// Splitting keeps all hashes, also when they share many front bits, or all of what chooses the slot.
func TestSplit(t *testing.T) {
	for _, tt := range []struct {
		name string
		hash func(i int) hash
	}{
		{"same front bits", func(i int) hash { return hash{bits.Reverse64(uint64(i))>>6 | 1, uint32(i)} }},
		{"same slot", func(i int) hash { return hash{bits.Reverse64(uint64(i)) | 7, 0} }},
		{"last slots", func(i int) hash { return hash{uint64(i+1)<<48 | slots - 1, 0} }},
		{"low bits alike", func(i int) hash { return hash{rand.New(rand.NewPCG(uint64(i), 1)).Uint64() | 1, 5} }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := New()
			n := 4 * most
			for i := range n {
				if !s.add(tt.hash(i)) {
					t.Fatal(i)
				}
			}
			count := map[*segment]bool{}
			total := 0
			for _, seg := range s.dir {
				if !count[seg] {
					count[seg] = true
					total += seg.n
				}
			}
			require.Equal(t, n, total)
			for i := range n {
				if s.add(tt.hash(i)) {
					t.Fatal(i)
				}
			}
		})
	}
	t.Run("differing in the high bits only", func(t *testing.T) {
		s := New()
		for i := range 2000 {
			require.True(t, s.add(hash{42, uint32(i)}))
		}
		for i := range 2000 {
			require.False(t, s.add(hash{42, uint32(i)}))
		}
	})
	t.Run("a hash of zero", func(t *testing.T) {
		require.True(t, New().add(hash{1, 0}))
	})
}

// Memory is at most 28 bytes for each string, and garbage next to nothing.
func TestMemory(t *testing.T) {
	for _, n := range []int{300000, 1000000} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		s := New()
		b := name(0)
		for i := range n {
			binary.BigEndian.PutUint64(b[5:], uint64(i))
			s.Add(b)
		}
		runtime.ReadMemStats(&after)
		require.Less(t, (after.TotalAlloc-before.TotalAlloc)/uint64(n), uint64(30), "%d", n)
		runtime.KeepAlive(s)
	}
}

func BenchmarkAdd(b *testing.B) {
	s, name := New(), name(0)
	for i := 0; b.Loop(); i++ {
		binary.BigEndian.PutUint64(name[5:], uint64(i))
		s.Add(name)
	}
}
