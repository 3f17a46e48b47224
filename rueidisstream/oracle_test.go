package rueidisstream_test

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

// ofMessage writes what client.Do returned as text: scalars quoted, aggregates in brackets, maps by sorted keys.
func ofMessage(m rueidis.RedisMessage) string {
	switch {
	case m.IsNil():
		return "nil"
	case m.Error() != nil:
		return "error " + strconv.Quote(m.Error().Error())
	case m.IsMap():
		entries, _ := m.ToMap()
		var parts []string
		for k, v := range entries {
			parts = append(parts, strconv.Quote(k)+": "+ofMessage(v))
		}
		slices.Sort(parts)
		return "{" + strings.Join(parts, ", ") + "}"
	case m.IsArray():
		elements, _ := m.ToArray()
		var parts []string
		for _, v := range elements {
			parts = append(parts, ofMessage(v))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case m.IsInt64():
		n, _ := m.ToInt64()
		return strconv.Quote(strconv.FormatInt(n, 10))
	case m.IsBool():
		if b, _ := m.ToBool(); b {
			return `"1"`
		}
		return `"0"`
	}
	s, err := m.ToString()
	if err != nil {
		return err.Error()
	}
	return strconv.Quote(strings.TrimPrefix(s, "txt:")) // rueidis leaves the prefix of a verbatim string on
}

// ofValue writes a Value as ofMessage does.
func ofValue(t testing.TB, v rueidisstream.Value) string {
	switch {
	case v.IsNil():
		return "nil"
	case v.Error() != nil:
		return "error " + strconv.Quote(v.Error().Error())
	case v.Kind() == rueidisstream.KindMap:
		var parts []string
		for p, err := range v.Pairs() {
			require.NoError(t, err)
			parts = append(parts, strconv.Quote(p.Key.String())+": "+ofValue(t, p.Value))
		}
		slices.Sort(parts)
		return "{" + strings.Join(parts, ", ") + "}"
	case v.Kind().IsAggregate():
		var parts []string
		for e, err := range v.Values() {
			require.NoError(t, err)
			parts = append(parts, ofValue(t, e))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	require.EqualValues(t, v.Len(), len(v.Bytes()))
	return strconv.Quote(v.String())
}

// ofReader writes a reply that is read piece by piece as ofMessage does.
func ofReader(t testing.TB, r *rueidisstream.Reader) string {
	h := r.Header()
	text, end := ofElement(t, r, h, func() (rueidisstream.Header, error) { return r.Next() })
	require.Equal(t, rueidisstream.Header{}, end)
	return text
}

// ofElement writes the element at h and returns the header behind it; the zero Header at the end.
func ofElement(t testing.TB, r *rueidisstream.Reader, h rueidisstream.Header, next func() (rueidisstream.Header, error)) (string, rueidisstream.Header) {
	step := func() rueidisstream.Header {
		n, err := next()
		if err == io.EOF {
			return rueidisstream.Header{}
		}
		require.NoError(t, err)
		return n
	}
	if !h.Kind.IsAggregate() {
		v, err := r.Value()
		require.NoError(t, err)
		text := ofValue(t, v)
		return text, step()
	}
	var parts []string
	n := step()
	for n.Kind != 0 && n.Depth > h.Depth {
		var part string
		part, n = ofElement(t, r, n, next)
		parts = append(parts, part)
	}
	require.EqualValues(t, h.Len, len(parts))
	if h.Kind == rueidisstream.KindMap {
		var pairs []string
		for i := 0; i < len(parts); i += 2 {
			pairs = append(pairs, parts[i]+": "+parts[i+1])
		}
		slices.Sort(pairs)
		return "{" + strings.Join(pairs, ", ") + "}", n
	}
	return "[" + strings.Join(parts, ", ") + "]", n
}

// fillOracle writes keys of every type, with the corners that replies have.
func fillOracle(t testing.TB, c rueidis.Client) {
	for _, line := range [][]string{
		{"SET", "string", "hello"},
		{"SET", "empty", ""},
		{"SET", "binary", "\x00\r\n$5\r\n\xff"},
		{"SET", "number", "12345"},
		{"SETRANGE", "large", "700000", "end"},
		{"SADD", "set", "a", "b", "", "\r\n", "$1\r\n"},
		{"SADD", "ints", "1", "2", "3"},
		{"HSET", "hash", "f", "v", "", "empty field", "empty value", "", "n", "1"},
		{"RPUSH", "list", "a", "", "c", "a"},
		{"ZADD", "zset", "1.5", "one", "-inf", "low", "inf", "high", "1e-320", "tiny", "3", ""},
		{"XADD", "stream", "1-1", "f", "v", "g", ""},
		{"XADD", "stream", "2-0", "f", ""},
		{"XGROUP", "CREATE", "stream", "group", "0"},
		{"XREADGROUP", "GROUP", "group", "me", "COUNT", "1", "STREAMS", "stream", ">"},
		{"GEOADD", "geo", "13.361389", "38.115556", "Palermo", "15.087269", "37.502669", "Catania"},
		{"PFADD", "hll", "a", "b"},
		{"SETBIT", "bits", "7", "1"},
		{"CONFIG", "SET", "slowlog-log-slower-than", "-1"},
	} {
		require.NoError(t, c.Do(context.Background(), c.B().Arbitrary(line...).Build()).Error(), line)
	}
}

// oracleCommands are commands of all shapes whose reply is the same twice.
var oracleCommands = [][]string{
	{"GET", "string"},
	{"GET", "empty"},
	{"GET", "binary"},
	{"GET", "large"},
	{"GET", "missing"},
	{"GET", "set"},
	{"GETRANGE", "string", "1", "3"},
	{"GETRANGE", "missing", "0", "-1"},
	{"STRLEN", "string"},
	{"MGET", "string", "missing", "set", "empty", "string"},
	{"TYPE", "zset"},
	{"EXISTS", "string", "missing"},
	{"TTL", "string"},
	{"PING"},
	{"PING", "message"},
	{"ECHO", ""},
	{"DUMP", "list"},
	{"SMEMBERS", "set"},
	{"SMEMBERS", "missing"},
	{"SMEMBERS", "string"},
	{"SMEMBERS", "ints"},
	{"SISMEMBER", "set", "a"},
	{"SMISMEMBER", "set", "a", "x"},
	{"SINTER", "set", "ints"},
	{"SUNION", "set", "ints"},
	{"SCARD", "set"},
	{"SSCAN", "set", "0"},
	{"HGETALL", "hash"},
	{"HGETALL", "missing"},
	{"HGET", "hash", "f"},
	{"HGET", "hash", "missing"},
	{"HMGET", "hash", "f", "missing", ""},
	{"HKEYS", "hash"},
	{"HVALS", "hash"},
	{"HLEN", "hash"},
	{"HSCAN", "hash", "0"},
	{"LRANGE", "list", "0", "-1"},
	{"LRANGE", "missing", "0", "-1"},
	{"LINDEX", "list", "1"},
	{"LPOS", "list", "a", "COUNT", "0"},
	{"ZRANGE", "zset", "0", "-1"},
	{"ZRANGE", "zset", "0", "-1", "WITHSCORES"},
	{"ZRANGEBYSCORE", "zset", "-inf", "+inf", "WITHSCORES", "LIMIT", "0", "2"},
	{"ZSCORE", "zset", "high"},
	{"ZSCORE", "zset", "tiny"},
	{"ZSCORE", "zset", "missing"},
	{"ZMSCORE", "zset", "low", "missing", "one"},
	{"ZSCAN", "zset", "0"},
	{"ZRANK", "zset", "one"},
	{"XRANGE", "stream", "-", "+"},
	{"XRANGE", "missing", "-", "+"},
	{"XREVRANGE", "stream", "+", "-", "COUNT", "1"},
	{"XREAD", "STREAMS", "stream", "0"},
	{"XREAD", "STREAMS", "stream", "9"},
	{"XLEN", "stream"},
	{"XPENDING", "stream", "group"},
	{"XINFO", "STREAM", "stream", "FULL"},
	{"XINFO", "GROUPS", "stream"},
	{"GEOPOS", "geo", "Palermo", "missing"},
	{"GEODIST", "geo", "Palermo", "Catania", "km"},
	{"GEOSEARCH", "geo", "FROMLONLAT", "15", "37", "BYRADIUS", "200", "km", "ASC", "WITHCOORD", "WITHDIST"},
	{"PFCOUNT", "hll"},
	{"BITCOUNT", "bits"},
	{"BITFIELD_RO", "bits", "GET", "u4", "0", "GET", "u8", "0"},
	{"OBJECT", "ENCODING", "ints"},
	{"SORT", "list", "ALPHA"},
	{"SORT", "ints", "GET", "missing*", "GET", "#"},
	{"COMMAND", "COUNT"},
	{"COMMAND", "INFO", "get", "set", "nosuchcommand", "xadd"},
	{"COMMAND", "GETKEYS", "MSET", "a", "1", "b", "2"},
	{"CONFIG", "GET", "max*"},
	{"CONFIG", "GET", "nosuchsetting"},
	{"CLIENT", "GETNAME"},
	{"ACL", "CAT"},
	{"ACL", "GETUSER", "default"},
	{"ACL", "LIST"},
	{"SLOWLOG", "GET"},
	{"LATENCY", "LATEST"},
	{"MODULE", "LIST"},
	{"DBSIZE"},
	{"WAIT", "0", "0"},
	{"ROLE"},
	{"EVAL", "return {1, 'two', {3, {'four', {}}}, false, {err = 'ERR five'}, {ok = 'six'}, true, ''}", "0"},
	{"EVAL", "return redis.error_reply('MY error')", "0"},
	{"EVAL", "return nil", "0"},
	{"EVAL", "return {}", "0"},
	{"EVAL", "return {err = 'ERR with prefix'}", "0"},
	{"EVAL", "local t = {} for i = 1, 100 do t = {t, i} end return t", "0"},
	{"EVAL", "local t = {} for i = 1, 20000 do t[i] = string.rep('x', i % 300) end return t", "0"},
	{"EVAL", "return string.rep('x', 3000000)", "0"},
	{"EVAL", "return {string.rep('x', 600000), {string.rep('y', 600000)}, 'z'}", "0"},
	{"EVALSHA", "ffffffffffffffffffffffffffffffffffffffff", "0"},
	{"NOSUCHCOMMAND", "x"},
	{"GET"},
}

// oracleRESP3 are replies that only RESP3 has.
var oracleRESP3 = [][]string{
	{"EVAL", "redis.setresp(3); return {map = {a = 1, b = {double = 1.5}}}", "0"},
	{"EVAL", "redis.setresp(3); return {set = {a = true, b = true}}", "0"},
	{"EVAL", "redis.setresp(3); return {double = 1e300}", "0"},
	{"EVAL", "redis.setresp(3); return {big_number = '1234567890123456789012345678901234567890'}", "0"},
	{"EVAL", "redis.setresp(3); return {verbatim_string = {format = 'txt', string = 'verbatim'}}", "0"},
	{"EVAL", "redis.setresp(3); return {true, false, nil, 1}", "0"},
	{"EVAL", "redis.setresp(3); return redis.call('HGETALL', KEYS[1])", "1", "hash"},
	{"EVAL", "redis.setresp(3); return redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')", "1", "zset"},
}

// bothProtocols runs f with a client of one connection for each protocol.
func bothProtocols(t *testing.T, f func(t *testing.T, c rueidis.Client), adjust ...func(*rueidis.ClientOption)) {
	for _, resp2 := range []bool{false, true} {
		t.Run(fmt.Sprintf("resp2=%v", resp2), func(t *testing.T) {
			redistest.NoLeak(t)
			srv := redistest.Shared(t)
			c := redistest.NewClient(t, srv, append([]func(*rueidis.ClientOption){func(o *rueidis.ClientOption) {
				o.AlwaysRESP2, o.DisableCache, o.BlockingPoolSize = resp2, resp2, 1
			}}, adjust...)...)
			f(t, c)
		})
	}
}

// The oracle is client.Do: same command, same elements, in whichever way they are read.
func TestOracle(t *testing.T) {
	bothProtocols(t, func(t *testing.T, c rueidis.Client) {
		fillOracle(t, c)
		commands := oracleCommands
		if strings.HasSuffix(t.Name(), "=false") {
			commands = append(slices.Clone(commands), oracleRESP3...)
		}
		require.GreaterOrEqual(t, len(commands), 60)
		kinds := map[rueidisstream.Kind]bool{}
		for _, words := range commands {
			t.Run(strings.Join(words, " ")[:min(60, len(strings.Join(words, " ")))], func(t *testing.T) {
				oracle(t, c, words, kinds)
			})
		}
		for _, kind := range []rueidisstream.Kind{
			rueidisstream.KindString, rueidisstream.KindSimple, rueidisstream.KindInteger, rueidisstream.KindArray, rueidisstream.KindNull, rueidisstream.KindError,
		} {
			require.True(t, kinds[kind], "no reply had a %s", kind)
		}
	})
}

func oracle(t *testing.T, c rueidis.Client, words []string, kinds map[rueidisstream.Kind]bool) {
	ctx := context.Background()
	cmd := func() rueidis.Completed { return c.B().Arbitrary(words...).Build() }
	m, err := c.Do(ctx, cmd()).ToMessage()
	if err != nil {
		ofError(t, c, cmd, err)
		return
	}
	want := ofMessage(m)

	r, err := rueidisstream.Do(ctx, c, cmd())
	require.NoError(t, err)
	require.Equal(t, want, ofReader(t, r), "Reader.Next")
	require.NoError(t, r.Close())

	r, err = rueidisstream.Do(ctx, c, cmd())
	require.NoError(t, err)
	v, err := r.Value()
	require.NoError(t, err)
	require.Equal(t, want, ofValue(t, v), "Reader.Value")
	require.NoError(t, r.Close())

	var parts []string
	for v, err := range rueidisstream.Values(ctx, c, cmd()) {
		require.NoError(t, err)
		note(t, v, kinds)
		parts = append(parts, ofValue(t, v))
	}
	switch {
	case m.IsArray():
		require.Equal(t, want, "["+strings.Join(parts, ", ")+"]", "Values")
	case m.IsMap():
		entries, _ := m.ToMap()
		require.Len(t, parts, 2*len(entries))
	default:
		require.Equal(t, []string{want}, parts)
	}

	var b strings.Builder
	n, err := rueidisstream.Copy(ctx, c, cmd(), &b)
	if m.IsArray() || m.IsMap() {
		require.ErrorIs(t, err, rueidisstream.ErrShape)
		require.Zero(t, n)
		return
	}
	require.NoError(t, err)
	require.EqualValues(t, b.Len(), n)
	require.Equal(t, want, strconv.Quote(b.String()), "Copy")
}

func note(t *testing.T, v rueidisstream.Value, kinds map[rueidisstream.Kind]bool) {
	kinds[v.Kind()] = true
	if v.Kind().IsAggregate() {
		for e, err := range v.Values() {
			require.NoError(t, err)
			note(t, e, kinds)
		}
	}
}

// ofError checks that each way returns the error that client.Do returns, unwrapped.
func ofError(t *testing.T, c rueidis.Client, cmd func() rueidis.Completed, want error) {
	ctx := context.Background()
	_, isRedis := rueidis.IsRedisErr(want)
	same := func(err error) {
		t.Helper()
		require.Error(t, err)
		require.Equal(t, want.Error(), err.Error())
		require.Equal(t, rueidis.IsRedisNil(want), rueidis.IsRedisNil(err), "compared directly")
		_, is := rueidis.IsRedisErr(err)
		require.Equal(t, isRedis, is, "of the type *rueidis.RedisError")
	}
	r, err := rueidisstream.Do(ctx, c, cmd())
	require.Nil(t, r)
	require.NoError(t, r.Close(), "Close on a nil Reader")
	same(err)
	n := 0
	for _, err := range rueidisstream.Values(ctx, c, cmd()) {
		same(err)
		n++
	}
	for _, err := range rueidisstream.Pairs(ctx, c, cmd()) {
		same(err)
		n++
	}
	require.Equal(t, 2, n, "one error each")
	_, err = rueidisstream.Copy(ctx, c, cmd(), io.Discard)
	same(err)
	rs := rueidisstream.DoMulti(ctx, c, []rueidis.Completed{cmd()})
	_, err = rs.Next()
	same(err)
	_, err = rs.Next()
	require.Equal(t, io.EOF, err)
	require.NoError(t, rs.Close())
}

// Pairs gives the same under both protocols, whatever shape the reply has.
func TestOraclePairs(t *testing.T) {
	got := map[string][]string{}
	bothProtocols(t, func(t *testing.T, c rueidis.Client) {
		fillOracle(t, c)
		for _, words := range [][]string{
			{"HGETALL", "hash"},
			{"HGETALL", "missing"},
			{"CONFIG", "GET", "maxmemory*"},
			{"ZRANGE", "zset", "0", "-1", "WITHSCORES"},
			{"ZRANGE", "zset", "1", "1", "WITHSCORES"},
			{"XRANGE", "stream", "-", "+"},
			{"XREAD", "STREAMS", "stream", "0"},
			{"HRANDFIELD", "hash", "4", "WITHVALUES"},
		} {
			if err := c.Do(context.Background(), c.B().Arbitrary(words...).Build()).Error(); err != nil {
				require.ErrorContains(t, err, "unknown command", "an old server has not all of them")
				continue
			}
			var pairs []string
			for p, err := range rueidisstream.Pairs(context.Background(), c, c.B().Arbitrary(words...).Build()) {
				require.NoError(t, err)
				pairs = append(pairs, ofValue(t, p.Key)+"="+ofValue(t, p.Value))
			}
			slices.Sort(pairs)
			name := strings.Join(words, " ")
			if other, ok := got[name]; ok {
				require.Equal(t, other, pairs, name)
			}
			got[name] = pairs
		}
	})
	require.Len(t, got["HGETALL hash"], 4)
	require.Contains(t, got["ZRANGE zset 0 -1 WITHSCORES"], `"high"="inf"`)
	require.Contains(t, got["XRANGE stream - +"], `"1-1"=["f", "v", "g", ""]`)
}
