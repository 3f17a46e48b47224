package goredis_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidiscompat"

	"github.com/rueidisx/rueidisx/compat/goredis"
	"github.com/rueidisx/rueidisx/internal/redistest"
)

// exampleClient is the client of the examples, which have no testing.TB.
var exampleClient rueidis.Client

// outside is a testing.TB for what lives as long as the process.
type outside struct{ testing.TB }

func (*outside) Helper()        {}
func (*outside) Cleanup(func()) {}

func TestMain(m *testing.M) {
	server := exampleServer{queued: map[int][]string{}}
	fake := redistest.NewFake(new(outside), server.reply)
	c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{fake.Addr()}, ForceSingleClient: true, DisableCache: true})
	if err != nil {
		log.Fatal(err)
	}
	exampleClient = c
	redistest.Main(m)
}

// exampleServer answers each command with what the examples show.
type exampleServer struct {
	mu     sync.Mutex
	queued map[int][]string // of the connections that are in a transaction, the replies that EXEC will give
}

// transaction answers what belongs to one, and tells whether it did.
func (s *exampleServer) transaction(c *redistest.FakeConn, cmd []string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	queue, in := s.queued[c.ID]
	reply := "+QUEUED\r\n"
	switch {
	case cmd[0] == "MULTI":
		s.queued[c.ID], reply = []string{}, "+OK\r\n"
	case !in:
		return false
	case cmd[0] == "EXEC":
		delete(s.queued, c.ID)
		reply = redistest.Array(queue...)
	case cmd[0] == "APPEND":
		s.queued[c.ID] = append(queue, fmt.Sprintf(":%d\r\n", len(cmd[2])))
	case cmd[0] == "RENAME":
		s.queued[c.ID] = append(queue, "+OK\r\n")
	default: // PEXPIRE, PERSIST
		s.queued[c.ID] = append(queue, ":1\r\n")
	}
	c.Write(reply)
	return true
}

func (s *exampleServer) reply(c *redistest.FakeConn, cmd []string) {
	if s.transaction(c, cmd) {
		return
	}
	page := func(elements ...string) string {
		return redistest.Array(redistest.Bulk("0"), redistest.Array(redistest.Bulks(elements...)...))
	}
	entry := redistest.Array(redistest.Bulk("1-0"), redistest.Array(redistest.Bulks("level", "info")...))
	colours := redistest.Array(redistest.Bulks("red", "green")...)
	replies := map[string]string{
		"SMEMBERS": colours, "SINTER": redistest.Array(redistest.Bulk("red")), "SUNION": colours, "SDIFF": redistest.Array(redistest.Bulk("green")),
		"HGETALL": redistest.Map(redistest.Bulks("name", "Ada", "born", "1815")...), "HKEYS": redistest.Array(redistest.Bulks("name", "born")...),
		"HVALS": redistest.Array(redistest.Bulks("Ada", "1815")...), "LRANGE": redistest.Array(redistest.Bulks("12", "30")...),
		"MGET": redistest.Array(redistest.Bulk("Ada"), "_\r\n"), "KEYS": redistest.Array(redistest.Bulks("user:1", "user:2")...),
		"XRANGE": redistest.Array(entry), "XREVRANGE": redistest.Array(entry), "SORT": redistest.Array(redistest.Bulks("1", "2")...),
		"SORT_RO": redistest.Array(redistest.Bulks("1", "2")...), "GET": redistest.Bulk("hello, world"), "SET": "+OK\r\n",
		"DEL": ":2\r\n", "UNLINK": ":2\r\n", "EXISTS": ":1\r\n", "TOUCH": ":2\r\n", "SSCAN": page("red", "green"), "HSCAN": page("name", "Ada"),
		"ZSCAN": page("alice", "1"), "SCAN": page("user:1", "user:2"), "ECHO": "$2\r\nhi\r\n", "RENAME": "+OK\r\n",
		"ROLE": redistest.Array(redistest.Bulk("master")),
	}
	switch reply, ok := replies[cmd[0]]; {
	case strings.HasPrefix(cmd[0], "Z") && cmd[0] != "ZSCAN" && cmd[len(cmd)-1] == "WITHSCORES",
		strings.HasPrefix(cmd[0], "ZR") && strings.Contains(strings.Join(cmd, " "), "WITHSCORES"):
		c.Write(redistest.Array(redistest.Array(redistest.Bulk("alice"), ",1\r\n"), redistest.Array(redistest.Bulk("bob"), ",inf\r\n")))
	case strings.HasPrefix(cmd[0], "Z") && cmd[0] != "ZSCAN":
		c.Write(redistest.Array(redistest.Bulks("alice", "bob")...))
	case ok:
		c.Write(reply)
	default:
		c.BuiltIn(cmd)
	}
}

