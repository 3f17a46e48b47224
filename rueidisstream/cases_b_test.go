package rueidisstream_test

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

// B1: a set of millions is handed over while it arrives, once each, without memory for it.
func TestCase_B1_HugeSetInLittleMemory(t *testing.T) {
	redistest.NoLeak(t)
	srv := redistest.Standalone(t)
	n := caseSize(5_000_000, 300_000, 200_000)
	loader := redistest.NewClient(t, srv)
	caseFill(t, loader, "set", n)
	loader.Close()
	p := redistest.NewProxy(t, srv.Addr)
	caseProtocols(t, func(t *testing.T, speak func(*rueidis.ClientOption)) {
		c := caseDial(t, p.Addr(), speak, casePatient)
		ctx := caseContext(t)
		caseEchoes(t, c, 20)
		seen := newCaseMembers(n)
		caseLive() // collects
		before := caseResident()
		used, objects := caseAllocated(func() {
			for v, err := range rueidisstream.Values(ctx, c, c.B().Smembers().Key("set").Build()) {
				if err != nil || !seen.take(v.Bytes()) {
					t.Fatalf("member %d: %q, %v", seen.count, v.Bytes(), err)
				}
			}
		})
		require.Equal(t, n, seen.count)
		require.Less(t, caseResident()-before, int64(32<<20), "bytes of the machine's memory")
		require.Less(t, used, int64(4<<20), "bytes allocated") // the proxy's included
		require.Less(t, objects, int64(10_000))

		if strings.HasSuffix(t.Name(), "RESP2") {
			return // B2 has it under both
		}
		// With the last half held back, the first half is handed over.
		caseEchoes(t, c, 5)
		const least = len("$16\r\n") + 16 + len("\r\n")
		p.Set(redistest.Fault{StallAfter: int64(n/2) * int64(least)})
		seen = newCaseMembers(n)
		for v, err := range rueidisstream.Values(ctx, c, c.B().Smembers().Key("set").Build()) {
			if err != nil || !seen.take(v.Bytes()) {
				t.Fatalf("member %d: %q, %v", seen.count, v.Bytes(), err)
			}
			if seen.count == n/2-10 {
				p.Release()
			}
		}
		require.Equal(t, n, seen.count)
		p.Clear()
		caseEchoes(t, c, 100)
	})
}

// B2: with the second half of a reply held back, the elements of the first half come, for every type of aggregate.
func TestCase_B2_ElementsComeBeforeTheReplyIsWhole(t *testing.T) {
	redistest.NoLeak(t)
	srv := redistest.Shared(t)
	const n = 20_000
	const load = `for i = 1, ARGV[1] do
		local s = string.format('%08d', i)
		redis.call('SADD', 'set', s) redis.call('HSET', 'hash', s, s) redis.call('RPUSH', 'list', s)
		redis.call('ZADD', 'zset', i, s) redis.call('XADD', 'stream', i .. '-1', 'field', s)
	end`
	srv.Do(t, "EVAL", load, "0", strconv.Itoa(n))
	p := redistest.NewProxy(t, srv.Addr)
	caseProtocols(t, func(t *testing.T, speak func(*rueidis.ClientOption)) {
		c := caseDial(t, p.Addr(), speak)
		for _, cmd := range [][]string{
			{"SMEMBERS", "set"},
			{"HGETALL", "hash"},
			{"LRANGE", "list", "0", "-1"},
			{"ZRANGE", "zset", "0", "-1", "WITHSCORES"},
			{"XRANGE", "stream", "-", "+"},
		} {
			ctx := caseContext(t)
			whole := caseWireSize(t, c, p, caseWords(c, cmd...))
			half := func(steps func(step func())) {
				caseEchoes(t, c, 5)
				p.Set(redistest.Fault{StallAfter: whole / 2})
				passed := 0
				steps(func() {
					// A third of it is here while half is held back: it was not waited for.
					if passed++; passed == n/3 {
						p.Release()
					}
				})
				require.Equal(t, n, passed, "%v", cmd)
				p.Clear()
			}
			perPair := cmd[0] == "HGETALL" || cmd[0] == "ZRANGE"
			half(func(step func()) {
				i := 0
				for v, err := range rueidisstream.Values(ctx, c, caseWords(c, cmd...)) {
					require.NoError(t, err, "%v", cmd)
					// Under RESP2 a pair is two elements; under RESP3 ZRANGE gives arrays of two.
					if !perPair || v.Kind().IsAggregate() || i%2 == 0 {
						step()
					}
					i++
				}
			})
			if perPair || cmd[0] == "XRANGE" {
				half(func(step func()) {
					for pair, err := range rueidisstream.Pairs(ctx, c, caseWords(c, cmd...)) {
						require.NoError(t, err, "%v", cmd)
						require.NotEmpty(t, pair.Key.Bytes())
						step()
					}
				})
			}
			half(func(step func()) {
				r, err := rueidisstream.Do(ctx, c, caseWords(c, cmd...))
				require.NoError(t, err)
				i := 0
				for {
					h, err := r.Next()
					if err == io.EOF {
						break
					}
					require.NoError(t, err, "%v", cmd)
					if h.Depth == 1 {
						if !perPair || h.Kind.IsAggregate() || i%2 == 0 {
							step()
						}
						i++
					}
				}
				require.NoError(t, r.Close())
			})
		}
		caseEchoes(t, c, 100)
	})
}

