package juicefs_test

import (
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/rueidisx/rueidisx/benchmarks/juicefs"
)

// Fill writes all sizes as they are asked for.
func TestFill(t *testing.T) {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		t.Skip("no redis-server")
	}
	socket := t.TempDir() + "/redis.sock"
	srv := exec.Command(path, "--port", "0", "--unixsocket", socket, "--save", "")
	if err := srv.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = srv.Process.Kill(); _ = srv.Wait() })
	var c rueidis.Client
	for range 100 {
		if c, err = rueidis.NewClient(rueidis.MustParseURL("unix://" + socket)); err == nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
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
