package rueidisstream_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/rueidisstream"
)

// scriptConn is a connection that answers the command X with reply and all others with a PONG.
type scriptConn struct {
	net.Conn
	mu     sync.Mutex
	cond   *sync.Cond
	unread []byte
	closed bool
	reply  []byte
}

func newScriptConn(reply []byte) *scriptConn {
	c := &scriptConn{reply: reply}
	c.cond = sync.NewCond(&c.mu)
	return c
}

func (c *scriptConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if bytes.Contains(p, []byte("$1\r\nX\r\n")) {
		c.unread = append(c.unread, c.reply...)
	} else {
		c.unread = append(c.unread, "+PONG\r\n"...)
	}
	c.cond.Broadcast()
	return len(p), nil
}

func (c *scriptConn) Read(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.unread) == 0 && !c.closed {
		c.cond.Wait()
	}
	if len(c.unread) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.unread)
	c.unread = c.unread[n:]
	return n, nil
}

func (c *scriptConn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.cond.Broadcast()
	return nil
}

func (c *scriptConn) SetDeadline(time.Time) error      { return nil }
func (c *scriptConn) SetReadDeadline(time.Time) error  { return nil }
func (c *scriptConn) SetWriteDeadline(time.Time) error { return nil }
func (c *scriptConn) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (c *scriptConn) RemoteAddr() net.Addr             { return &net.TCPAddr{} }

// asRueidis returns what client.Do makes of the reply, as text.
func asRueidis(t testing.TB, reply []byte) string {
	c, err := rueidis.NewClient(rueidis.ClientOption{
		InitAddress: []string{"127.0.0.1:1"}, ForceSingleClient: true, AlwaysRESP2: true, DisableCache: true, DisableRetry: true,
		ClientSetInfo: rueidis.DisableClientSetInfo, ReadBufferEachConn: 4096, WriteBufferEachConn: 4096, RingScaleEachConn: 2,
		DialCtxFn: func(context.Context, string, *net.Dialer, *tls.Config) (net.Conn, error) {
			return newScriptConn(reply), nil
		},
	})
	require.NoError(t, err)
	defer c.Close()
	m, err := c.Do(context.Background(), c.B().Arbitrary("X").Build()).ToMessage()
	switch {
	case rueidis.IsRedisNil(err):
		return "nil"
	case err != nil:
		return "error " + strconv.Quote(err.Error())
	}
	return ofMessage(m)
}

// measurable tells whether rueidis' own reading can be the measure: it takes push data inside an aggregate for elements, keeps the
// prefix of verbatim strings, and does not know attributes between chunks.
func measurable(reply []byte) bool {
	return !bytes.ContainsAny(reply, ">=") && (!bytes.Contains(reply, []byte("|")) || !bytes.Contains(reply, []byte("?")))
}

// plainMaps tells whether the keys of all maps are strings, each there once.
func plainMaps(v rueidisstream.Value) bool {
	if !v.Kind().IsAggregate() {
		return true
	}
	if v.Kind() != rueidisstream.KindMap {
		for e := range v.Values() {
			if !plainMaps(e) {
				return false
			}
		}
		return true
	}
	seen := map[string]bool{}
	for p := range v.Pairs() {
		k := p.Key
		if k.Kind() != rueidisstream.KindString && k.Kind() != rueidisstream.KindSimple || seen[k.String()] || !plainMaps(p.Value) {
			return false
		}
		seen[k.String()] = true
	}
	return true
}

// FuzzOracle feeds the same bytes to client.Do and to a Reader: what the Reader accepts is the same for both.
func FuzzOracle(f *testing.F) {
	files, err := filepath.Glob("../testdata/resp/*.txt")
	require.NoError(f, err)
	for _, file := range files {
		b, err := os.ReadFile(file)
		require.NoError(f, err)
		var in string
		for line := range strings.Lines(strings.Split(string(b), "---\n")[0]) {
			if s, err := strconv.Unquote(strings.TrimSpace(line)); err == nil {
				in += s
			}
		}
		f.Add([]byte(in))
	}
	f.Add([]byte("%2\r\n+a\r\n:1\r\n$1\r\nb\r\n*2\r\n-ERR x\r\n_\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		br := bufio.NewReaderSize(bytes.NewReader(data), 64)
		r := rueidisstream.NewReader(br, rueidisstream.WithMaxBytes(1<<20), rueidisstream.WithMaxDepth(30))
		v, err := r.Value()
		_, isServer := rueidis.IsRedisErr(err)
		if err != nil && !isServer && !rueidis.IsRedisNil(err) {
			require.NotErrorIs(t, err, io.EOF)
			return
		}
		got := "nil"
		switch {
		case isServer && !rueidis.IsRedisNil(err):
			got = "error " + strconv.Quote(err.Error())
		case err == nil:
			got = ofValue(t, v)
		}
		plain := err != nil || plainMaps(v)
		require.NoError(t, r.Close())
		rest, err := io.ReadAll(br)
		require.NoError(t, err)
		reply := data[:len(data)-len(rest)]
		if !plain || !measurable(reply) {
			return
		}
		require.Equal(t, asRueidis(t, reply), got, "%q", reply)
	})
}
