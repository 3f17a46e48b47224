package rueidisstream_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"github.com/redis/rueidis"

	"github.com/rueidisx/rueidisx/rueidisstream"
)

// connect returns a client for the examples: of a server that is scripted, so that they run anywhere.
func connect() rueidis.Client { return exampleClient }

func Example() {
	client := connect() // rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{"127.0.0.1:6379"}})
	ctx := context.Background()

	// client.Do(ctx, cmd).AsStrSlice() would hold the whole set in memory before the first member could be used.
	for member, err := range rueidisstream.Values(ctx, client, client.B().Smembers().Key("colours").Build()) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(member)
	}
	// Output:
	// red
	// green
	// blue
}

func ExampleValues() {
	client, ctx := connect(), context.Background()
	cmd := client.B().Lrange().Key("numbers").Start(0).Stop(-1).Build()
	sum := int64(0)
	for v, err := range rueidisstream.Values(ctx, client, cmd) {
		if err != nil {
			log.Fatal(err)
		}
		n, err := v.AsInt64()
		if err != nil {
			log.Fatal(err)
		}
		sum += n
	}
	fmt.Println(sum)
	// Output: 42
}

func ExamplePairs() {
	client, ctx := connect(), context.Background()
	for p, err := range rueidisstream.Pairs(ctx, client, client.B().Hgetall().Key("user:1").Build()) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s is %s\n", p.Key, p.Value)
	}
	// Output:
	// name is Ada
	// born is 1815
}

func ExamplePairs_nested() {
	client, ctx := connect(), context.Background()
	// The entries of a stream are pairs of an id and its fields.
	for entry, err := range rueidisstream.Pairs(ctx, client, client.B().Xrange().Key("log").Start("-").End("+").Build()) {
		if err != nil {
			log.Fatal(err)
		}
		for field, err := range entry.Value.Pairs() {
			if err != nil {
				log.Fatal(err)
			}
			fmt.Println(entry.Key, field.Key, field.Value)
		}
	}
	// Output:
	// 1-0 level info
	// 1-0 text started
	// 2-0 level error
}

func ExampleCopy() {
	client, ctx := connect(), context.Background()
	// w may be an http.ResponseWriter, a file, a hash.
	n, err := rueidisstream.Copy(ctx, client, client.B().Get().Key("greeting").Build(), os.Stdout)
	fmt.Println(n, err)
	_, err = rueidisstream.Copy(ctx, client, client.B().Get().Key("missing").Build(), os.Stdout)
	fmt.Println(rueidis.IsRedisNil(err))
	// Output:
	// hello, world
	// 13 <nil>
	// true
}

func ExampleDo() {
	client, ctx := connect(), context.Background()
	r, err := rueidisstream.Do(ctx, client, client.B().Get().Key("greeting").Build())
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	fmt.Println(r.Header().Len, "bytes")
	b, err := io.ReadAll(io.LimitReader(r, 5))
	fmt.Println(string(b), err)
	// Output:
	// 13 bytes
	// hello <nil>
}

func ExampleDoMulti() {
	client, ctx := connect(), context.Background()
	replies := rueidisstream.DoMulti(ctx, client, []rueidis.Completed{
		client.B().Get().Key("greeting").Build(),
		client.B().Get().Key("missing").Build(),
		client.B().Smembers().Key("colours").Build(),
	})
	defer replies.Close()
	for r, err := range replies.All() {
		if rueidis.IsRedisNil(err) {
			fmt.Println("missing")
			continue
		}
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(r.Header().Kind, r.Header().Len)
	}
	// Output:
	// bulk string 13
	// missing
	// array 3
}

func ExampleReplies_Next() {
	client, ctx := connect(), context.Background()
	replies := rueidisstream.DoMulti(ctx, client, []rueidis.Completed{
		client.B().Get().Key("missing").Build(),
		client.B().Get().Key("greeting").Build(),
	})
	defer replies.Close()
	_, err := replies.Next()
	fmt.Println(rueidis.IsRedisNil(err))
	r, err := replies.Next()
	if err != nil {
		log.Fatal(err)
	}
	if _, err := r.WriteTo(os.Stdout); err != nil {
		log.Fatal(err)
	}
	_, err = replies.Next()
	fmt.Println(err)
	// Output:
	// true
	// hello, world
	// EOF
}

func ExampleNewReader() {
	r := rueidisstream.NewReader(strings.NewReader("*2\r\n$5\r\nhello\r\n:42\r\n"))
	for v, err := range r.Values() {
		fmt.Println(v.Kind(), v, err)
	}
	// Output:
	// bulk string hello <nil>
	// integer 42 <nil>
}

