package rueidisstream_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

func openString(t testing.TB, c rueidis.Client, key string) *rueidisstream.StringReader {
	t.Helper()
	s, err := rueidisstream.OpenString(caseContext(t), c, key, rueidisstream.AllowReplica())
	require.NoError(t, err)
	return s
}

func TestOpenString(t *testing.T) {
	bothProtocols(t, func(t *testing.T, c rueidis.Client) {
		for _, size := range []int{0, 1, 511, 512, 513, 1023, 1024, 1025, 1056, 2047, 5000, 64 << 10, 64<<10 + 1, 300 << 10} {
			want := caseRandom(size, 3)
			setString(t, c, "k", want)
			s := openString(t, c, "k")
			require.EqualValues(t, size, s.Size())
			if size <= 5000 {
				require.NoError(t, iotest.TestReader(s, []byte(want)), "%d bytes", size)
				got, err := io.ReadAll(iotest.OneByteReader(openString(t, c, "k")))
				require.NoError(t, err)
				require.Equal(t, want, string(got))
			}
			s = openString(t, c, "k")
			got, err := io.ReadAll(s)
			require.NoError(t, err)
			require.True(t, want == string(got), "%d bytes", size)
		}
		t.Run("missing", func(t *testing.T) {
			_, err := rueidisstream.OpenString(context.Background(), c, "missing")
			require.Equal(t, rueidis.Nil, err)
			require.True(t, rueidis.IsRedisNil(err))
		})
		t.Run("another type", func(t *testing.T) {
			require.NoError(t, c.Do(context.Background(), c.B().Sadd().Key("set").Member("m").Build()).Error())
			_, err := rueidisstream.OpenString(context.Background(), c, "set")
			_, ok := rueidis.IsRedisErr(err)
			require.True(t, ok)
			require.ErrorContains(t, err, "WRONGTYPE")
		})
		t.Run("cancelled", func(t *testing.T) {
			setString(t, c, "k", caseRandom(2000, 3))
			ctx, cancel := context.WithCancel(context.Background())
			s, err := rueidisstream.OpenString(ctx, c, "k")
			require.NoError(t, err)
			cancel()
			_, err = s.ReadAt(make([]byte, 10), 5)
			require.ErrorIs(t, err, context.Canceled)
			require.ErrorContains(t, err, "at byte 5")
			_, err = rueidisstream.OpenString(ctx, c, "k")
			require.ErrorIs(t, err, context.Canceled)
		})
	})
}