func ExampleNewAdapter() {
	ctx := context.Background()
	rdb := goredis.NewAdapter(exampleClient, rueidiscompat.WithNodeScaleoutLimit(4))
	members, err := rdb.SMembers(ctx, "colours").Result()
	fmt.Println(members, err)
	// Output: [red green] <nil>
}

func ExampleAdapter_WithStreamFrom() {
	rdb := goredis.NewAdapter(exampleClient).WithStreamFrom(-1) // for a test with a mock: nothing is streamed
	fmt.Println(rdb.SMembers(context.Background(), "colours").Val())
	// Output: [red green]
}

func ExampleAdapter_ForEachMaster() {
	rdb := goredis.NewAdapter(exampleClient)
	err := rdb.ForEachMaster(context.Background(), func(ctx context.Context, node rueidiscompat.Cmdable) error {
		fmt.Println(node.Keys(ctx, "user:*").Val())
		return nil
	})
	fmt.Println(err)
	// Output:
	// [user:1 user:2]
	// <nil>
}

func ExampleAdapter_MGet() {
	rdb := goredis.NewAdapter(exampleClient)
	fmt.Println(rdb.MGet(context.Background(), "name", "missing").Val()...)
	// Output: Ada <nil>
}

func ExampleAdapter_MembersIterator() {
	ctx := context.Background()
	it := goredis.NewAdapter(exampleClient).MembersIterator(ctx, "colours")
	defer it.Close()
	for it.Next(ctx) {
		fmt.Println(it.Val())
	}
	if err := it.Err(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// red
	// green
}

func ExampleScanIterator_All() {
	ctx := context.Background()
	for key, err := range goredis.NewAdapter(exampleClient).ScanIterator(ctx, 0, "user:*", 100).All() {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(key)
	}
	// Output:
	// user:1
	// user:2
}

func ExampleAdapter_DoRaw() {
	got := goredis.NewAdapter(exampleClient).DoRaw(context.Background(), "GET", "greeting")
	fmt.Printf("%q %v\n", got.Val(), got.Err())
	// Output: "$12\r\nhello, world\r\n" <nil>
}

func ExampleAdapter_DoRawWriteTo() {
	var w strings.Builder
	n, err := goredis.NewAdapter(exampleClient).DoRawWriteTo(context.Background(), &w, "EXISTS", "greeting").Result()
	fmt.Printf("%d %q %v\n", n, w.String(), err)
	// Output: 4 ":1\r\n" <nil>
}

func ExampleAdapter_GetToBuffer() {
	buf := make([]byte, 1024)
	got := goredis.NewAdapter(exampleClient).GetToBuffer(context.Background(), "greeting", buf)
	fmt.Printf("%s %v\n", got.Bytes(), got.Err())
	small := goredis.NewAdapter(exampleClient).GetToBuffer(context.Background(), "greeting", buf[:5])
	fmt.Println(small.Err())
	// Output:
	// hello, world <nil>
	// redis: buffer too small: need 12 bytes, have 5
}

func ExampleAdapter_SetFromBuffer() {
	fmt.Println(goredis.NewAdapter(exampleClient).SetFromBuffer(context.Background(), "greeting", []byte("hello")).Result())
	// Output: OK <nil>
}

func ExampleAdapter_SetFromReader() {
	upload := io.LimitReader(strings.NewReader("hello, world and all"), 12) // of a length that nobody has to know
	fmt.Println(goredis.NewAdapter(exampleClient).SetFromReader(context.Background(), "greeting", upload, time.Hour).Result())
	// Output: OK <nil>
}

func ExampleAdapter_GetReader() {
	r, n, err := goredis.NewAdapter(exampleClient).GetReader(context.Background(), "greeting")
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	fmt.Println(n, "bytes")
	_, err = io.Copy(os.Stdout, r)
	fmt.Println("", err)
	// Output:
	// 12 bytes
	// hello, world <nil>
}
