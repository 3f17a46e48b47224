package compatredjet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	theirs "github.com/coder/redjet"
	"github.com/redis/rueidis"

	ours "github.com/rueidisx/rueidisx/compat/redjet"
	"github.com/rueidisx/rueidisx/internal/redistest"
)

// pipeline is what both have.
type pipeline interface {
	WriteTo(w io.Writer) (int64, error)
	Bytes() ([]byte, error)
	String() (string, error)
	Strings() ([]string, error)
	Int() (int, error)
	JSON(v any) error
	Ok() error
	ArrayLength() (int, error)
	ArrayStack() []int
	Next() bool
	Close() error
	Error() string
}

// client is one of the two.
type client struct {
	name    string
	command func(cmd string, args ...any) pipeline
	add     func(p pipeline, cmd string, args ...any) pipeline
}

func theirClient(addr string) client {
	c, ctx := theirs.New(addr), context.Background()
	return client{
		"redjet",
		func(cmd string, args ...any) pipeline { return c.Command(ctx, cmd, args...) },
		func(p pipeline, cmd string, args ...any) pipeline {
			q, _ := p.(*theirs.Pipeline)
			return c.Pipeline(ctx, q, cmd, args...)
		},
	}
}

func ourClient(name string, rc rueidis.Client) client {
	c, ctx := ours.New(rc), context.Background()
	return client{
		name,
		func(cmd string, args ...any) pipeline { return c.Command(ctx, cmd, args...) },
		func(p pipeline, cmd string, args ...any) pipeline {
			q, _ := p.(*ours.Pipeline)
			return c.Pipeline(ctx, q, cmd, args...)
		},
	}
}

// side is redjet and ours under both protocols, each with a server of its own.
type side struct {
	them client
	us   []client
}

func newSide(t testing.TB) side {
	var s side
	s.them = theirClient(redistest.Standalone(t).Addr)
	for _, resp2 := range []bool{true, false} {
		name := "rueidisx RESP3"
		if resp2 {
			name = "rueidisx RESP2"
		}
		s.us = append(s.us, ourClient(name, redistest.NewClient(t, redistest.Standalone(t), func(o *rueidis.ClientOption) {
			o.AlwaysRESP2, o.DisableCache = resp2, true
			o.BlockingPoolSize = 1
		})))
	}
	return s
}

// same runs f with each of them, and compares what it returns.
func (s side) same(t *testing.T, f func(c client) string) {
	t.Helper()
	want := f(s.them)
	for _, c := range s.us {
		if got := f(c); got != want {
			t.Errorf("%s:\n%s\nredjet:\n%s", c.name, got, want)
		}
	}
}

// differ is same for what is different on purpose.
func (s side) differ(t *testing.T, wantTheirs, wantOurs string, f func(c client) string) {
	t.Helper()
	if wantTheirs != "" {
		if got := f(s.them); got != wantTheirs {
			t.Errorf("redjet:\n%s\nwant:\n%s", got, wantTheirs)
		}
	}
	for _, c := range s.us {
		if got := f(c); got != wantOurs {
			t.Errorf("%s:\n%s\nwant:\n%s", c.name, got, wantOurs)
		}
	}
}

// ways are the ways to read a reply; each gives its results as text.
var ways = []struct {
	name string
	read func(p pipeline) string
}{
	{"WriteTo", func(p pipeline) string {
		var b strings.Builder
		n, err := p.WriteTo(&b)
		return fmt.Sprintf("%d %q %s", n, &b, text(err))
	}},
	{"Bytes", func(p pipeline) string {
		b, err := p.Bytes()
		return fmt.Sprintf("%q %s", b, text(err))
	}},
	{"String", func(p pipeline) string {
		s, err := p.String()
		return fmt.Sprintf("%q %s", s, text(err))
	}},
	{"Strings", func(p pipeline) string {
		ss, err := p.Strings()
		return fmt.Sprintf("%q %t %s", ss, ss == nil, text(err))
	}},
	{"Int", func(p pipeline) string {
		n, err := p.Int()
		return fmt.Sprintf("%d %s", n, text(err))
	}},
	{"JSON", func(p pipeline) string {
		var v any
		err := p.JSON(&v)
		return fmt.Sprintf("%v %s", v, text(err))
	}},
	{"Ok", func(p pipeline) string { return text(p.Ok()) }},
	{"ArrayLength", func(p pipeline) string {
		n, err := p.ArrayLength()
		return fmt.Sprintf("%d %v %s", n, p.ArrayStack(), text(err))
	}},
	{"all elements", func(p pipeline) string {
		var out []string
		for p.Next() {
			s, err := p.String()
			out = append(out, fmt.Sprintf("%q %v %s", s, p.ArrayStack(), text(err)))
		}
		return strings.Join(out, "; ")
	}},
	{"nothing", func(pipeline) string { return "" }},
}