// Values of several ranges, in every way of reading.
func TestStringReaderRanges(t *testing.T) {
	const size = 5*batch + 777
	want := caseRandom(size, 4)
	bothProtocols(t, func(t *testing.T, c rueidis.Client) {
		setString(t, c, "k", want)
		t.Run("ReadAt", func(t *testing.T) {
			s := openString(t, c, "k")
			for _, row := range []struct {
				off, n, want int
				err          error
			}{
				{0, size, size, nil},
				{0, size + 1, size, io.EOF},
				{1, batch, batch, nil},
				{size - 3, 3, 3, nil},
				{size - 3, 4, 3, io.EOF},
				{size, 1, 0, io.EOF},
				{size, 0, 0, io.EOF},
				{size + 9, 1, 0, io.EOF},
				{7, 0, 0, nil},
			} {
				p := make([]byte, row.n)
				n, err := s.ReadAt(p, int64(row.off))
				require.Equal(t, row.err, err, "%+v", row)
				require.Equal(t, row.want, n, "%+v", row)
				if n > 0 {
					require.True(t, want[row.off:row.off+n] == string(p[:n]), "%+v", row)
				}
			}
			n, err := s.ReadAt(make([]byte, 1), -1)
			require.Zero(t, n)
			require.ErrorContains(t, err, "negative")
		})
		t.Run("at the same time", func(t *testing.T) {
			s := openString(t, c, "k")
			var wg sync.WaitGroup
			for i := range 16 {
				wg.Add(1)
				go func() {
					defer wg.Done()
					for j := range 10 {
						off := (i*10 + j) * 12345 % (size - 10000)
						p := make([]byte, 10000)
						if n, err := s.ReadAt(p, int64(off)); n != len(p) || err != nil || want[off:off+n] != string(p) {
							t.Error(off, n, err)
						}
					}
				}()
			}
			wg.Wait()
		})
		t.Run("Read, Seek, WriteTo", func(t *testing.T) {
			s := openString(t, c, "k")
			var b strings.Builder
			n, err := s.WriteTo(&b)
			require.NoError(t, err)
			require.EqualValues(t, size, n)
			require.True(t, b.String() == want)
			n, err = s.WriteTo(&b)
			require.NoError(t, err)
			require.Zero(t, n, "at the end")
			for _, row := range []struct {
				offset int64
				whence int
				want   int64 // -1 is an error
			}{
				{100, io.SeekStart, 100},
				{100, io.SeekCurrent, 1100},
				{-1000, io.SeekEnd, size - 1000},
				{10, io.SeekEnd, size + 10},
				{-1, io.SeekStart, -1},
				{0, 7, -1},
				{batch + 5, io.SeekStart, batch + 5},
			} {
				at, err := s.Seek(row.offset, row.whence)
				if row.want < 0 {
					require.Error(t, err)
					continue
				}
				require.NoError(t, err)
				require.Equal(t, row.want, at)
				p := make([]byte, 900)
				n, err := s.Read(p)
				if at >= size {
					require.Equal(t, io.EOF, err)
					continue
				}
				require.NoError(t, err)
				require.Equal(t, 900, n)
				require.Equal(t, want[at:at+900], string(p))
			}
			n, err = s.WriteTo(&b)
			require.NoError(t, err)
			require.EqualValues(t, size-batch-5-900, n)
			require.True(t, strings.HasSuffix(b.String(), want[batch+5+900:]))
			m, err := s.Read(nil)
			require.Zero(t, m)
			require.Equal(t, io.EOF, err)
			_, _ = s.Seek(0, io.SeekStart)
			m, err = s.Read(nil)
			require.Zero(t, m)
			require.NoError(t, err)
		})
		t.Run("the writer fails", func(t *testing.T) {
			full := errors.New("full")
			for _, row := range []struct {
				name  string
				write func(p []byte) (int, error)
				want  error
				n     int64
			}{
				{"at once", func([]byte) (int, error) { return 0, full }, full, 0},
				{"after some", func([]byte) (int, error) { return 10, full }, full, 10},
				{"short", func([]byte) (int, error) { return 10, nil }, io.ErrShortWrite, 10},
				{"impossible", func(p []byte) (int, error) { return len(p) + 1, nil }, nil, 0},
				{"negative", func([]byte) (int, error) { return -1, nil }, nil, 0},
			} {
				s := openString(t, c, "k")
				n, err := s.WriteTo(caseWriter(row.write))
				require.Equal(t, row.n, n, row.name)
				require.ErrorContains(t, err, fmt.Sprintf("after %d bytes", n), row.name)
				if row.want != nil {
					require.ErrorIs(t, err, row.want, row.name)
				}
				at, err := s.Seek(0, io.SeekCurrent)
				require.NoError(t, err)
				require.Equal(t, n, at, row.name)
			}
		})
	})
}

