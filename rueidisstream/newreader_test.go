package rueidisstream_test

import (
	"bufio"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/rueidisstream"
)

func reader(s string, opts ...rueidisstream.Option) *rueidisstream.Reader {
	return rueidisstream.NewReader(iotest.OneByteReader(strings.NewReader(s)), opts...)
}

func TestNewReader(t *testing.T) {
	t.Run("replies one after the other", func(t *testing.T) {
		br := bufio.NewReader(strings.NewReader("$1\r\na\r\n*2\r\n:1\r\n:2\r\n*3\r\n:1\r\n:2\r\n:3\r\n+end\r\n"))
		r := rueidisstream.NewReader(br)
		v, err := r.Value()
		require.NoError(t, err)
		require.Equal(t, "a", v.String())
		require.NoError(t, r.Close())
		r = rueidisstream.NewReader(br)
		require.Equal(t, rueidisstream.Header{Kind: rueidisstream.KindArray, Len: 2}, r.Header())
		require.NoError(t, r.Close(), "unread")
		r = rueidisstream.NewReader(br)
		_, err = r.Next()
		require.NoError(t, err)
		require.NoError(t, r.Close(), "half read")
		r = rueidisstream.NewReader(br)
		v, err = r.Value()
		require.NoError(t, err)
		require.Equal(t, "end", v.String())
		_, err = r.Next()
		require.Equal(t, io.EOF, err)
		require.NoError(t, r.Close())
		r = rueidisstream.NewReader(br)
		_, err = r.Value()
		require.ErrorIs(t, err, io.ErrUnexpectedEOF, "nothing is not an empty reply")
	})
	t.Run("an error reply", func(t *testing.T) {
		for _, in := range []string{"-ERR no\r\n", "!6\r\nERR no\r\n"} {
			for name, call := range calls {
				r := reader(in)
				err := call(r)
				_, ok := rueidis.IsRedisErr(err)
				require.True(t, ok, "%s: %v", name, err)
				require.Equal(t, "no", err.Error())
			}
		}
	})
	t.Run("a null reply", func(t *testing.T) {
		for _, in := range []string{"_\r\n", "$-1\r\n", "*-1\r\n"} {
			for name, call := range calls {
				require.Equal(t, error(rueidis.Nil), call(reader(in)), name)
			}
			require.Equal(t, rueidisstream.KindNull, reader(in).Header().Kind)
		}
	})
	t.Run("closed", func(t *testing.T) {
		for name, call := range calls {
			r := reader("*2\r\n:1\r\n:2\r\n")
			require.NoError(t, r.Close())
			require.NoError(t, r.Close())
			require.Error(t, call(r), name)
			require.Equal(t, rueidisstream.Header{}, r.Header())
		}
	})
	t.Run("closed in the loop", func(t *testing.T) {
		r := reader("*2\r\n:1\r\n:2\r\n")
		n, last := 0, error(nil)
		for _, err := range r.Values() {
			if last = err; err == nil {
				n++
				require.NoError(t, r.Close())
			}
		}
		require.Equal(t, 1, n)
		require.Error(t, last)
		r = reader("*4\r\n:1\r\n:2\r\n:3\r\n:4\r\n")
		n = 0
		for _, err := range r.Pairs() {
			if last = err; err == nil {
				n++
				require.NoError(t, r.Close())
			}
		}
		require.Equal(t, 1, n)
		require.Error(t, last)
	})
}

// calls are all that read, and their errors.
var calls = map[string]func(*rueidisstream.Reader) error{
	"Next":    func(r *rueidisstream.Reader) error { _, err := r.Next(); return err },
	"Value":   func(r *rueidisstream.Reader) error { _, err := r.Value(); return err },
	"Skip":    func(r *rueidisstream.Reader) error { return r.Skip() },
	"Read":    func(r *rueidisstream.Reader) error { _, err := r.Read(make([]byte, 1)); return err },
	"WriteTo": func(r *rueidisstream.Reader) error { _, err := r.WriteTo(io.Discard); return err },
	"Values": func(r *rueidisstream.Reader) (err error) {
		for _, err = range r.Values() {
		}
		return err
	},
	"Pairs": func(r *rueidisstream.Reader) (err error) {
		for _, err = range r.Pairs() {
		}
		return err
	},
}

// Every call says where the reply broke off, and that it did; never io.EOF.
func TestReaderCut(t *testing.T) {
	for name, call := range calls {
		for _, in := range []string{"", "*2", "*2\r\n$10\r\nabc"} {
			r := reader(in)
			err := call(r)
			if name == "Next" && len(in) > 5 {
				require.NoError(t, err, "it stands on the string")
				_, err = io.ReadAll(r)
			}
			if (name == "Read" || name == "WriteTo") && len(in) > 5 {
				require.ErrorIs(t, err, rueidisstream.ErrShape)
				continue
			}
			require.ErrorIs(t, err, io.ErrUnexpectedEOF, "%s of %q", name, in)
			require.NotErrorIs(t, err, io.EOF)
			require.Contains(t, err.Error(), "bytes")
			require.ErrorIs(t, call(r), io.ErrUnexpectedEOF, "again")
			require.NoError(t, r.Close())
		}
	}
}

