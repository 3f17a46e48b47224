package redjet_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/rueidisx/rueidisx/compat/redjet"
	"github.com/rueidisx/rueidisx/internal/redistest"
)

func exampleReplies(c *redistest.FakeConn, cmd []string) {
	switch strings.Join(cmd[:min(len(cmd), 2)], " ") {
	case "SET foo", "SET person", "SET file":
		c.Write("+OK\r\n")
	case "GET foo":
		c.Write(redistest.Bulk("bar"))
	case "GET person":
		c.Write(redistest.Bulk(`{"name":"Alice","age":30}`))
	case "LRANGE list":
		c.Write(redistest.Array(redistest.Bulks("a", "b", "c")...))
	case "XRANGE log":
		c.Write(redistest.Array(redistest.Array(redistest.Bulk("1-0"), redistest.Array(redistest.Bulks("level", "info")...))))
	case "STRLEN foo":
		c.Write(":3\r\n")
	case "SUBSCRIBE news":
		c.Write(">3\r\n" + redistest.Bulk("subscribe") + redistest.Bulk("news") + ":1\r\n")
		c.Write(">3\r\n" + redistest.Bulk("message") + redistest.Bulk("news") + redistest.Bulk("hello"))
	case "UNSUBSCRIBE", "PUNSUBSCRIBE", "SUNSUBSCRIBE":
		c.Write(">3\r\n" + redistest.Bulk(strings.ToLower(cmd[0])) + "_\r\n:0\r\n")
	case "SECRET", "DISCARD":
		c.Write("-NOAUTH Authentication required.\r\n")
	case "NOSUCH":
		c.Write("-ERR unknown command 'NOSUCH'\r\n")
	default:
		c.Write("_\r\n")
	}
}

func Example() {
	client, ctx := exampleClient, context.Background()
	if err := client.Command(ctx, "SET", "foo", "bar").Ok(); err != nil {
		fmt.Println(err)
	}
	got, err := client.Command(ctx, "GET", "foo").Bytes()
	fmt.Printf("%s %v\n", got, err)
	// Output: bar <nil>
}

func ExampleNew() {
	client := redjet.New(exampleClient.Client()) // a rueidis.Client
	fmt.Println(client.Command(context.Background(), "SET", "foo", "bar").Ok())
	// Output: <nil>
}

func ExampleNewFromURL() {
	_, err := redjet.NewFromURL("http://localhost")
	fmt.Println(err)
	// Output: redis: invalid URL scheme: http
}

func ExampleClient_Client() {
	rc := exampleClient.Client()
	fmt.Println(rc.Do(context.Background(), rc.B().Get().Key("foo").Build()).ToString())
	// Output: bar <nil>
}

func ExampleClient_Close() {
	client := redjet.New(exampleClient.Client())
	fmt.Println(client.Close()) // the rueidis client goes on
	// Output: <nil>
}

func ExampleClient_Command() {
	fmt.Println(exampleClient.Command(context.Background(), "SET", "foo", "bar", "EX", 60).Ok())
	// Output: <nil>
}

func ExampleClient_Pipeline() {
	client, ctx := exampleClient, context.Background()
	p := client.Pipeline(ctx, nil, "GET", "foo")
	p = client.Pipeline(ctx, p, "STRLEN", "foo")
	defer p.Close()
	for p.Next() {
		fmt.Println(p.String())
	}
	// Output:
	// bar <nil>
	// 3 <nil>
}

func ExampleNewLenReader() {
	file := strings.NewReader("a file, and its size is known")
	fmt.Println(exampleClient.Command(context.Background(), "SET", "file", redjet.NewLenReader(file, 6)).Ok())
	// Output: <nil>
}

func ExampleIsUnknownCommand() {
	err := exampleClient.Command(context.Background(), "NOSUCH").Ok()
	fmt.Println(redjet.IsUnknownCommand(err))
	// Output: true
}

func ExampleIsAuthError() {
	err := exampleClient.Command(context.Background(), "SECRET").Ok()
	fmt.Println(redjet.IsAuthError(err))
	// Output: true
}

