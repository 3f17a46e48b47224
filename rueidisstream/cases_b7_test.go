package rueidisstream_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

// caseText is what the fake of B7 sends: a block of lines, over and over, with one line in the middle that is longer than any buffer.
type caseText struct {
	block  string
	lines  int // in block
	blocks int
	long   string
	busy   atomic.Int32 // answers that are being sent; also to a client that left
}

func newCaseText(size int) *caseText {
	x := &caseText{long: strings.Repeat("l", 1<<20) + "\n"}
	var b strings.Builder
	for ; b.Len() < 1<<20; x.lines++ {
		fmt.Fprintf(&b, "id=%d addr=127.0.0.1:%d fd=8 name=%s age=0 idle=0 flags=N db=0 resp=3\n", x.lines, x.lines%65536, strings.Repeat("n", x.lines%200))
	}
	x.block = b.String()
	x.blocks = max(size/len(x.block), 1)
	return x
}

func (x *caseText) size() int { return x.blocks*len(x.block) + len(x.long) }

// answer sends the text in pieces that cut lines anywhere.
func (x *caseText) answer(c *redistest.FakeConn, cmd []string) {
	if cmd[0] == "ECHO" {
		c.Write(redistest.Bulk(cmd[1]))
		return
	}
	x.busy.Add(1)
	defer x.busy.Add(-1)
	if cmd[1] == "verbatim" {
		c.Write(fmt.Sprintf("=%d\r\ntxt:", x.size()+4))
	} else {
		c.Write(fmt.Sprintf("$%d\r\n", x.size()))
	}
	write := func(s string) {
		const piece = 50_001
		for len(s) > piece {
			c.Write(s[:piece])
			s = s[piece:]
		}
		c.Write(s)
	}
	for i := range x.blocks {
		write(x.block)
		if i == x.blocks/2 {
			write(x.long)
		}
	}
	c.Write("\r\n")
}

// caseChecker checks the text as it comes.
type caseChecker struct {
	x          *caseText
	at         int // bytes
	beforeLong int // bytes before the long line
	looked     int
	before     int64
	most       int64 // bytes of the heap in use beyond before, at any look
}

func newCaseChecker(x *caseText) *caseChecker {
	for limit := time.Now().Add(10 * time.Second); x.busy.Load() > 0 && time.Now().Before(limit); {
		time.Sleep(time.Millisecond)
	}
	return &caseChecker{x: x, beforeLong: (x.blocks/2 + 1) * len(x.block), before: caseSettled()}
}

// caseSettled is what is in use when the fake has filled the sockets and waits: until then it allocates.
func caseSettled() int64 {
	least := caseLive()
	for range 4 {
		time.Sleep(5 * time.Millisecond)
		least = min(least, caseLive())
	}
	return least
}

// take reports whether p is what comes next of the text.
func (k *caseChecker) take(p []byte) bool {
	if k.at >= k.looked {
		k.looked += k.x.size() / 8
		k.most = max(k.most, caseSettled()-k.before)
	}
	for len(p) > 0 {
		rest := ""
		switch at := k.at - k.beforeLong; {
		case at < 0:
			rest = k.x.block[k.at%len(k.x.block):]
		case at < len(k.x.long):
			rest = k.x.long[at:]
		default:
			rest = k.x.block[(at-len(k.x.long))%len(k.x.block):]
		}
		n := min(len(p), len(rest))
		if string(p[:n]) != rest[:n] || k.at+n > k.x.size() {
			return false
		}
		k.at += n
		p = p[n:]
	}
	return true
}

