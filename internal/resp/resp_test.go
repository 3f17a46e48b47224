package resp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

var limits = Limits{MaxBytes: 1 << 20, MaxDepth: 16}

// node is an element and what it holds, however it was read.
type node struct {
	kind byte
	text string
	sub  []node
}

func (n node) String() string {
	var b strings.Builder
	n.write(&b, 0)
	return b.String()
}

func (n node) write(b *strings.Builder, depth int) {
	fmt.Fprintf(b, "%s%c ", strings.Repeat("  ", depth), n.kind)
	if IsAggregate(n.kind) {
		fmt.Fprintf(b, "%d\n", len(n.sub))
	} else {
		fmt.Fprintf(b, "%q\n", n.text)
	}
	for _, s := range n.sub {
		s.write(b, depth+1)
	}
}

// The ways to read a reply; all must find the same.
var ways = []struct {
	name string
	read func(r *Reader) (node, error)
}{
	{"next and current", func(r *Reader) (node, error) {
		return descend(r, func(r *Reader) (string, error) {
			e, err := r.Current()
			if err != nil {
				return "", err
			}
			again, err := r.Current()
			if err == nil && !bytes.Equal(again.Bytes, e.Bytes) {
				err = errors.New("the second Current differs")
			}
			return string(e.Bytes), err
		})
	}},
	{"next and read", func(r *Reader) (node, error) {
		return descend(r, func(r *Reader) (string, error) {
			b, err := io.ReadAll(iotest.OneByteReader(r))
			return string(b), err
		})
	}},
	{"next and read then current", func(r *Reader) (node, error) {
		return descend(r, func(r *Reader) (string, error) {
			p := make([]byte, 3)
			n, err := io.ReadFull(r, p)
			if err == io.EOF || err == io.ErrUnexpectedEOF && r.Err() == nil {
				return string(p[:n]), nil
			}
			if err != nil {
				return "", err
			}
			e, err := r.Current()
			return string(p[:n]) + string(e.Bytes), err
		})
	}},
	{"next and write to", func(r *Reader) (node, error) {
		return descend(r, func(r *Reader) (string, error) {
			var b bytes.Buffer
			n, err := r.WriteTo(&b)
			if err == nil && n != int64(b.Len()) {
				err = fmt.Errorf("WriteTo counted %d of %d", n, b.Len())
			}
			return b.String(), err
		})
	}},
	{"element", func(r *Reader) (node, error) {
		e, err := r.Element()
		if err != nil {
			return node{}, err
		}
		n := tree(e)
		_, err = r.Element()
		if err != io.EOF {
			return n, fmt.Errorf("after the reply: %w", err)
		}
		return n, nil
	}},
	{"next and elements", func(r *Reader) (node, error) {
		h, err := r.Next()
		if err != nil {
			return node{}, err
		}
		if !IsAggregate(h.Kind) {
			e, err := r.Current()
			return tree(e), err
		}
		n := node{kind: h.Kind}
		for {
			e, err := r.Element()
			if err == io.EOF {
				return n, nil
			}
			if err != nil {
				return n, err
			}
			n.sub = append(n.sub, tree(e))
		}
	}},
	{"next and current aggregate", func(r *Reader) (node, error) {
		if _, err := r.Next(); err != nil {
			return node{}, err
		}
		e, err := r.Current()
		return tree(e), err
	}},
}

func tree(e Element) node {
	n := node{kind: e.Kind()}
	if !IsAggregate(e.Kind()) {
		n.text = string(e.Bytes)
		if int(e.Len()) != len(e.Bytes) {
			n.text = "wrong length " + strconv.Itoa(int(e.Len()))
		}
		return n
	}
	rest := e.Bytes
	for range e.Len() {
		var s Element
		s, rest = Split(rest)
		n.sub = append(n.sub, tree(s))
	}
	if len(rest) > 0 {
		n.sub = append(n.sub, node{text: "left over"})
	}
	return n
}