func ExampleError() {
	err := exampleClient.Command(context.Background(), "NOSUCH").Ok()
	var e *redjet.Error
	fmt.Println(errors.As(err, &e), e)
	// Output: true ERR unknown command 'NOSUCH'
}

func ExamplePipeline_WriteTo() {
	n, err := exampleClient.Command(context.Background(), "GET", "foo").WriteTo(os.Stdout)
	fmt.Println("", n, err)
	// Output: bar 3 <nil>
}

func ExamplePipeline_Bytes() {
	there, _ := exampleClient.Command(context.Background(), "GET", "foo").Bytes()
	missing, err := exampleClient.Command(context.Background(), "GET", "missing").Bytes()
	fmt.Printf("%s %t %v\n", there, missing == nil, err)
	// Output: bar true <nil>
}

func ExamplePipeline_String() {
	fmt.Println(exampleClient.Command(context.Background(), "GET", "foo").String())
	// Output: bar <nil>
}

func ExamplePipeline_Strings() {
	fmt.Println(exampleClient.Command(context.Background(), "LRANGE", "list", 0, -1).Strings())
	// Output: [a b c] <nil>
}

func ExamplePipeline_Int() {
	fmt.Println(exampleClient.Command(context.Background(), "STRLEN", "foo").Int())
	_, err := exampleClient.Command(context.Background(), "GET", "missing").Int()
	fmt.Println(errors.Is(err, redjet.ErrNil))
	// Output:
	// 3 <nil>
	// true
}

func ExamplePipeline_JSON() {
	type person struct {
		Name string `json:"name"`
		Age  int    `json:"age"`
	}
	client, ctx := exampleClient, context.Background()
	fmt.Println(client.Command(ctx, "SET", "person", person{"Alice", 30}).Ok())
	var p person
	err := client.Command(ctx, "GET", "person").JSON(&p)
	fmt.Println(p, err)
	// Output:
	// <nil>
	// {Alice 30} <nil>
}

func ExamplePipeline_Ok() {
	fmt.Println(exampleClient.Command(context.Background(), "GET", "foo").Ok())
	// Output: expected OK, got "bar"
}

func ExamplePipeline_ArrayLength() {
	p := exampleClient.Command(context.Background(), "XRANGE", "log", "-", "+")
	defer p.Close()
	n, err := p.ArrayLength()
	fmt.Println(n, err)
	// Output: 1 <nil>
}

func ExamplePipeline_ArrayStack() {
	p := exampleClient.Command(context.Background(), "XRANGE", "log", "-", "+")
	defer p.Close()
	for p.Next() {
		s, _ := p.String()
		fmt.Println(s, p.ArrayStack())
	}
	// Output:
	// 1 [1]
	// 2 [1 2]
	// 1-0 [1 1]
	// 2 [1 1 2]
	// level [1 1 1]
	// info []
}

func ExamplePipeline_Next() {
	p := exampleClient.Command(context.Background(), "GET", "foo")
	fmt.Println(p.Next())
	_, _ = p.String()
	fmt.Println(p.Next())
	// Output:
	// true
	// false
}

func ExamplePipeline_HasMore() {
	p := exampleClient.Command(context.Background(), "GET", "foo")
	fmt.Println(p.HasMore())
	_ = p.Close()
	// Output: true
}

func ExamplePipeline_Close() {
	p := exampleClient.Command(context.Background(), "SET", "foo", "bar")
	fmt.Println(p.Close()) // the command is sent, its reply dropped unless it is an error
	// Output: <nil>
}

func ExamplePipeline_Error() {
	p := exampleClient.Command(context.Background(), "SET", "foo", make(chan int))
	fmt.Println(p.Error())
	// Output: redjet: SET: argument 2: json: unsupported type: chan int
}

func ExamplePipeline_NextSubMessage() {
	sub := exampleClient.Command(context.Background(), "SUBSCRIBE", "news")
	defer sub.Close()
	for range 2 {
		m, err := sub.NextSubMessage()
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(m.Type, m.Channel, m.Payload)
	}
	// Output:
	// subscribe news 1
	// message news hello
}