// A2 and A3: the value is changed or deleted after chunk 2 of 8. No way of reading mixes the two, or ends cleanly.
func TestStringReaderChanged(t *testing.T) {
	const size = 8 * batch
	old, other := caseRandom(size, 5), caseRandom(size, 6)
	ways := map[string]func(s *rueidisstream.StringReader, change func()) ([]byte, error){
		"Read": func(s *rueidisstream.StringReader, change func()) ([]byte, error) {
			var got bytes.Buffer
			p := make([]byte, 32<<10)
			for {
				n, err := s.Read(p)
				got.Write(p[:n])
				if err != nil {
					return got.Bytes(), err
				}
				if got.Len() == 2*batch {
					change()
				}
			}
		},
		"ReadAt": func(s *rueidisstream.StringReader, change func()) ([]byte, error) {
			p := make([]byte, size)
			if n, err := s.ReadAt(p[:2*batch], 0); err != nil {
				return p[:n], err
			}
			change()
			n, err := s.ReadAt(p[2*batch:], 2*batch)
			return p[:2*batch+n], err
		},
		"WriteTo": func(s *rueidisstream.StringReader, change func()) ([]byte, error) {
			var got bytes.Buffer
			n, err := s.WriteTo(caseWriter(func(p []byte) (int, error) {
				if got.Len() < 2*batch && got.Len()+len(p) >= 2*batch {
					defer change()
				}
				return got.Write(p)
			}))
			if n != int64(got.Len()) {
				return nil, nil
			}
			return got.Bytes(), err
		},
	}
	bothProtocols(t, func(t *testing.T, c rueidis.Client) {
		do := func(cmd rueidis.Completed) func() {
			cmd = cmd.Pin()
			return func() { require.NoError(t, c.Do(context.Background(), cmd).Error()) }
		}
		both := func(f ...func()) func() {
			return func() {
				for _, f := range f {
					f()
				}
			}
		}
		b := c.B()
		for _, row := range []struct {
			name   string
			change func()
			says   string
		}{
			{"deleted", do(b.Del().Key("k").Build()), "its length was 4194304 and is 0"},
			{"expired", both(do(b.Pexpire().Key("k").Milliseconds(1).Build()), func() { time.Sleep(20 * time.Millisecond) }), "is 0"},
			{"emptied", do(b.Set().Key("k").Value("").Build()), "is 0"},
			{"appended to", do(b.Append().Key("k").Value("x").Build()), "is 4194305"},
			{"one byte less", do(b.Set().Key("k").Value(old[1:]).Build()), "is 4194303"},
			{"of another type", both(do(b.Del().Key("k").Build()), do(b.Sadd().Key("k").Member("m").Build())), "its type is another"},
			{"overwritten", do(b.Set().Key("k").Value(other).Build()), "its length is the same"},
			{"overwritten by SetFrom", func() {
				_, err := rueidisstream.SetFrom(context.Background(), c, "k", strings.NewReader(other))
				require.NoError(t, err)
			}, "its length is the same"},
			{"another first byte", do(b.Setrange().Key("k").Offset(0).Value(string([]byte{old[0] + 1})).Build()), "its length is the same"},
			{"another last byte", do(b.Setrange().Key("k").Offset(size - 1).Value(string([]byte{old[size-1] + 1})).Build()), "its length is the same"},
			{"another sixteenth, what was read", do(b.Setrange().Key("k").Offset(batch).Value(invert(old[batch : batch+size/16])).Build()), "its length is the same"},
			{"another sixteenth, what was not", do(b.Setrange().Key("k").Offset(size/2 + 12345).Value(invert(old[size/2+12345 : size/2+12345+size/16])).Build()), "its length is the same"},
		} {
			for name, read := range ways {
				t.Run(row.name+"/"+name, func(t *testing.T) {
					require.NoError(t, c.Do(context.Background(), b.Del().Key("k").Build()).Error())
					setString(t, c, "k", old)
					s := openString(t, c, "k")
					got, err := read(s, row.change)
					require.ErrorIs(t, err, rueidisstream.ErrChanged)
					require.ErrorContains(t, err, row.says)
					require.ErrorContains(t, err, "at byte ")
					require.NotErrorIs(t, err, io.EOF)
					require.GreaterOrEqual(t, len(got), 2*batch)
					require.Less(t, len(got), size)
					require.True(t, strings.HasPrefix(old, string(got)), "nothing but the old value")
					// For good, even if the value is back.
					setString(t, c, "k", old)
					for _, off := range []int64{0, size} {
						_, err2 := s.ReadAt(make([]byte, 1), off)
						require.Equal(t, err, err2)
						_, _ = s.Seek(off, io.SeekStart)
						_, err2 = s.WriteTo(io.Discard)
						require.ErrorIs(t, err2, rueidisstream.ErrChanged)
					}
				})
			}
		}
		t.Run("up to 1 KiB, any change", func(t *testing.T) {
			for i := range 1024 {
				setString(t, c, "small", old[:1024])
				s := openString(t, c, "small")
				require.NoError(t, c.Do(context.Background(), b.Setrange().Key("small").Offset(int64(i)).Value(invert(old[i:i+1])).Build()).Error())
				_, err := s.Read(make([]byte, 1))
				require.ErrorIs(t, err, rueidisstream.ErrChanged)
			}
		})
	})
}

func invert(s string) string {
	b := []byte(s)
	for i := range b {
		b[i] = ^b[i]
	}
	return string(b)
}

// A connection that the server had closed is no matter; one that is cut within a reply is read from once more.
func TestStringReaderReconnects(t *testing.T) {
	redistest.NoLeak(t)
	srv := redistest.Shared(t)
	proxy := redistest.NewProxy(t, srv.Addr)
	c := redistest.NewClient(t, srv, func(o *rueidis.ClientOption) { o.InitAddress = []string{proxy.Addr()} })
	want := caseRandom(4*batch, 7)
	setString(t, c, "k", want)
	s := openString(t, c, "k")
	p := make([]byte, 3*batch)
	for i := range 8 {
		proxy.CutAll()
		_, err := s.ReadAt(p, int64(i))
		require.NoError(t, err)
		require.True(t, want[i:i+len(p)] == string(p))
		proxy.Set(redistest.Fault{CutAfter: int64(1 + 100000*i), Once: true})
		_, err = s.ReadAt(p, int64(i))
		require.NoError(t, err)
		require.True(t, want[i:i+len(p)] == string(p))
	}
	proxy.Down()
	proxy.CutAll()
	_, err := s.ReadAt(p, 9)
	require.ErrorContains(t, err, "rueidisstream: at byte 9")
	require.NotErrorIs(t, err, rueidisstream.ErrChanged)
	proxy.Up(t)
	_, err = s.ReadAt(p, 9)
	require.NoError(t, err, "it was not the value that failed")
}

