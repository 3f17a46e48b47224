package resp

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// Bytes that are no reply: every way of reading them ends with the error, at little cost.
func TestInvalid(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("*1\r\n", n) + ":1\r\n" }
	rows := []struct {
		name, in string
		want     error
	}{
		{"unknown type byte", "x\r\n", ErrProtocol},
		{"a zero byte", "\x00\r\n", ErrProtocol},
		{"CRLF alone", "\r\n", ErrProtocol},
		{"unknown type byte inside", "*1\r\n@1\r\n", ErrProtocol},
		{"length without digits", "$\r\n", ErrProtocol},
		{"length -2", "$-2\r\n", ErrProtocol},
		{"length with plus", "$+1\r\na\r\n", ErrProtocol},
		{"length with space", "$ 1\r\na\r\n", ErrProtocol},
		{"length in hex", "$0x1\r\na\r\n", ErrProtocol},
		{"length ?1", "$?1\r\n", ErrProtocol},
		{"length without end", "$" + strings.Repeat("0", 500) + "1\r\na\r\n", ErrProtocol},
		{"length that overflows", "$9223372036854775808\r\n", ErrProtocol},
		{"length that overflows far", "*99999999999999999999999999\r\n", ErrProtocol},
		{"length that overflows with CRLF", "$9223372036854775807\r\n", ErrProtocol},
		{"largest length", "$9223372036854775803\r\nab", ErrTooBig},
		{"array of -2", "*-2\r\n", ErrProtocol},
		{"set of -1", "~-1\r\n", ErrProtocol},
		{"map of -1", "%-1\r\n", ErrProtocol},
		{"map that overflows", "%9223372036854775807\r\n", ErrProtocol},
		{"attribute that overflows", "|9223372036854775807\r\n", ErrProtocol},
		{"array of four billion", "*4294967295\r\n", io.ErrUnexpectedEOF},
		{"array of four billion with some", "*4294967295\r\n:1\r\n:2\r\n", io.ErrUnexpectedEOF},
		{"line without CR", "+OK\n", ErrProtocol},
		{"length line without CR", "$1\na\r\n", ErrProtocol},
		{"string longer than announced", "$1\r\nab\r\n", ErrProtocol},
		{"string shorter than announced", "$3\r\nab\r\n+OK\r\n", ErrProtocol},
		{"empty string without its CRLF", "*2\r\n$0\r\n$1\r\na\r\n", ErrProtocol},
		{"integer without digits", ":\r\n", ErrProtocol},
		{"integer of a sign", ":-\r\n", ErrProtocol},
		{"integer with letters", ":12a\r\n", ErrProtocol},
		{"integer that overflows", ":9223372036854775808\r\n", ErrProtocol},
		{"integer that overflows below", ":-9223372036854775809\r\n", ErrProtocol},
		{"boolean", "#x\r\n", ErrProtocol},
		{"boolean of two", "#tt\r\n", ErrProtocol},
		{"empty boolean", "#\r\n", ErrProtocol},
		{"null with text", "_x\r\n", ErrProtocol},
		{"verbatim without prefix", "=3\r\nabc\r\n", ErrProtocol},
		{"verbatim without colon", "=5\r\nabcde\r\n", ErrProtocol},
		{"verbatim inside without colon", "*1\r\n=5\r\nabcde\r\n", ErrProtocol},
		{"streamed verbatim", "=?\r\n;0\r\n", ErrProtocol},
		{"streamed error", "!?\r\n;0\r\n", ErrProtocol},
		{"streamed push", ">?\r\n.\r\n+OK\r\n", ErrProtocol},
		{"end marker alone", ".\r\n", ErrProtocol},
		{"end marker in a counted array", "*1\r\n.\r\n", ErrProtocol},
		{"end marker with text", "*?\r\n.x\r\n", ErrProtocol},
		{"end after a key", "%?\r\n+k\r\n.\r\n", ErrProtocol},
		{"chunk alone", ";1\r\na\r\n", ErrProtocol},
		{"chunk in an array", "*1\r\n;1\r\na\r\n", ErrProtocol},
		{"chunk of -1", "$?\r\n;-1\r\n", ErrProtocol},
		{"chunk of ?", "$?\r\n;?\r\n", ErrProtocol},
		{"no chunk", "$?\r\n$1\r\na\r\n", ErrProtocol},
		{"chunk longer than announced", "$?\r\n;1\r\nab\r\n;0\r\n", ErrProtocol},
		{"chunks beyond the limit", "$?\r\n" + strings.Repeat(";65536\r\n"+strings.Repeat("x", 65536)+"\r\n", 17) + ";0\r\n", ErrTooBig},
		{"nested deeper than the limit", deep(17), ErrTooBig},
		{"nested 10,000 deep", deep(10000), ErrTooBig},
		{"attributes nested 10,000 deep", strings.Repeat("|1\r\n", 10000), ErrTooBig},
		{"string beyond the limit", "$1048577\r\n", ErrTooBig},
		{"line beyond the limit", "+" + strings.Repeat("x", 1<<20+1) + "\r\n", ErrTooBig},
		{"aggregate beyond the limit", "*1\r\n*300000\r\n" + strings.Repeat(":1234\r\n", 300000), ErrTooBig},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			for _, way := range ways {
				for _, size := range []int{16, 1 << 16} {
					if row.want == ErrTooBig && strings.HasPrefix(way.name, "next and") &&
						(strings.Contains(way.name, "read") || strings.Contains(way.name, "write") || way.name == "next and current" || way.name == "next and elements") {
						continue // by pieces there is no such limit
					}
					r := newReader(t, strings.NewReader(row.in), size, true)
					_, err := way.read(r)
					require.ErrorIs(t, err, row.want, way.name)
					require.NotErrorIs(t, err, io.EOF)
				}
			}
			// Dropping it finds most of them, too: never a panic, never a clean end where the error is one of form.
			r := newReader(t, strings.NewReader(row.in), 64, true)
			err := r.Finish()
			if row.want == ErrProtocol {
				require.ErrorIs(t, err, ErrProtocol)
			}
			if err != nil {
				require.ErrorIs(t, r.Finish(), err, "the error stays")
				_, err2 := r.Next()
				require.ErrorIs(t, err2, err)
				_, err2 = r.Element()
				require.ErrorIs(t, err2, err)
				_, _, err2 = r.Pair(false)
				require.ErrorIs(t, err2, err)
				_, err2 = r.Current()
				require.ErrorIs(t, err2, err)
				_, err2 = r.Read(make([]byte, 1))
				require.ErrorIs(t, err2, err)
				_, err2 = r.Sync()
				require.ErrorIs(t, err2, err)
				require.ErrorIs(t, r.FinishWithin(1<<20), err)
				require.ErrorIs(t, r.Err(), err)
			}
		})
	}
}