// text tells an error from others, and ErrNil, which is an addition, from nothing.
func text(err error) string {
	if err == nil {
		return "ok"
	}
	var their *theirs.Error
	var our *ours.Error
	kind := "error"
	if errors.As(err, &their) || errors.As(err, &our) {
		kind = "server error"
	}
	if theirs.IsUnknownCommand(err) || ours.IsUnknownCommand(err) {
		kind = "unknown command"
	}
	if theirs.IsAuthError(err) || ours.IsAuthError(err) {
		kind = "not authenticated"
	}
	return kind + ": " + strings.TrimPrefix(err.Error(), "redjet: nil reply: ")
}

// prepare are the commands before the corpus.
var prepare = [][]any{
	{"SET", "string", "hello"},
	{"SET", "number", 42},
	{"SET", "json", `{"a":[1,2]}`},
	{"SET", "binary", "a\r\nb\x00$6\r\nFORGED\r\n"},
	{"SET", "big", strings.Repeat("0123456789abcdef", 1<<14)},
	{"RPUSH", "list", "a", "b", "a\r\nc"},
	{"SADD", "set", "one"},
	{"HSET", "hash", "f1", "v1"},
	{"ZADD", "zset", 1, "one", 2.5, "two", "inf", "three", "-inf", "four", 1e-7, "five"},
	{"GEOADD", "geo", 13.361389, 38.115556, "Palermo"},
}

// corpus are commands of whose replies all ways to read are compared. None has an empty string or an array in an array, or is a null array.
var corpus = [][]any{
	{"GET", "string"},
	{"get", "number"},
	{"GET", "json"},
	{"GET", "binary"},
	{"GET", "big"},
	{"GET", "missing"},
	{"GET", "list"},
	{"GET"},
	{"NOSUCHCOMMAND", "x"},
	{"PING"},
	{"PING", "hi"},
	{"ECHO", "OK"},
	{"STRLEN", "string"},
	{"EXISTS", "missing"},
	{"SET", "k", "v", "NX"},
	{"SET", "string2", "x"},
	{"SETEX", "string2", 100, "x"},
	{"INCRBYFLOAT", "float", "0.5"},
	{"OBJECT", "ENCODING", "number"},
	{"TYPE", "list"},
	{"LRANGE", "list", 0, -1},
	{"LRANGE", "missing", 0, -1},
	{"LRANGE", "list", "x", "y"},
	{"LPOP", "missing"},
	{"MGET", "string", "number"},
	{"MGET", "string", "missing", "number"},
	{"SMEMBERS", "set"},
	{"SMEMBERS", "missing"},
	{"SMISMEMBER", "set", "one", "two"},
	{"HGETALL", "hash"},
	{"HGETALL", "missing"},
	{"HMGET", "hash", "f1", "f2"},
	{"HRANDFIELD", "hash", 1, "WITHVALUES"},
	{"HINCRBYFLOAT", "hash2", "f", "1.5"},
	{"ZRANGE", "zset", 0, -1},
	{"ZRANGE", "zset", 0, -1, "WITHSCORES"},
	{"ZREVRANGEBYSCORE", "zset", "+inf", "-inf", "WITHSCORES"},
	{"ZRANGE", "missing", 0, -1, "WITHSCORES"},
	{"ZSCORE", "zset", "two"},
	{"ZSCORE", "zset", "three"},
	{"ZSCORE", "zset", "five"},
	{"ZMSCORE", "zset", "one", "none", "three"},
	{"ZADD", "zset", "INCR", 1, "six"},
	{"ZRANDMEMBER", "zset", 0, "WITHSCORES"},
	{"ZPOPMIN", "missing", 2},
	{"ZPOPMAX", "missing"},
	{"ZUNION", 1, "zset", "WITHSCORES"},
	{"ZINTERCARD", 1, "zset"},
	{"CONFIG", "GET", "appendonly"},
	{"CONFIG", "GET", "nosuchparameter"},
	{"EVAL", "return 5", 0},
	{"EVAL", "return {1,'a',3}", 0},
	{"EVAL", "return redis.error_reply('MYCODE mine')", 0},
	{"EVAL", "return redis.status_reply('FINE')", 0},
	{"EVAL", "return true", 0},
	{"EVAL", "return false", 0},
	{"GEODIST", "geo", "Palermo", "Palermo"},
	{"GEOHASH", "geo", "Palermo"},
	{"MEMORY", "DOCTOR"},
	{"CLIENT", "GETNAME"},
	{"EXEC"},
	{"OBJECT", "FREQ", "number"},
	{"DEBUG", "SET-ACTIVE-EXPIRE"},
	{"SELECT", 99},
	{"XLEN", "missing"},
	{"XRANGE", "missing", "-", "+"},
	{"SCRIPT", "EXISTS", "abc"},
	{"PUBSUB", "NUMSUB", "a", "b"},
	{"PUBSUB", "CHANNELS"},
	{"PUBLISH", "nobody", "x"},
	{"BITFIELD", "bits", "INCRBY", "u2", 100, 1},
	{"SORT", "list", "ALPHA"},
	{"WAIT", 0, 0},
	{"BLPOP", "list", 1},
}