func TestOpenStringForged(t *testing.T) {
	redistest.NoLeak(t)
	value := caseRandom(3000, 8)
	for _, row := range []struct {
		name, of, reply string
		open, read      string // the errors; "" is none
	}{
		{"no number", "STRLEN", "+OK\r\n", "RESP protocol", "not a RESP3 int64"},
		{"negative", "STRLEN", ":-1\r\n", "length -1", "its length was 3000 and is -1"},
		{"too long", "STRLEN", ":3001\r\n", "", "its length was 3000 and is 3001"},
		{"not allowed", "STRLEN", "-NOPERM no\r\n", "NOPERM no", "NOPERM no"},
		{"not allowed at once", "QUEUED STRLEN", "-NOPERM no\r\n", "NOPERM no", "NOPERM no"},
		{"ends short", "GETRANGE", "$1\r\nx\r\n", "ends", "its length is the same"},
		{"no string", "GETRANGE", ":1\r\n", "RESP protocol", "not a string"},
		{"range short", "GETRANGE 1000 1009", "$1\r\nx\r\n", "", "1 bytes of GETRANGE instead of 10"},
		{"range not allowed", "GETRANGE 1000 1009", "-NOPERM no\r\n", "", "NOPERM no"},
		{"EXEC is a null", "EXEC", "_\r\n", "aborted", "aborted"},
	} {
		t.Run(row.name, func(t *testing.T) {
			forge := false
			var mu sync.Mutex
			s := newStore(t, func(cmd []string, reply string) string {
				mu.Lock()
				defer mu.Unlock()
				words := strings.Join(append([]string{cmd[0]}, cmd[min(len(cmd), 2):]...), " ")
				if forge && (cmd[0] == row.of || words == row.of || strings.Join(cmd, " ") == row.of) {
					return row.reply
				}
				return reply
			})
			set := func(on bool) {
				mu.Lock()
				defer mu.Unlock()
				forge = on
			}
			c := caseDial(t, s.Addr(), func(o *rueidis.ClientOption) { o.DisableCache = true })
			setString(t, c, "k", value)
			set(true)
			_, err := rueidisstream.OpenString(caseContext(t), c, "k")
			if row.open == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, strings.Replace(row.open, "RESP protocol", rueidisstream.ErrProtocol.Error(), 1))
			}
			set(false)
			r := openString(t, c, "k")
			set(true)
			_, err = r.ReadAt(make([]byte, 10), 1000)
			require.ErrorContains(t, err, row.read)
			if strings.HasPrefix(row.reply, "-") {
				_, ok := err.(*rueidis.RedisError)
				require.True(t, ok, "unwrapped")
			}
		})
	}
}

// How much is asked for: no more than the first 64 KiB for the first bytes, then more.
func TestStringReaderReadsAhead(t *testing.T) {
	redistest.NoLeak(t)
	s := newStore(t, nil)
	c := caseDial(t, s.Addr(), func(o *rueidis.ClientOption) { o.DisableCache = true })
	setString(t, c, "k", caseRandom(3*batch, 9))
	r := openString(t, c, "k")
	ranges := func() (got []string) {
		for _, cmd := range s.Commands() {
			if cmd[0] == "GETRANGE" && len(cmd[2]) > 0 && len(got) < 100 {
				var from, to int
				_, _ = fmt.Sscan(cmd[2], &from)
				_, _ = fmt.Sscan(cmd[3], &to)
				if to-from > 1000 {
					got = append(got, fmt.Sprintf("%d+%dK", from>>10, (to-from+1)>>10))
				}
			}
		}
		return got
	}
	_, err := r.Read(make([]byte, 512))
	require.NoError(t, err)
	_, _ = r.Seek(0, io.SeekStart)
	require.Equal(t, []string{"0+64K"}, ranges())
	_, err = io.CopyN(io.Discard, r, 704<<10)
	require.NoError(t, err)
	require.Equal(t, []string{"0+64K", "64+128K", "192+256K", "448+256K"}, ranges())
	_, _ = r.Seek(1<<20, io.SeekStart)
	_, err = r.Read(make([]byte, 512))
	require.NoError(t, err)
	require.Equal(t, []string{"0+64K", "64+128K", "192+256K", "448+256K", "1024+64K"}, ranges())
}

