package resp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
)

// encode writes n as RESP of announced lengths.
func encode(b *bytes.Buffer, n node) {
	switch {
	case IsAggregate(n.kind):
		size := len(n.sub)
		if n.kind == Map {
			size /= 2
		}
		fmt.Fprintf(b, "%c%d\r\n", n.kind, size)
		for _, s := range n.sub {
			encode(b, s)
		}
	case n.kind == Verbatim:
		fmt.Fprintf(b, "=%d\r\ntxt:%s\r\n", len(n.text)+4, n.text)
	case isString(n.kind):
		fmt.Fprintf(b, "%c%d\r\n%s\r\n", n.kind, len(n.text), n.text)
	case n.kind == Bool:
		fmt.Fprintf(b, "#%c\r\n", "ft"[n.text[0]-'0'])
	default:
		fmt.Fprintf(b, "%c%s\r\n", n.kind, n.text)
	}
}

// FuzzReader checks that whatever the bytes are, all ways of reading agree on what they say, however they arrive, and that what
// was read, written anew, reads the same.
func FuzzReader(f *testing.F) {
	files, _ := filepath.Glob("../../testdata/resp/*.txt")
	for _, file := range files {
		if in, _ := transcript(&testing.T{}, file); len(in) < 2000 {
			f.Add([]byte(in))
		}
	}
	f.Add([]byte("*2\r\n$?\r\n;1\r\na\r\n|1\r\n+x\r\n+y\r\n;0\r\n*?\r\n.\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		want, wantErr := read(ways[4].read, bytes.NewReader(data), 1<<12) // by Element, the strictest
		for _, way := range ways {
			for _, size := range []int{16, 1 << 12} {
				got, err := read(way.read, iotest.HalfReader(bytes.NewReader(data)), size)
				switch {
				case wantErr == nil && err != nil:
					t.Fatalf("%s: %v, which reads as\n%s", way.name, err, want)
				case wantErr == nil && got.String() != want.String():
					t.Fatalf("%s:\n%s\nnot\n%s", way.name, got, want)
				case err == nil && errors.Is(wantErr, ErrProtocol):
					t.Fatalf("%s: accepts what is %v", way.name, wantErr)
				case err == io.EOF:
					t.Fatalf("%s: io.EOF", way.name)
				}
			}
		}
		if wantErr != nil {
			return
		}
		var b bytes.Buffer
		encode(&b, want)
		again, err := read(ways[0].read, &b, 64)
		if err != nil || again.String() != want.String() {
			t.Fatalf("written anew: %v\n%s\nnot\n%s", err, again, want)
		}
		if !strings.HasPrefix(want.String(), string(want.kind)) {
			t.Fatal(want.String())
		}
	})
}

func read(way func(*Reader) (node, error), src io.Reader, size int) (node, error) {
	r := new(Reader)
	r.Reset(bufio.NewReaderSize(src, size), func() error { return nil }, limits)
	return way(r)
}