// RESP3 has one null for both of RESP2, so ours cannot say that a null is a string's.
var (
	isNull = map[string]bool{
		"[GET missing]": true, "[LPOP missing]": true, "[EVAL return false 0]": true, "[CLIENT GETNAME]": true,
	}
	nullsOnPurpose = map[string][2]string{
		"Strings":     {"[] true error: read array length: expected array, got '$' | ok | ", "[] true ok | ok | "},
		"ArrayLength": {"0 [] error: expected array, got '$' | ok | ", "-1 [] ok | ok | "},
	}
)

func TestSameReplies(t *testing.T) {
	s := newSide(t)
	for _, cmd := range corpus {
		for _, way := range ways {
			t.Run(fmt.Sprint(cmd, "/", way.name), func(t *testing.T) {
				f := func(c client) string {
					within(t, func() {
						must(t, c.command("FLUSHALL").Ok())
						for _, row := range prepare {
							must(t, c.command(row[0].(string), row[1:]...).Close())
						}
					})
					var out string
					within(t, func() {
						p := c.command(cmd[0].(string), cmd[1:]...)
						out = way.read(p)
						out += " | " + text(p.Close()) + " | " + p.Error()
						echo(t, c)
					})
					return out
				}
				if want, ok := nullsOnPurpose[way.name]; ok && isNull[fmt.Sprint(cmd)] {
					s.differ(t, want[0], want[1], f)
					return
				}
				s.same(t, f)
			})
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// within fails if f does not end.
func within(t testing.TB, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("hangs")
	}
}

// echo checks that what is asked next is answered.
func echo(t testing.TB, c client) {
	t.Helper()
	for i := range 3 {
		word := fmt.Sprint("word ", i)
		if got, err := c.command("ECHO", word).String(); err != nil || got != word {
			t.Errorf("%s: ECHO: %q %v", c.name, got, err)
		}
	}
}

type (
	stringer  struct{ a int }
	number    int
	word      string
	structure struct {
		Foo string
		Bar *int `json:"bar,omitempty"`
	}
	marshaler struct{}
)

func (s stringer) String() string              { return fmt.Sprint("stringer ", s.a) }
func (marshaler) MarshalJSON() ([]byte, error) { return []byte(`[ "by itself" ]`), nil }

func TestSameArguments(t *testing.T) {
	one := 1
	s := newSide(t)
	for _, row := range []struct {
		name string
		arg  func() any
	}{
		{"string", func() any { return "s" }},
		{"binary string", func() any { return "\x00\r\n\xff" }},
		{"bytes", func() any { return []byte("bytes") }},
		{"int", func() any { return -5 }},
		{"int8", func() any { return int8(-128) }},
		{"int16", func() any { return int16(-32768) }},
		{"int32", func() any { return int32(-1 << 31) }},
		{"int64", func() any { return int64(-1 << 63) }},
		{"uint", func() any { return uint(5) }},
		{"uint8", func() any { return uint8(255) }},
		{"uint16", func() any { return uint16(65535) }},
		{"uint32", func() any { return uint32(1<<32 - 1) }},
		{"uint64", func() any { return uint64(1<<64 - 1) }},
		{"uintptr", func() any { return uintptr(7) }},
		{"float32", func() any { return float32(0.1) }},
		{"float64", func() any { return 0.1 }},
		{"large float", func() any { return 1e21 }},
		{"small float", func() any { return 1e-9 }},
		{"whole float", func() any { return 3.0 }},
		{"true", func() any { return true }},
		{"false", func() any { return false }},
		{"nil", func() any { return nil }},
		{"nil pointer", func() any { return (*int)(nil) }},
		{"pointer", func() any { return &one }},
		{"rune", func() any { return 'x' }},
		{"named int", func() any { return number(6) }},
		{"named string", func() any { return word("w") }},
		{"Stringer", func() any { return stringer{3} }},
		{"Duration", func() any { return time.Hour }},
		{"Time", func() any { return time.Unix(0, 0).UTC() }},
		{"struct", func() any { return structure{"x", &one} }},
		{"map", func() any { return map[string]int{"a": 1} }},
		{"slice", func() any { return []string{"a", "<b>"} }},
		{"raw JSON", func() any { return json.RawMessage(`{"raw": true}`) }},
		{"Marshaler", func() any { return marshaler{} }},
		{"error", func() any { return io.EOF }},
		{"bytes.Buffer", func() any { return strings.NewReader("from a reader") }},
		{"LenReader", func() any { return struct{ lenReader }{lenReader{strings.NewReader("longer than that"), 6}} }},
		{"big LenReader", func() any { return strings.NewReader(strings.Repeat("big", 1<<20)) }},
	} {
		t.Run(row.name, func(t *testing.T) {
			s.same(t, func(c client) string {
				out := text(c.command("SET", "k", row.arg()).Ok())
				got, err := c.command("GET", "k").String()
				out += fmt.Sprintf(" %q %s", got, text(err))
				out += text(c.command("RPUSH", "l", row.arg(), "x", row.arg()).Close())
				all, err := c.command("LRANGE", "l", 0, -1).Strings()
				out += fmt.Sprintf(" %q %s", all, text(err))
				must(t, c.command("DEL", "l").Close())
				return out
			})
		})
	}
}

type lenReader struct {
	io.Reader
	n int
}

func (r lenReader) Len() int { return r.n }
