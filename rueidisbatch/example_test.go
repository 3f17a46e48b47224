package rueidisbatch_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/redis/rueidis"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisbatch"
)

// shop is a client of a server that answers MGET and HSCAN from a few keys, so that the examples need no server.
func shop() (client rueidis.Client, done func()) {
	strs := map[string]string{"price:apple": "3", "price:pear": "4", "price:void": ""}
	srv := redistest.NewFake(exampleTB{}, func(c *redistest.FakeConn, cmd []string) {
		switch cmd[0] {
		case "MGET":
			var vals []string
			for _, key := range cmd[1:] {
				if v, ok := strs[key]; ok {
					vals = append(vals, redistest.Bulk(v))
				} else {
					vals = append(vals, "$-1\r\n")
				}
			}
			c.Write(redistest.Array(vals...))
		case "HSCAN":
			c.Write(redistest.Array(redistest.Bulk("0"), redistest.Array(redistest.Bulks("1", "apple", "2", "plum")...)))
		case "TYPE":
			c.Write("+list\r\n")
		default:
			c.Write("-ERR unknown command\r\n")
		}
	})
	client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{srv.Addr()}, ForceSingleClient: true, DisableCache: true})
	if err != nil {
		panic(err)
	}
	return client, func() { client.Close(); srv.Close() }
}

// exampleTB stands in for the test that an example has not.
type exampleTB struct{ testing.TB }

func (exampleTB) Helper()                   {}
func (exampleTB) Cleanup(func())            {}
func (exampleTB) Fatalf(f string, a ...any) { panic(fmt.Sprintf(f, a...)) }
func (exampleTB) Fatal(a ...any)            { panic(fmt.Sprint(a...)) }

func ExampleMGet() {
	client, done := shop()
	defer done()
	vals, err := rueidisbatch.MGet(context.Background(), client, []string{"price:apple", "price:none", "price:apple"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, v := range vals {
		fmt.Printf("%q missing=%t\n", v, v == nil)
	}
	// Output:
	// "3" missing=false
	// "" missing=true
	// "3" missing=false
}

func ExampleMGetFunc() {
	client, done := shop()
	defer done()
	keys := []string{"price:apple", "price:pear"}
	prices := make([]string, len(keys)) // each element is written once, by whichever goroutine
	err := rueidisbatch.MGetFunc(context.Background(), client, keys, func(i int, val []byte) error {
		prices[i] = string(val)
		return nil
	})
	fmt.Println(prices, err)
	// Output: [3 4] <nil>
}

func ExampleMGetSeq() {
	client, done := shop()
	defer done()
	fruits := slices.Values(strings.Fields("price:pear price:none price:apple"))
	for item, err := range rueidisbatch.MGetSeq(context.Background(), client, fruits) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s %q\n", item.Key, item.Value)
	}
	// Output:
	// price:pear "4"
	// price:none ""
	// price:apple "3"
}

func ExampleReaddir() {
	client, done := shop()
	defer done()
	key := func(dst []byte, e rueidisbatch.Dirent) []byte { return append(append(dst, "price:"...), e.Value...) }
	for e, err := range rueidisbatch.Readdir(context.Background(), client, "shelf", key) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: %s, price %q\n", e.Name, e.Value, bytes.TrimSpace(e.Attr))
	}
	// Output:
	// 1: apple, price "3"
	// 2: plum, price ""
}

func ExampleWithWrongType() {
	client, done := shop()
	defer done()
	_, err := rueidisbatch.MGet(context.Background(), client, []string{"price:apple", "a list"},
		rueidisbatch.WithWrongType(rueidisbatch.WrongTypeError))
	var at *rueidisbatch.RangeError
	fmt.Println(errors.As(err, &at), at.From, errors.Is(err, rueidisbatch.ErrWrongType))
	// Output: true 1 true
}

func ExampleWithChunk() {
	client, done := shop()
	defer done()
	vals, err := rueidisbatch.MGet(context.Background(), client, []string{"price:apple", "price:pear"},
		rueidisbatch.WithChunk(1), rueidisbatch.WithParallelism(2), rueidisbatch.WithChunkBytes(1<<20), rueidisbatch.WithSmall(0),
		rueidisbatch.AllowReplica())
	fmt.Printf("%s %v\n", vals, err)
	// Output: [3 4] <nil>
}

func ExampleWithPartial() {
	client, done := shop()
	defer done()
	vals, err := rueidisbatch.MGet(context.Background(), client, []string{"price:apple", "a list"},
		rueidisbatch.WithPartial(), rueidisbatch.WithWrongType(rueidisbatch.WrongTypeError))
	fmt.Printf("%s\n%v\n", vals[0], err)
	// Output:
	// 3
	// rueidisbatch: key 1: rueidisbatch: the key holds another type than a string
}

func ExampleWithSnapshot() {
	client, done := shop()
	defer done()
	n := 0
	for range rueidisbatch.Readdir(context.Background(), client, "shelf", nil, rueidisbatch.WithSnapshot()) {
		n++
	}
	fmt.Println(n, "names")
	// Output: 2 names
}
