package rueidisstream_test

import (
	"context"
	"encoding/csv"
	"fmt"
	"log"
	"os"
	"sync"

	"github.com/redis/rueidis"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

// open returns a client for the examples with whole keys: of a server that is scripted, so that they run anywhere.
var open = sync.OnceValue(func() rueidis.Client {
	page := func(cursor string, elements ...string) string {
		return redistest.Array(redistest.Bulk(cursor), redistest.Array(redistest.Bulks(elements...)...))
	}
	entry := func(id string, fields ...string) string {
		return redistest.Array(redistest.Bulk(id), redistest.Array(redistest.Bulks(fields...)...))
	}
	fake := redistest.NewFake(new(outside), func(c *redistest.FakeConn, cmd []string) {
		switch cmd[0] + " " + cmd[1] {
		case "SSCAN tags":
			c.Write(page("0", "go", "redis"))
		case "SMEMBERS tags":
			c.Write(redistest.Set(redistest.Bulks("go", "redis")...))
		case "HSCAN user:1":
			c.Write(page("0", "name", "Ada", "born", "1815"))
		case "ZRANGE ranking":
			c.Write(redistest.Array(redistest.Array(redistest.Bulk("bob"), ",7\r\n"), redistest.Array(redistest.Bulk("ann"), ",9.5\r\n")))
		case "LRANGE jobs":
			c.Write(redistest.Array(redistest.Bulks("first", "second")...))
		case "XRANGE log":
			c.Write(redistest.Array(entry("1-0", "level", "info", "text", "started"), entry("2-0", "level", "error")))
		case "SSCAN visitors":
			if cmd[2] == "0" {
				c.Write(page("17", "ann", "bob"))
			} else {
				c.Write(page("0", "bob", "eve")) // bob again
			}
		case "SCAN 0":
			c.Write(page("0", "user:1", "user:2"))
		default:
			c.Write("-ERR unexpected\r\n")
		}
	})
	c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{fake.Addr()}, ForceSingleClient: true, DisableCache: true})
	if err != nil {
		log.Fatal(err)
	}
	return c
})

func ExampleMembers() {
	client, ctx := open(), context.Background()
	for member, err := range rueidisstream.Members(ctx, client, "tags") {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(member)
	}
	// Output:
	// go
	// redis
}

// A set of any size as CSV, in constant memory.
func ExampleMembers_csv() {
	client, ctx := open(), context.Background()
	w := csv.NewWriter(os.Stdout)
	for member, err := range rueidisstream.Members(ctx, client, "tags") {
		if err != nil {
			log.Fatal(err)
		}
		if err := w.Write([]string{"tags", member.String()}); err != nil {
			log.Fatal(err)
		}
	}
	w.Flush()
	fmt.Println(w.Error())
	// Output:
	// tags,go
	// tags,redis
	// <nil>
}

func ExampleFields() {
	client, ctx := open(), context.Background()
	for field, err := range rueidisstream.Fields(ctx, client, "user:1") {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s is %s\n", field.Key, field.Value)
	}
	// Output:
	// name is Ada
	// born is 1815
}

func ExampleScores() {
	client, ctx := open(), context.Background()
	for p, err := range rueidisstream.Scores(ctx, client, "ranking") {
		if err != nil {
			log.Fatal(err)
		}
		score, err := p.Value.AsFloat64()
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(p.Key, score)
	}
	// Output:
	// bob 7
	// ann 9.5
}

func ExampleElements() {
	client, ctx := open(), context.Background()
	for job, err := range rueidisstream.Elements(ctx, client, "jobs") {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(job)
	}
	// Output:
	// first
	// second
}

func ExampleEntries() {
	client, ctx := open(), context.Background()
	for entry, err := range rueidisstream.Entries(ctx, client, "log") {
		if err != nil {
			log.Fatal(err)
		}
		for part, err := range entry.Values() {
			if err != nil {
				log.Fatal(err)
			}
			if !part.Kind().IsAggregate() {
				fmt.Println(part) // the id
				continue
			}
			for field := range part.Pairs() {
				fmt.Println(" ", field.Key, field.Value)
			}
		}
	}
	// Output:
	// 1-0
	//   level info
	//   text started
	// 2-0
	//   level error
}

func ExampleKeys() {
	client, ctx := open(), context.Background()
	for key, err := range rueidisstream.Keys(ctx, client, "user:*") {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(key)
	}
	// Output:
	// user:1
	// user:2
}

func ExampleWithScan() {
	client, ctx := open(), context.Background()
	for visitor, err := range rueidisstream.Members(ctx, client, "visitors", rueidisstream.WithScan(1000)) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(visitor) // once, although the server may repeat it on a later page
	}
	// Output:
	// ann
	// bob
	// eve
}

func ExampleWithSnapshot() {
	client, ctx := open(), context.Background()
	opts := []rueidisstream.Option{rueidisstream.WithScan(1000)} // what the application does with other keys
	n := 0
	for _, err := range rueidisstream.Members(ctx, client, "tags", append(opts, rueidisstream.WithSnapshot())...) {
		if err != nil {
			log.Fatal(err)
		}
		n++
	}
	fmt.Println(n)
	// Output: 2
}

func ExampleWithSmall() {
	client, ctx := open(), context.Background()
	n := 0
	for _, err := range rueidisstream.Members(ctx, client, "tags", rueidisstream.WithSmall(0)) { // known to be big: no first question
		if err != nil {
			log.Fatal(err)
		}
		n++
	}
	fmt.Println(n)
	// Output: 2
}