// B7: a text of hundreds of megabytes is read line by line in little memory; its prefix is gone, and lines that reads cut are whole.
func TestCase_B7_LinesOfAHugeText(t *testing.T) {
	redistest.NoLeak(t)
	x := newCaseText(caseSize(256<<20, 16<<20, 8<<20))
	f := redistest.NewFake(t, x.answer)
	lines := func(ctx context.Context, c rueidis.Client, kind string, f func(r *rueidisstream.Reader) int) int {
		r, err := rueidisstream.Do(ctx, c, caseWords(c, "TEXT", kind))
		require.NoError(t, err)
		defer r.Close()
		require.EqualValues(t, x.size(), r.Header().Len, "without the prefix")
		n := f(r)
		require.NoError(t, r.Close())
		return n
	}
	caseProtocols(t, func(t *testing.T, speak func(*rueidis.ClientOption)) {
		for _, kind := range []string{"verbatim", "bulk"} {
			c := caseDial(t, f.Addr(), speak)
			ctx := caseContext(t)
			caseEchoes(t, c, 10)
			scanBuffer, reader := make([]byte, 2<<20), bufio.NewReaderSize(nil, 4096)
			const limit = 1 << 20 // beside the buffers above and those of the connection

			k := newCaseChecker(x)
			n := lines(ctx, c, kind, func(r *rueidisstream.Reader) (n int) {
				sc := bufio.NewScanner(r)
				sc.Buffer(scanBuffer, len(scanBuffer))
				sc.Split(func(data []byte, atEOF bool) (int, []byte, error) {
					m, line, err := bufio.ScanLines(data, atEOF)
					if line != nil {
						line = data[:m] // with its end
					}
					return m, line, err
				})
				for ; sc.Scan(); n++ {
					if !k.take(sc.Bytes()) {
						t.Fatalf("line %d: %.100q", n, sc.Bytes())
					}
				}
				require.NoError(t, sc.Err())
				return n
			})
			require.Equal(t, x.blocks*x.lines+1, n)
			require.Equal(t, x.size(), k.at)
			require.Less(t, k.most, int64(limit), "bytes in use, by Scanner")

			k = newCaseChecker(x)
			n = lines(ctx, c, kind, func(r *rueidisstream.Reader) (n int) {
				reader.Reset(r)
				for {
					line, err := reader.ReadSlice('\n')
					if !k.take(line) {
						t.Fatalf("line %d: %.100q", n, line)
					}
					switch err {
					case nil:
						n++
					case io.EOF:
						return n
					case bufio.ErrBufferFull:
					default:
						t.Fatal(err)
					}
				}
			})
			require.Equal(t, x.blocks*x.lines+1, n)
			require.Equal(t, x.size(), k.at)
			require.Less(t, k.most, int64(limit), "bytes in use, by ReadSlice")

			k = newCaseChecker(x)
			m, err := rueidisstream.Copy(ctx, c, caseWords(c, "TEXT", kind), caseWriter(func(p []byte) (int, error) {
				if !k.take(p) {
					return 0, fmt.Errorf("other bytes at %d: %.100q", k.at, p)
				}
				return len(p), nil
			}))
			require.NoError(t, err)
			require.EqualValues(t, x.size(), m)
			require.Equal(t, x.size(), k.at)
			require.Less(t, k.most, int64(limit), "bytes in use, by Copy")

			// Left after the first line: what is unread is not waited for.
			n = lines(ctx, c, kind, func(r *rueidisstream.Reader) int {
				line, err := bufio.NewReader(r).ReadString('\n')
				require.NoError(t, err)
				require.True(t, strings.HasPrefix(line, "id=0 "), "%q", line)
				return 1
			})
			require.Equal(t, 1, n)
			caseEchoes(t, c, 100)
			c.Close()
		}
	})
}

// B7: on a real server, every line of CLIENT LIST is whole, the first one too.
func TestCase_B7_ClientListByLines(t *testing.T) {
	redistest.NoLeak(t)
	srv := redistest.Standalone(t)
	const clients = 300
	many := redistest.NewClient(t, srv, casePool(clients), caseBuffers(4<<10))
	var readers []*rueidisstream.Reader
	srv.Do(t, "SET", "k", "v")
	for range clients {
		r, err := rueidisstream.Do(caseContext(t), many, many.B().Get().Key("k").Build())
		require.NoError(t, err)
		readers = append(readers, r)
	}
	caseProtocols(t, func(t *testing.T, speak func(*rueidis.ClientOption)) {
		c := redistest.NewClient(t, srv, speak)
		r, err := rueidisstream.Do(caseContext(t), c, c.B().ClientList().Build())
		require.NoError(t, err)
		n := 0
		for sc := bufio.NewScanner(r); sc.Scan(); n++ {
			require.Regexp(t, `^id=\d+ addr=\S+ .*resp=\d`, sc.Text())
		}
		require.NoError(t, r.Close())
		require.Greater(t, n, clients)
		var b strings.Builder
		m, err := rueidisstream.Copy(caseContext(t), c, c.B().ClientList().Build(), &b)
		require.NoError(t, err)
		require.EqualValues(t, b.Len(), m)
		require.True(t, strings.HasPrefix(b.String(), "id="), "%.40q", b.String())
		require.Equal(t, n, strings.Count(b.String(), "\n"))
		caseEchoes(t, c, 100)
	})
	for _, r := range readers {
		require.NoError(t, r.Close())
	}
}
