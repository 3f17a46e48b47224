package rueidisstream_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

// caseTime is the bound for what must not hang. It is generous: nothing comes near it unless it hangs.
const caseTime = 2 * time.Minute

// caseContext returns a context that ends what hangs.
func caseContext(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), caseTime)
	t.Cleanup(cancel)
	return ctx
}

// caseProtocols runs f under RESP2 and under RESP3. The option that f is given makes a client speak it with a pool of one connection.
func caseProtocols(t *testing.T, f func(t *testing.T, speak func(*rueidis.ClientOption))) {
	for _, resp2 := range []bool{true, false} {
		name := "RESP3"
		if resp2 {
			name = "RESP2"
		}
		t.Run(name, func(t *testing.T) {
			f(t, func(o *rueidis.ClientOption) {
				o.AlwaysRESP2, o.DisableCache, o.BlockingPoolSize = resp2, resp2, 1
			})
		})
	}
}

// caseDial returns a client of what listens at addr, a fake or a proxy.
func caseDial(t testing.TB, addr string, adjust ...func(*rueidis.ClientOption)) rueidis.Client {
	t.Helper()
	opt := rueidis.ClientOption{InitAddress: []string{addr}, ForceSingleClient: true}
	for _, a := range adjust {
		a(&opt)
	}
	c, err := rueidis.NewClient(opt)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

func casePool(n int) func(*rueidis.ClientOption) {
	return func(o *rueidis.ClientOption) { o.BlockingPoolSize = n }
}

// caseBuffers gives connections small buffers, so that they do not count where memory is measured.
func caseBuffers(n int) func(*rueidis.ClientOption) {
	return func(o *rueidis.ClientOption) { o.ReadBufferEachConn, o.WriteBufferEachConn = n, n }
}

// casePatient is for replies of millions of elements, which a busy machine's server may take ten seconds to begin with.
func casePatient(o *rueidis.ClientOption) { o.ConnWriteTimeout = time.Minute }

func caseWords(c rueidis.Client, w ...string) rueidis.Completed { return c.B().Arbitrary(w...).Build() }

func caseReadOnly(c rueidis.Client, w ...string) rueidis.Completed {
	return c.B().Arbitrary(w...).ReadOnly()
}

// caseEchoes checks that n commands, by every way through the pool and beside it, give their own replies.
func caseEchoes(t testing.TB, c rueidis.Client, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), caseTime)
	defer cancel()
	for i := range n {
		want := fmt.Sprintf("word %d of %d", i, rand.Uint64())
		var b strings.Builder
		var err error
		switch cmd := caseWords(c, "ECHO", want); i % 5 {
		case 0:
			_, err = rueidisstream.Copy(ctx, c, cmd, &b)
		case 1:
			for v, verr := range rueidisstream.Values(ctx, c, cmd) {
				b.Write(v.Bytes())
				err = verr
			}
		case 2:
			s := c.DoStream(ctx, cmd)
			_, err = s.WriteTo(&b)
		case 3:
			for r, rerr := range rueidisstream.DoMulti(ctx, c, []rueidis.Completed{cmd}).All() {
				if err = rerr; err == nil {
					_, err = r.WriteTo(&b)
				}
			}
		case 4:
			var s string
			s, err = c.Do(ctx, cmd).ToString()
			b.WriteString(s)
		}
		require.NoError(t, err, "command %d after it", i)
		require.Equal(t, want, b.String(), "command %d after it", i)
	}
}

var errCaseSink = errors.New("the sink is full")

// caseSink is a sink that takes left bytes and then fails.
type caseSink struct {
	left  int
	got   []byte
	calls int // after the failure
}

func (f *caseSink) Write(p []byte) (int, error) {
	if f.left == 0 && len(f.got) > 0 {
		f.calls++
	}
	n := min(len(p), f.left)
	f.left -= n
	f.got = append(f.got, p[:n]...)
	if n < len(p) {
		return n, errCaseSink
	}
	return n, nil
}

// caseWriter is a function as a sink.
type caseWriter func(p []byte) (int, error)

func (f caseWriter) Write(p []byte) (int, error) { return f(p) }

// caseRandom returns n bytes that are the same for the same seed.
func caseRandom(n int, seed byte) string {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{seed}).Read(b)
	return string(b)
}

func caseSum(s string) [32]byte { return sha256.Sum256([]byte(s)) }

// caseAllocated returns how many bytes, and how many objects, the process allocates while f runs.
func caseAllocated(f func()) (size, objects int64) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc), int64(after.Mallocs - before.Mallocs)
}

// caseLive returns how many bytes of the heap are in use after a collection.
func caseLive() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// caseResident returns about what the process holds of the machine's memory.
func caseResident() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys - m.HeapReleased)
}

// caseMembers are n members of 16 bytes, of all byte values: a number, and a mix of it that shows whether it arrived whole.
type caseMembers struct {
	seen  []uint64
	count int
}

func caseMember(i uint64) (m [16]byte) {
	binary.BigEndian.PutUint64(m[:], i)
	binary.LittleEndian.PutUint64(m[8:], i*0x9e3779b97f4a7c15)
	return m
}

func newCaseMembers(n int) *caseMembers { return &caseMembers{seen: make([]uint64, n/64+1)} }

// take notes a member; it reports whether that is one, and new.
func (m *caseMembers) take(b []byte) bool {
	if len(b) != 16 {
		return false
	}
	i := binary.BigEndian.Uint64(b)
	if i/64 >= uint64(len(m.seen)) || caseMember(i) != [16]byte(b) || m.seen[i/64]>>(i%64)&1 == 1 {
		return false
	}
	m.seen[i/64] |= 1 << (i % 64)
	m.count++
	return true
}

// caseFill adds n members to the set at key.
func caseFill(t testing.TB, c rueidis.Client, key string, n int) {
	t.Helper()
	const chunk = 10_000
	var cmds []rueidis.Completed
	for i := 0; i < n; {
		list := make([]string, 0, chunk)
		for ; i < n && len(list) < chunk; i++ {
			m := caseMember(uint64(i))
			list = append(list, string(m[:]))
		}
		if cmds = append(cmds, c.B().Sadd().Key(key).Member(list...).Build()); len(cmds) == 10 || i == n {
			for _, r := range c.DoMulti(context.Background(), cmds...) {
				require.NoError(t, r.Error())
			}
			cmds = cmds[:0]
		}
	}
}

// caseSize returns full, or less where that would take too long: make test runs with the race detector, and then the tests of memory and
// size without.
func caseSize(full, race, short int) int {
	switch {
	case testing.Short():
		return short
	case caseRace:
		return race
	}
	return full
}

// caseWireSize returns how many bytes the reply to the command has.
func caseWireSize(t testing.TB, c rueidis.Client, p *redistest.Proxy, cmd rueidis.Completed) int64 {
	t.Helper()
	before := p.Received()
	r, err := rueidisstream.Do(caseContext(t), c, cmd, rueidisstream.WithDrain(1<<30))
	require.NoError(t, err)
	for err == nil {
		_, err = r.Next()
	}
	require.Equal(t, io.EOF, err)
	require.NoError(t, r.Close())
	return p.Received() - before
}