// J3: a header that announces gigabytes costs nothing before they come.
func TestHostileHeadersAllocateNothing(t *testing.T) {
	for _, in := range []string{
		"*4294967295\r\n", "%4294967295\r\n", "~4294967295\r\n", "*9223372036854775807\r\n", "$1073741824\r\nabc", "$?\r\n;1073741824\r\nabc",
		"*1\r\n*4294967295\r\n*4294967295\r\n", "|4294967295\r\n", ">4294967295\r\n",
	} {
		for _, way := range ways {
			br := bufio.NewReaderSize(strings.NewReader(in), 4096)
			r := new(Reader)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			r.Reset(br, nil, Limits{MaxBytes: 1 << 40, MaxDepth: 128})
			_, err := way.read(r)
			runtime.ReadMemStats(&after)
			require.Error(t, err, "%q, %s", in, way.name)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20), "%q, %s", in, way.name)
		}
	}
}

// A string over the limit can still be read by pieces after Current refused it.
func TestTooBigForCurrent(t *testing.T) {
	body := strings.Repeat("x", 1<<20+1)
	for _, in := range []string{"$1048577\r\n" + body + "\r\n+next\r\n"} {
		r := newReader(t, strings.NewReader(in), 4096, true)
		_, err := r.Next()
		require.NoError(t, err)
		_, err = r.Current()
		require.ErrorIs(t, err, ErrTooBig)
		require.NoError(t, r.Err())
		b, err := io.ReadAll(r)
		require.NoError(t, err)
		require.Equal(t, body, string(b))
		require.NoError(t, r.Finish())
	}
}