func ExampleReader_Next() {
	r := rueidisstream.NewReader(strings.NewReader("*2\r\n*2\r\n:1\r\n:2\r\n$5\r\nhello\r\n"))
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s%s of %d\n", strings.Repeat("  ", h.Depth-1), h.Kind, h.Len)
	}
	// Output:
	// array of 2
	//   integer of 1
	//   integer of 1
	// bulk string of 5
}

func ExampleReader_Value() {
	r := rueidisstream.NewReader(strings.NewReader("$5\r\nhello\r\n"))
	v, err := r.Value()
	fmt.Println(v, err)
	// Output: hello <nil>
}

func ExampleReader_Skip() {
	r := rueidisstream.NewReader(strings.NewReader("*2\r\n*3\r\n:1\r\n:2\r\n:3\r\n$5\r\nhello\r\n"))
	_, _ = r.Next() // the inner array
	if err := r.Skip(); err != nil {
		log.Fatal(err)
	}
	h, err := r.Next()
	fmt.Println(h.Kind, err)
	// Output: bulk string <nil>
}

func ExampleReader_Values() {
	r := rueidisstream.NewReader(strings.NewReader("*3\r\n$4\r\nhead\r\n:1\r\n:2\r\n"))
	_, _ = r.Next() // step onto the head; the rest follows
	for v := range r.Values() {
		fmt.Println(v)
	}
	// Output:
	// 1
	// 2
}

func ExampleReader_Pairs() {
	r := rueidisstream.NewReader(strings.NewReader("%2\r\n+a\r\n:1\r\n+b\r\n:2\r\n"))
	for p := range r.Pairs() {
		fmt.Println(p.Key, p.Value)
	}
	// Output:
	// a 1
	// b 2
}

func ExampleReader_Read() {
	r := rueidisstream.NewReader(strings.NewReader("$10\r\nline\nline\n\r\n"))
	b, err := io.ReadAll(r)
	fmt.Println(bytes.Count(b, []byte("\n")), err)
	// Output: 2 <nil>
}

func ExampleReader_WriteTo() {
	r := rueidisstream.NewReader(strings.NewReader("$6\r\nhello\n\r\n"))
	n, err := r.WriteTo(os.Stdout)
	fmt.Println(n, err)
	// Output:
	// hello
	// 6 <nil>
}

func ExampleValue_Append() {
	r := rueidisstream.NewReader(strings.NewReader("*2\r\n$1\r\na\r\n$1\r\nb\r\n"))
	var all []byte
	for v := range r.Values() {
		all = v.Append(all) // v's bytes are gone with the next iteration
	}
	fmt.Println(string(all))
	// Output: ab
}

func ExampleWithDrain() {
	client, ctx := connect(), context.Background()
	cmd := client.B().Smembers().Key("colours").Build()
	for member := range rueidisstream.Values(ctx, client, cmd, rueidisstream.WithDrain(0)) {
		fmt.Println(member)
		break // the connection is closed rather than read to the end
	}
	// Output: red
}

func ExampleWithMaxBytes() {
	r := rueidisstream.NewReader(strings.NewReader("$5\r\nhello\r\n"), rueidisstream.WithMaxBytes(4))
	_, err := r.Value()
	fmt.Println(errors.Is(err, rueidisstream.ErrTooBig))
	// Output: true
}

func ExampleWithMaxDepth() {
	r := rueidisstream.NewReader(strings.NewReader("*1\r\n*1\r\n:1\r\n"), rueidisstream.WithMaxDepth(1))
	for _, err := range r.Values() {
		fmt.Println(errors.Is(err, rueidisstream.ErrTooBig))
	}
	// Output: true
}

func ExampleAllowReplica() {
	client, ctx := connect(), context.Background() // ClientOption{SendToReplicas: ...}
	cmd := client.B().Smembers().Key("colours").Build()
	n := 0
	for _, err := range rueidisstream.Values(ctx, client, cmd, rueidisstream.AllowReplica()) {
		if err != nil {
			log.Fatal(err)
		}
		n++
	}
	fmt.Println(n)
	// Output: 3
}

func ExampleWithRawErrors() {
	fake := "-ERR no such thing\r\n"
	_, usual := rueidisstream.NewReader(strings.NewReader(fake)).Value()
	_, raw := rueidisstream.NewReader(strings.NewReader(fake), rueidisstream.WithRawErrors()).Value()
	fmt.Println(usual)
	fmt.Println(raw)
	// Output:
	// no such thing
	// ERR no such thing
}