// Next, Values, Pairs, Skip and Value mix: each goes on where the last one stopped.
func TestReaderMixed(t *testing.T) {
	const in = "*6\r\n:0\r\n:1\r\n*2\r\n:2\r\n:3\r\n%1\r\n+k\r\n+v\r\n$3\r\nabc\r\n:4\r\n"
	values := func(r *rueidisstream.Reader, n int) (got []string) {
		for v, err := range r.Values() {
			require.NoError(t, err)
			got = append(got, ofValue(t, v))
			if len(got) == n {
				break
			}
		}
		return got
	}
	r := reader(in)
	require.Equal(t, []string{`"0"`}, values(r, 1))
	h, err := r.Next()
	require.NoError(t, err)
	require.Equal(t, rueidisstream.Header{Kind: rueidisstream.KindInteger, Depth: 1, Len: 1}, h)
	h, err = r.Next()
	require.NoError(t, err)
	require.Equal(t, rueidisstream.Header{Kind: rueidisstream.KindArray, Depth: 1, Len: 2}, h)
	require.Equal(t, []string{`"2"`, `"3"`}, values(r, -1), "of the inner array")
	require.Equal(t, []string{`{"k": "v"}`}, values(r, 1), "then of the outer")
	require.Equal(t, []string{`"abc"`, `"4"`}, values(r, -1))
	_, err = r.Next()
	require.Equal(t, io.EOF, err)

	r = reader(in)
	for range 4 {
		_, err = r.Next()
		require.NoError(t, err)
	}
	require.Equal(t, "2", value(t, r), "in the inner array")
	require.NoError(t, r.Skip())
	h, err = r.Next()
	require.NoError(t, err)
	require.Equal(t, rueidisstream.KindMap, h.Kind)
	for p, err := range r.Pairs() {
		require.NoError(t, err)
		require.Equal(t, "k", p.Key.String())
	}
	require.NoError(t, r.Skip())
	_, err = r.Next()
	require.Equal(t, io.EOF, err)

	r = reader("*2\r\n$5\r\nhello\r\n$5\r\nworld\r\n")
	_, _ = r.Next()
	p := make([]byte, 2)
	_, err = io.ReadFull(r, p)
	require.NoError(t, err)
	require.Equal(t, "llo", value(t, r), "what is left")
	require.Equal(t, "llo", value(t, r), "again")
	rest, err := io.ReadAll(r)
	require.NoError(t, err)
	require.Equal(t, "llo", string(rest), "Value consumes nothing")
	require.Equal(t, []string{`"world"`}, values(r, -1))
}

func value(t testing.TB, r *rueidisstream.Reader) string {
	v, err := r.Value()
	require.NoError(t, err)
	return v.String()
}

// Read of what is no string.
func TestReadElement(t *testing.T) {
	r := reader("*6\r\n:42\r\n_\r\n-ERR no\r\n#t\r\n*0\r\n,1.5\r\n")
	for _, want := range []struct {
		text string
		err  error
	}{{"42", nil}, {"", rueidis.Nil}, {"", io.ErrNoProgress}, {"1", nil}, {"", rueidisstream.ErrShape}, {"1.5", nil}} {
		_, err := r.Next()
		require.NoError(t, err)
		b, err := io.ReadAll(r)
		require.Equal(t, want.text, string(b))
		switch want.err {
		case io.ErrNoProgress:
			_, ok := rueidis.IsRedisErr(err)
			require.True(t, ok)
		case nil:
			require.NoError(t, err)
		default:
			require.ErrorIs(t, err, want.err)
		}
	}
}

func TestLimits(t *testing.T) {
	long := "$100\r\n" + strings.Repeat("x", 100) + "\r\n"
	t.Run("WithMaxBytes", func(t *testing.T) {
		for _, in := range []string{"*1\r\n" + long, "*1\r\n*1\r\n" + long} {
			for name, call := range map[string]func(*rueidisstream.Reader) error{"Values": calls["Values"], "Value": calls["Value"]} {
				require.ErrorIs(t, call(reader(in, rueidisstream.WithMaxBytes(99))), rueidisstream.ErrTooBig, name)
				require.NoError(t, call(reader(in, rueidisstream.WithMaxBytes(200))), name)
				require.NoError(t, call(reader(in, rueidisstream.WithMaxBytes(0))), "0 is the default")
			}
		}
		r := reader(long, rueidisstream.WithMaxBytes(99))
		_, err := r.Value()
		require.ErrorIs(t, err, rueidisstream.ErrTooBig)
		b, err := io.ReadAll(r)
		require.NoError(t, err, "by pieces it can be read all the same")
		require.Len(t, b, 100)
	})
	t.Run("WithMaxDepth", func(t *testing.T) {
		in := strings.Repeat("*1\r\n", 5) + ":1\r\n"
		require.ErrorIs(t, calls["Values"](reader(in, rueidisstream.WithMaxDepth(4))), rueidisstream.ErrTooBig)
		require.NoError(t, calls["Values"](reader(in, rueidisstream.WithMaxDepth(5))))
		require.NoError(t, calls["Values"](reader(in, rueidisstream.WithMaxDepth(-1))))
		require.ErrorIs(t, calls["Values"](reader(strings.Repeat("*1\r\n", 129)+":1\r\n")), rueidisstream.ErrTooBig, "128 by default")
		require.NoError(t, calls["Values"](reader(strings.Repeat("*1\r\n", 128)+":1\r\n")))
	})
	t.Run("the zero Option", func(t *testing.T) {
		require.NoError(t, calls["Values"](reader(long, rueidisstream.Option{})))
	})
}

func TestPairsShape(t *testing.T) {
	for _, in := range []string{":1\r\n", "$1\r\na\r\n", "*3\r\n:1\r\n:2\r\n:3\r\n", "*2\r\n*2\r\n:1\r\n:2\r\n:3\r\n"} {
		require.ErrorIs(t, calls["Pairs"](reader(in)), rueidisstream.ErrShape, in)
	}
	require.NoError(t, calls["Pairs"](reader("*0\r\n")))
}