func TestShape(t *testing.T) {
	t.Run("read before the first element", func(t *testing.T) {
		r := newReader(t, strings.NewReader("$1\r\na\r\n"), 64, false)
		_, err := r.Current()
		require.ErrorIs(t, err, ErrShape)
		_, err = r.Read(make([]byte, 1))
		require.ErrorIs(t, err, ErrShape)
		require.NoError(t, r.Err())
	})
	t.Run("read an aggregate", func(t *testing.T) {
		r := newReader(t, strings.NewReader("*1\r\n$1\r\na\r\n"), 64, false)
		_, _ = r.Next()
		_, err := r.Read(make([]byte, 1))
		require.ErrorIs(t, err, ErrShape)
		_, err = r.WriteTo(io.Discard)
		require.ErrorIs(t, err, ErrShape)
		e, err := r.Current()
		require.NoError(t, err)
		require.EqualValues(t, 1, e.Len())
		_, err = r.Current()
		require.ErrorIs(t, err, ErrShape, "it was read")
	})
	t.Run("aggregate begun", func(t *testing.T) {
		r := newReader(t, strings.NewReader("*1\r\n*2\r\n:1\r\n:2\r\n"), 64, false)
		_, _ = r.Next()
		_, err := r.Element()
		require.NoError(t, err)
		_, err = r.Current()
		require.ErrorIs(t, err, ErrShape)
	})
	t.Run("an empty p reads nothing", func(t *testing.T) {
		r := newReader(t, strings.NewReader("$1\r\na\r\n"), 64, false)
		_, _ = r.Next()
		n, err := r.Read(nil)
		require.Zero(t, n)
		require.NoError(t, err)
	})
}

type shortWriter struct{ n int }

func (w *shortWriter) Write(p []byte) (int, error) { return min(w.n, len(p)), nil }

type countLiar struct{}

func (countLiar) Write(p []byte) (int, error) { return len(p) + 1, nil }

func TestWriteToFailing(t *testing.T) {
	sunk := errors.New("sunk")
	for _, size := range []int{16, 4096} {
		in := "*2\r\n$26\r\nabcdefghijklmnopqrstuvwxyz\r\n+ok\r\n"
		start := func() *Reader {
			r := newReader(t, strings.NewReader(in), size, true)
			_, _ = r.Next()
			_, err := r.Next()
			require.NoError(t, err)
			return r
		}
		t.Run(fmt.Sprintf("short write, buffer %d", size), func(t *testing.T) {
			r := start()
			n, err := r.WriteTo(&shortWriter{3})
			require.ErrorIs(t, err, io.ErrShortWrite)
			require.EqualValues(t, 3, n)
			rest, err := io.ReadAll(r)
			require.NoError(t, err)
			require.Equal(t, "defghijklmnopqrstuvwxyz", string(rest), "the string goes on behind what was taken")
			h, err := r.Next()
			require.NoError(t, err)
			require.Equal(t, Header{Simple, 1, 2}, h)
		})
		t.Run(fmt.Sprintf("failing, buffer %d", size), func(t *testing.T) {
			r := start()
			n, err := r.WriteTo(writerFunc(func([]byte) (int, error) { return 1, sunk }))
			require.ErrorIs(t, err, sunk)
			require.EqualValues(t, 1, n)
			require.NoError(t, r.Finish())
		})
		t.Run(fmt.Sprintf("lying, buffer %d", size), func(t *testing.T) {
			r := start()
			n, err := r.WriteTo(countLiar{})
			require.Error(t, err)
			require.Zero(t, n)
			require.NoError(t, r.Finish())
		})
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// The error of the wait hook ends the reading, wherever it comes.
func TestWaitFails(t *testing.T) {
	stop := errors.New("stop")
	in := "*3\r\n$5\r\nhello\r\n*?\r\n$?\r\n;3\r\nabc\r\n;0\r\n.\r\n+" + strings.Repeat("x", 40) + "\r\n"
	for at := range 70 {
		for _, way := range ways {
			waits := 0
			r := new(Reader)
			r.Reset(bufio.NewReaderSize(iotest.OneByteReader(strings.NewReader(in)), 16), func() error {
				if waits++; waits > at {
					return stop
				}
				return nil
			}, limits)
			_, err := way.read(r)
			if err == nil {
				err = r.Finish()
			}
			require.ErrorIs(t, err, stop, "%d %s", at, way.name)
		}
	}
}
