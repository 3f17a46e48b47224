package juicefs_test

import (
	"context"
	"strings"
	"testing"

	"github.com/rueidisx/rueidisx/benchmarks/juicefs"
	"github.com/rueidisx/rueidisx/internal/redistest"
)

func TestMain(m *testing.M) { redistest.Main(m) }

// Fill writes all sizes as they are asked for.
func TestFill(t *testing.T) {
	c := redistest.NewClient(t, redistest.Shared(t))
	ctx := context.Background()
	for i, n := range []int{0, 1, 100, 4095, 4096, 4097, 50000} {
		inode := uint64(i + 1)
		if err := juicefs.Fill(ctx, c, inode, n); err != nil {
			t.Fatal(err)
		}
		if got, err := c.Do(ctx, c.B().Hlen().Key(juicefs.Dir(inode)).Build()).AsInt64(); err != nil || got != int64(n) {
			t.Fatal(got, err)
		}
		if n == 0 {
			continue
		}
		attr, err := c.Do(ctx, c.B().Get().Key(juicefs.AttrKey(juicefs.Child(inode, n-1))).Build()).ToString()
		if err != nil || len(attr) != juicefs.AttrLen {
			t.Fatal(len(attr), err)
		}
	}
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	if err := juicefs.Fill(canceled, c, 99, 100000); err == nil || !strings.Contains(err.Error(), "canceled") {
		t.Fatal(err)
	}
}