// B4: millions of binary members, CRLF and type bytes in them, are handed over whole, by every way of reading.
func TestCase_B4_BinaryMembers(t *testing.T) {
	redistest.NoLeak(t)
	srv := redistest.Standalone(t)
	n := caseSize(5_000_000, 300_000, 200_000)
	loader := redistest.NewClient(t, srv)
	caseFill(t, loader, "set", n)
	// Members that look like RESP.
	var tricky []string
	for _, s := range []string{"\r\n$4\r\nABCD\r\n", "*1000000000\r\n", "................", "-ERR forged\r\n", ">2\r\n+a\r\n+b\r\n", "|1\r\n+k\r\n+v\r\n", "_\r\n_\r\n_\r\n", "\r"} {
		tricky = append(tricky, s+strings.Repeat("\n", 16-len(s)))
	}
	require.NoError(t, loader.Do(context.Background(), loader.B().Sadd().Key("set").Member(tricky...).Build()).Error())
	loader.Close()
	caseProtocols(t, func(t *testing.T, speak func(*rueidis.ClientOption)) {
		c := redistest.NewClient(t, srv, speak, casePatient)
		ctx := caseContext(t)
		for name, way := range map[string]func(take func(b []byte)){
			"Values": func(take func(b []byte)) {
				for v, err := range rueidisstream.Values(ctx, c, c.B().Smembers().Key("set").Build()) {
					if err != nil {
						t.Fatal(err)
					}
					take(v.Bytes())
				}
			},
			"Next and Read": func(take func(b []byte)) {
				r, err := rueidisstream.Do(ctx, c, c.B().Smembers().Key("set").Build())
				require.NoError(t, err)
				require.EqualValues(t, n+len(tricky), r.Header().Len)
				buf := make([]byte, 17)
				for {
					h, err := r.Next()
					if err == io.EOF {
						break
					}
					if err != nil || h.Len != 16 {
						t.Fatal(h, err)
					}
					m, err := io.ReadFull(r, buf)
					if err != io.ErrUnexpectedEOF {
						t.Fatal(err)
					}
					take(buf[:m])
				}
				require.NoError(t, r.Close())
			},
		} {
			if (name == "Values") != strings.HasSuffix(t.Name(), "RESP2") {
				continue // B1 has the other two; it is millions of members
			}
			seen, odd := newCaseMembers(n), map[string]int{}
			way(func(b []byte) {
				if !seen.take(b) {
					odd[string(b)]++
				}
			})
			require.Equal(t, n, seen.count, name)
			require.Len(t, odd, len(tricky), name)
			for _, s := range tricky {
				require.Equal(t, 1, odd[s], "%q", s)
			}
		}
		caseEchoes(t, c, 100)
	})
}

// B5: a sorted set's range takes the same few allocations whatever its size: no list is built. (For the time see BenchmarkGrowth.)
func TestCase_B5_SortedSetBuildsNoList(t *testing.T) {
	redistest.NoLeak(t)
	srv := redistest.Shared(t)
	sizes := []int{10_000, 100_000, caseSize(1_000_000, 300_000, 200_000)}
	for _, n := range sizes {
		caseLoadRange(t, srv, "zset", n)
	}
	caseProtocols(t, func(t *testing.T, speak func(*rueidis.ClientOption)) {
		c := redistest.NewClient(t, srv, speak, caseBuffers(64<<10))
		ctx := context.Background()
		for name, way := range map[string]func(n int){
			"ZRANGE": func(n int) {
				i := int64(0)
				for v, err := range rueidisstream.Values(ctx, c, c.B().Zrange().Key("zset:"+strconv.Itoa(n)).Min("0").Max("-1").Build()) {
					m, nerr := v.AsInt64()
					if err != nil || nerr != nil || m != i {
						t.Fatal(i, m, err, nerr)
					}
					i++
				}
				require.EqualValues(t, n, i)
			},
			"WITHSCORES": func(n int) {
				i := int64(0)
				for p, err := range rueidisstream.Pairs(ctx, c, c.B().Zrange().Key("zset:"+strconv.Itoa(n)).Min("0").Max("-1").Withscores().Build()) {
					m, nerr := p.Key.AsInt64()
					f, ferr := p.Value.AsFloat64()
					if err != nil || nerr != nil || ferr != nil || m != i || f != float64(i) {
						t.Fatal(i, m, f, err, nerr, ferr)
					}
					i++
				}
				require.EqualValues(t, n, i)
			},
		} {
			way(sizes[0]) // warm
			caseFlat(t, name, sizes, way)
		}
		caseEchoes(t, c, 100)
	})
}

// caseLoadRange makes kind:n, a list or sorted set of the integers below n.
func caseLoadRange(t testing.TB, srv *redistest.Server, kind string, n int) {
	t.Helper()
	add := "redis.call('RPUSH', KEYS[1], i)"
	if kind == "zset" {
		add = "redis.call('ZADD', KEYS[1], i, i)"
	}
	const chunk = 50_000
	for i := 0; i < n; i += chunk {
		srv.Do(t, "EVAL", "for i = ARGV[1], ARGV[2] do "+add+" end", "1", fmt.Sprintf("%s:%d", kind, n), strconv.Itoa(i), strconv.Itoa(min(i+chunk, n)-1))
	}
}

// caseFlat checks that what is allocated does not depend on the size.
func caseFlat(t *testing.T, name string, sizes []int, run func(n int)) {
	t.Helper()
	// What the runtime and the client's background goroutines allocate meanwhile is within it; one object for each element is not.
	const slackBytes, slackObjects = 64 << 10, 200
	first, firstObjects := caseAllocated(func() { run(sizes[0]) })
	for _, n := range sizes[1:] {
		used, objects := caseAllocated(func() { run(n) })
		t.Logf("%s: %d elements: %d bytes, %d objects; %d elements: %d bytes, %d objects", name, sizes[0], first, firstObjects, n, used, objects)
		require.Less(t, used-first, int64(slackBytes), "%s: bytes allocated for %d elements", name, n)
		require.Less(t, objects-firstObjects, int64(slackObjects), "%s: objects allocated for %d elements", name, n)
	}
}