// http.ServeContent with Range requests.
func TestServeContent(t *testing.T) {
	const size = 3*batch + 99
	want := caseRandom(size, 10)
	bothProtocols(t, func(t *testing.T, c rueidis.Client) {
		setString(t, c, "video", want)
		change := make(chan func(), 1)
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			s, err := rueidisstream.OpenString(req.Context(), c, "video")
			if rueidis.IsRedisNil(err) {
				http.NotFound(w, req)
				return
			}
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadGateway)
				return
			}
			select {
			case f := <-change:
				_, _ = s.Read(make([]byte, 1)) // has seen the value
				f()
				_, _ = s.Seek(batch, io.SeekStart)
			default:
			}
			http.ServeContent(w, req, "", time.Time{}, s)
		}))
		defer srv.Close()
		ask := func(method, ranges string) (*http.Response, string, error) {
			req, err := http.NewRequestWithContext(caseContext(t), method, srv.URL, nil)
			require.NoError(t, err)
			if ranges != "" {
				req.Header.Set("Range", ranges)
			}
			res, err := srv.Client().Do(req)
			require.NoError(t, err)
			defer res.Body.Close()
			body, err := io.ReadAll(res.Body)
			return res, string(body), err
		}
		for _, row := range []struct {
			name, method, ranges string
			status               int
			want, contentRange   string
		}{
			{"whole", "GET", "", 200, want, ""},
			{"head", "HEAD", "", 200, "", ""},
			{"single", "GET", "bytes=1000-600000", 206, want[1000:600001], fmt.Sprintf("bytes 1000-600000/%d", size)},
			{"one byte", "GET", "bytes=0-0", 206, want[:1], fmt.Sprintf("bytes 0-0/%d", size)},
			{"open", "GET", "bytes=1500000-", 206, want[1500000:], fmt.Sprintf("bytes 1500000-%d/%d", size-1, size)},
			{"suffix", "GET", "bytes=-70000", 206, want[size-70000:], fmt.Sprintf("bytes %d-%d/%d", size-70000, size-1, size)},
			{"beyond", "GET", fmt.Sprintf("bytes=%d-", size), 416, "invalid range: failed to overlap\n", fmt.Sprintf("bytes */%d", size)},
		} {
			res, body, err := ask(row.method, row.ranges)
			require.NoError(t, err, row.name)
			require.Equal(t, row.status, res.StatusCode, row.name)
			require.True(t, row.want == body, row.name)
			require.Equal(t, row.contentRange, res.Header.Get("Content-Range"), row.name)
		}
		res, body, err := ask("GET", "bytes=0-9,100000-200000,-5")
		require.NoError(t, err)
		require.Equal(t, 206, res.StatusCode)
		_, params, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
		require.NoError(t, err)
		parts := multipart.NewReader(strings.NewReader(body), params["boundary"])
		for _, w := range []string{want[:10], want[100000:200001], want[size-5:]} {
			part, err := parts.NextPart()
			require.NoError(t, err)
			got, err := io.ReadAll(part)
			require.NoError(t, err)
			require.True(t, w == string(got))
		}
		_, err = parts.NextPart()
		require.Equal(t, io.EOF, err)
		// The value goes away, or becomes another: the response is cut, never short and well.
		for _, f := range []func(){
			func() { _ = c.Do(context.Background(), c.B().Del().Key("video").Build()) },
			func() { setString(t, c, "video", invert(want)) },
		} {
			for _, ranges := range []string{"", "bytes=100000-1500000", "bytes=100000-1000000,1100000-1200000"} {
				setString(t, c, "video", want)
				change <- f
				res, body, err := ask("GET", ranges)
				if err == nil {
					require.Equal(t, 500, res.StatusCode, "nothing was sent yet")
					require.Less(t, len(body), 100)
				} else {
					require.ErrorIs(t, err, io.ErrUnexpectedEOF)
					require.True(t, ranges != "" && ranges[len(ranges)-1] != '0' || strings.Contains(want, body) || strings.Contains(body, "Content-Range"))
				}
			}
		}
		setString(t, c, "video", want)
		require.NoError(t, c.Do(context.Background(), c.B().Del().Key("video").Build()).Error())
		res, _, err = ask("GET", "")
		require.NoError(t, err)
		require.Equal(t, 404, res.StatusCode)
	})
}
