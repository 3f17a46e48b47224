package rueidisstream_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"strings"
	"sync"
	"time"

	"github.com/redis/rueidis"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

// copyHash copies the hash at key from one server to another, a thousand fields at a time. The copy appears at once, by RENAME, and
// replaces what was there.
func copyHash(ctx context.Context, from, to rueidis.Client, key string) error {
	temp := "{" + key + "}:copy" // in the same slot of a cluster
	batch := []rueidis.Completed{to.B().Del().Key(temp).Build()}
	flush := func() error {
		for _, r := range to.DoMulti(ctx, batch...) {
			if err := r.Error(); err != nil {
				return err
			}
		}
		batch = batch[:0]
		return nil
	}
	for field, err := range rueidisstream.Fields(ctx, from, key) {
		if err != nil {
			return err
		}
		set := to.B().Hset().Key(temp).FieldValue().FieldValue(field.Key.String(), field.Value.String()).Build()
		if batch = append(batch, set); len(batch) == 1000 {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	batch = append(batch, to.B().Rename().Key(temp).Newkey(key).Build())
	return flush()
}

// otherServer is a server that says what it is asked to do.
var otherServer = sync.OnceValue(func() rueidis.Client {
	fake := redistest.NewFake(new(outside), func(c *redistest.FakeConn, cmd []string) {
		fmt.Println(strings.Join(cmd, " "))
		c.Write("+OK\r\n")
	})
	c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{fake.Addr()}, ForceSingleClient: true, DisableCache: true})
	if err != nil {
		log.Fatal(err)
	}
	return c
})

// A hash of any size goes from one server to another in constant memory.
func ExampleFields_copy() {
	from, to, ctx := open(), otherServer(), context.Background()
	if err := copyHash(ctx, from, to, "user:1"); err != nil {
		log.Fatal(err)
	}
	// Output:
	// DEL {user:1}:copy
	// HSET {user:1}:copy name Ada
	// HSET {user:1}:copy born 1815
	// RENAME {user:1}:copy user:1
}

// The members that begin with "re" are counted; none of them is kept, and none becomes a string. (How many there are in all, SCARD
// says.)
func ExampleMembers_count() {
	client, ctx := open(), context.Background()
	n := 0
	for member, err := range rueidisstream.Members(ctx, client, "tags") {
		if err != nil {
			log.Fatal(err)
		}
		if bytes.HasPrefix(member.Bytes(), []byte("re")) {
			n++
		}
	}
	fmt.Println(n)
	// Output: 1
}

// The options of a client are changed once, where it is made. Then cancelling ends what waits for a reply, at once.
func ExampleDial() {
	server := redistest.NewFake(new(outside), func(c *redistest.FakeConn, _ []string) { c.Block(nil) }) // never answers
	client, err := rueidis.NewClient(rueidisstream.Dial(rueidis.ClientOption{
		InitAddress:  []string{server.Addr()},
		DisableCache: true, ForceSingleClient: true,
	}))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(10*time.Millisecond, cancel)
	_, err = rueidisstream.Do(ctx, client, client.B().Get().Key("k").Build())
	fmt.Println(errors.Is(err, context.Canceled), errors.Is(err, rueidisstream.ErrStalled))
	// Output: true false
}