// descend reads a reply depth first by Next.
func descend(r *Reader, text func(*Reader) (string, error)) (node, error) {
	root := node{}
	path := []*node{&root}
	for {
		h, err := r.Next()
		if err == io.EOF {
			return root.sub[0], nil
		}
		if err != nil {
			return node{}, err
		}
		path = path[:h.Depth+1]
		up := path[h.Depth]
		up.sub = append(up.sub, node{kind: h.Kind})
		n := &up.sub[len(up.sub)-1]
		path = append(path, n)
		if IsAggregate(h.Kind) {
			continue
		}
		if n.text, err = text(r); err != nil {
			return node{}, err
		}
		if h.Len != Unknown && int(h.Len) != len(n.text) {
			return node{}, fmt.Errorf("length %d of %q", h.Len, n.text)
		}
	}
}

// The ways that bytes arrive.
var sources = []struct {
	name string
	size int
	make func(s string) io.Reader
}{
	{"at once", 1 << 16, func(s string) io.Reader { return strings.NewReader(s) }},
	{"at once, tiny buffer", 16, func(s string) io.Reader { return strings.NewReader(s) }},
	{"one byte", 1 << 16, func(s string) io.Reader { return iotest.OneByteReader(strings.NewReader(s)) }},
	{"one byte, tiny buffer", 16, func(s string) io.Reader { return iotest.OneByteReader(strings.NewReader(s)) }},
	{"halves", 64, func(s string) io.Reader { return iotest.HalfReader(strings.NewReader(s)) }},
	{"with the error", 64, func(s string) io.Reader { return iotest.DataErrReader(strings.NewReader(s)) }},
}

// newReader returns a Reader whose wait hook checks what it is promised.
func newReader(t testing.TB, src io.Reader, size int, hook bool) *Reader {
	br := bufio.NewReaderSize(src, size)
	r := new(Reader)
	var wait func() error
	if hook {
		first := true
		// As a connection has it: the reply begins in what is buffered already.
		_, _ = br.Peek(1)
		wait = func() error {
			if first {
				require.Zero(t, br.Buffered(), "the first wait comes with bytes buffered")
				first = false
			}
			return nil
		}
	}
	r.Reset(br, wait, limits)
	return r
}

// transcript is a file of testdata/resp: quoted bytes, a line "---", and how they read.
func transcript(t testing.TB, file string) (input, golden string) {
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	head, golden, ok := strings.Cut(string(b), "---\n")
	require.True(t, ok, "no --- in %s", file)
	for line := range strings.Lines(head) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		s, err := strconv.Unquote(line)
		require.NoError(t, err, "%s: %s", file, line)
		input += s
	}
	return input, golden
}

func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("../../testdata/resp/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			input, golden := transcript(t, file)
			for _, src := range sources {
				for _, way := range ways {
					for _, hook := range []bool{false, true} {
						name := fmt.Sprintf("%s, %s, hook %v", src.name, way.name, hook)
						r := newReader(t, src.make(input+"+next\r\n"), src.size, hook)
						n, err := way.read(r)
						require.NoError(t, err, name)
						require.Equal(t, golden, n.String(), name)
						require.NoError(t, r.Finish(), name)
						require.True(t, r.Done(), name)
						_, err = r.Next()
						require.ErrorIs(t, err, io.EOF, name)
						// What follows the reply is untouched and stands at the front.
						br, err := r.Sync()
						require.NoError(t, err, name)
						require.EqualValues(t, len(input), r.Offset(), name)
						rest, err := io.ReadAll(br)
						require.NoError(t, err, name)
						require.Equal(t, "+next\r\n", string(rest), name)
					}
				}
			}
		})
	}
}

// Every proper prefix of a reply is io.ErrUnexpectedEOF, in whichever way it is read: never io.EOF, never a shorter reply.
func TestCutAnywhere(t *testing.T) {
	files, _ := filepath.Glob("../../testdata/resp/*.txt")
	for _, file := range files {
		input, _ := transcript(t, file)
		if len(input) > 2000 {
			continue
		}
		for cut := range len(input) {
			for _, way := range ways {
				r := newReader(t, strings.NewReader(input[:cut]), 16, cut%2 == 0)
				_, err := way.read(r)
				if err == nil {
					err = r.Finish()
				}
				require.ErrorIs(t, err, io.ErrUnexpectedEOF, "%s cut at %d, %s", file, cut, way.name)
				require.NotErrorIs(t, err, io.EOF)
			}
		}
	}
}
