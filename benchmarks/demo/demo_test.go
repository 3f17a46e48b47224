package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/rueidis"
	"go.uber.org/goleak"
)

// small is enough for replies of several reads, and little enough for the race detector.
var small = sizes{value: 2, members: 20_000, fields: 3_000}

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" { // this is the demo's miniredis
		if err := serveMiniredis(os.Stdin, os.Stdout); err != nil {
			panic(err)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func TestRunStartsAndEndsItsServer(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	var out bytes.Buffer
	if err := run(context.Background(), config{miniredis: true, sizes: small}, &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	for _, want := range []string{
		"server  miniredis at 127.0.0.1:", "20,000 members", "\n5. Pipeline", "Every result was checked and is right.",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in the output:\n%s", want, &out)
		}
	}
	if got := strings.Count(out.String(), "checked: "); got != 5 {
		t.Errorf("%d steps were checked, not 5:\n%s", got, &out)
	}
	if i := strings.IndexAny(out.String(), "\x1b\r\b"); i >= 0 {
		t.Errorf("a terminal's control code at byte %d:\n%q", i, &out)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestRunOnAServerOfItsUser(t *testing.T) {
	for _, row := range []struct {
		name  string
		limit time.Duration // 0: none
	}{
		{"to the end", 0},
		{"interrupted", 20 * time.Millisecond},
	} {
		t.Run(row.name, func(t *testing.T) {
			m := miniredis.RunT(t)
			if err := m.Set("users:1", "ada"); err != nil {
				t.Fatal(err)
			}
			ctx := context.Background()
			if row.limit > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, row.limit)
				defer cancel()
			}
			var out bytes.Buffer
			err := run(ctx, config{redisURL: "redis://" + m.Addr(), sizes: small}, &out)
			if (err != nil) != (row.limit > 0) {
				t.Errorf("%v\n%s", err, &out)
			}
			if keys := m.Keys(); len(keys) != 1 || keys[0] != "users:1" {
				t.Errorf("the keys are %v, not the user's alone", keys)
			}
		})
	}
}

func TestURLErrorHidesPassword(t *testing.T) {
	for _, bad := range []string{"redis://user:secret@host:port/0", "redis://user:secret@127.0.0.1:1/0", "http://user:secret@x"} {
		err := run(context.Background(), config{redisURL: bad}, new(bytes.Buffer))
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestWrongDataIsFound(t *testing.T) {
	for _, row := range []struct {
		name  string
		spoil func(m *miniredis.Miniredis, d *data)
		want  string
	}{
		{"nothing", func(*miniredis.Miniredis, *data) {}, ""},
		{"value", func(m *miniredis.Miniredis, d *data) { _ = m.Set(d.value, "short") }, "step 1"},
		{"value gone", func(m *miniredis.Miniredis, d *data) { m.Del(d.value) }, "step 1"},
		{"member gone", func(m *miniredis.Miniredis, d *data) { _, _ = m.SRem(d.set, "member:7") }, "19999 elements came, not 20000"},
		{"member more", func(m *miniredis.Miniredis, d *data) { _, _ = m.SAdd(d.set, "x") }, `"x" was never put in`},
		{"field changed", func(m *miniredis.Miniredis, d *data) { m.HSet(d.hash, "field:7", "value:8") }, `"field:7" has the value "value:8"`},
		{"no miss", func(m *miniredis.Miniredis, d *data) { _ = m.Set(d.none, "") }, "not a value, a nil and a WRONGTYPE"},
	} {
		t.Run(row.name, func(t *testing.T) {
			m := miniredis.RunT(t)
			client, err := newClient(rueidis.ClientOption{InitAddress: []string{m.Addr()}})
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			out := &printer{w: new(bytes.Buffer)}
			d := newData(&server{client: client}, config{sizes: small})
			if err := d.fill(context.Background(), nil, out); err != nil {
				t.Fatal(err)
			}
			row.spoil(m, d)
			switch _, err := d.runSteps(context.Background(), out); {
			case err == nil && row.want != "":
				t.Errorf("no error, want one with %q", row.want)
			case err != nil && (row.want == "" || !strings.Contains(err.Error(), row.want)):
				t.Errorf("error %q, want %q", err, row.want)
			}
		})
	}
}

func TestCensus(t *testing.T) {
	for _, row := range []struct {
		name string
		see  []string
		want string
	}{
		{"all", []string{"m:2", "m:0", "m:1"}, ""},
		{"missing", []string{"m:2", "m:0"}, "2 elements came, not 3"},
		{"twice", []string{"m:2", "m:0", "m:2"}, `the element "m:2" came twice`},
		{"beyond", []string{"m:3"}, `the element "m:3" was never put in`},
		{"foreign", []string{"n:1"}, `the element "n:1" was never put in`},
		{"no number", []string{"m:"}, `the element "m:" was never put in`},
		{"no digit", []string{"m:1x"}, `the element "m:1x" was never put in`},
		{"too long", []string{"m:99999999999999999999"}, `the element "m:99999999999999999999" was never put in`},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := newCensus("m:", 3)
			for range 2 { // the second time after a reset
				c.reset()
				for _, s := range row.see {
					c.see([]byte(s))
				}
				got := ""
				if err := c.complete(); err != nil {
					got = err.Error()
				}
				if got != row.want {
					t.Errorf("%q, want %q", got, row.want)
				}
			}
		})
	}
}

func TestThousands(t *testing.T) {
	for n, want := range map[uint64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := thousands(n); got != want {
			t.Errorf("thousands(%d) = %s, want %s", n, got, want)
		}
	}
}
