package rueidisstream_test

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/redis/rueidis"

	"github.com/rueidisx/rueidisx/rueidisstream"
)

// connectStore returns a client of a small server that holds strings, so that these examples run anywhere.
var connectStore = sync.OnceValue(func() rueidis.Client {
	s := newStore(new(outside), nil)
	c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{s.Addr()}, ForceSingleClient: true, DisableCache: true})
	if err != nil {
		log.Fatal(err)
	}
	return c
})

// set stores a value for an example.
func set(ctx context.Context, client rueidis.Client, key, value string) {
	if err := client.Do(ctx, client.B().Set().Key(key).Value(value).Build()).Error(); err != nil {
		log.Fatal(err)
	}
}

func ExampleSetFrom() {
	client, ctx := connectStore(), context.Background()
	// An upload of any size becomes a value, at once and whole. request.Body would do as well.
	upload := io.LimitReader(strings.NewReader("hello, world and all"), 12)
	n, err := rueidisstream.SetFrom(ctx, client, "greeting", upload, rueidisstream.WithExpire(time.Hour))
	fmt.Println(n, err)
	fmt.Println(client.Do(ctx, client.B().Get().Key("greeting").Build()).ToString())
	// Output:
	// 12 <nil>
	// hello, world <nil>
}

func ExampleSetFrom_pipe() {
	client, ctx := connectStore(), context.Background()
	// What writes rather than reads goes through an io.Pipe. If it fails, the key stays as it was.
	r, w := io.Pipe()
	defer r.Close()
	go func() {
		archive := zip.NewWriter(w)
		f, err := archive.Create("hello.txt")
		if err == nil {
			_, err = io.WriteString(f, "hello, world\n")
		}
		if err == nil {
			err = archive.Close()
		}
		w.CloseWithError(err)
	}()
	if _, err := rueidisstream.SetFrom(ctx, client, "archive", r); err != nil {
		log.Fatal(err)
	}
	// archive/zip reads it where it needs to.
	s, err := rueidisstream.OpenString(ctx, client, "archive")
	if err != nil {
		log.Fatal(err)
	}
	archive, err := zip.NewReader(s, s.Size())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(archive.File[0].Name)
	// Output: hello.txt
}

func ExampleWithExpire() {
	client, ctx := connectStore(), context.Background()
	_, err := rueidisstream.SetFrom(ctx, client, "k", strings.NewReader("v"), rueidisstream.WithExpire(time.Minute))
	fmt.Println(client.Do(ctx, client.B().Pttl().Key("k").Build()).AsInt64())
	fmt.Println(err)
	// Output:
	// 60000 <nil>
	// <nil>
}

func ExampleWithExpireAt() {
	client, ctx := connectStore(), context.Background()
	midnight := time.Now().Truncate(24 * time.Hour).Add(24 * time.Hour)
	n, err := rueidisstream.SetFrom(ctx, client, "k", strings.NewReader("v"), rueidisstream.WithExpireAt(midnight))
	fmt.Println(n, err)
	// Output: 1 <nil>
}

func ExampleWithKeepTTL() {
	client, ctx := connectStore(), context.Background()
	n, err := rueidisstream.SetFrom(ctx, client, "k", strings.NewReader("v"), rueidisstream.WithKeepTTL())
	fmt.Println(n, err)
	// Output: 1 <nil>
}

// Serve a value over HTTP, with Range requests, as a file would be.
func ExampleOpenString() {
	client := connectStore()
	set(context.Background(), client, "greeting.txt", "hello, world\n")

	serve := func(w http.ResponseWriter, req *http.Request) {
		s, err := rueidisstream.OpenString(req.Context(), client, "greeting.txt")
		if rueidis.IsRedisNil(err) {
			http.NotFound(w, req)
			return
		}
		if err != nil {
			http.Error(w, "try again", http.StatusBadGateway)
			return
		}
		http.ServeContent(w, req, "greeting.txt", time.Time{}, s)
	}

	req := httptest.NewRequest(http.MethodGet, "/greeting.txt", nil)
	req.Header.Set("Range", "bytes=7-11")
	w := httptest.NewRecorder()
	serve(w, req)
	fmt.Println(w.Code, w.Header().Get("Content-Range"), w.Body)
	// Output: 206 bytes 7-11/13 world
}

func ExampleStringReader_ReadAt() {
	client, ctx := connectStore(), context.Background()
	set(ctx, client, "k", "hello, world")
	s, err := rueidisstream.OpenString(ctx, client, "k")
	if err != nil {
		log.Fatal(err)
	}
	p := make([]byte, 5)
	n, err := s.ReadAt(p, 7)
	fmt.Printf("%d %v %s\n", n, err, p)
	// The value is another one now, which is an error and not a mix of both.
	set(ctx, client, "k", "HELLO, WORLD")
	_, err = s.ReadAt(p, 0)
	fmt.Println(err)
	// Output:
	// 5 <nil> world
	// rueidisstream: the value changed (noticed at byte 0: its length is the same)
}

func ExampleStringReader_Size() {
	client, ctx := connectStore(), context.Background()
	set(ctx, client, "k", "hello")
	s, err := rueidisstream.OpenString(ctx, client, "k")
	fmt.Println(s.Size(), err)
	// Output: 5 <nil>
}

func ExampleStringReader_Read() {
	client, ctx := connectStore(), context.Background()
	set(ctx, client, "k", "one\ntwo\n")
	s, err := rueidisstream.OpenString(ctx, client, "k")
	if err != nil {
		log.Fatal(err)
	}
	b, err := io.ReadAll(s)
	fmt.Println(bytes.Count(b, []byte("\n")), err)
	// Output: 2 <nil>
}

func ExampleStringReader_Seek() {
	client, ctx := connectStore(), context.Background()
	set(ctx, client, "k", "hello, world\n")
	s, err := rueidisstream.OpenString(ctx, client, "k")
	if err != nil {
		log.Fatal(err)
	}
	at, err := s.Seek(-6, io.SeekEnd)
	fmt.Println(at, err)
	_, _ = io.Copy(os.Stdout, s)
	// Output:
	// 7 <nil>
	// world
}

func ExampleStringReader_WriteTo() {
	client, ctx := connectStore(), context.Background()
	set(ctx, client, "k", "hello, world\n")
	s, err := rueidisstream.OpenString(ctx, client, "k")
	if err != nil {
		log.Fatal(err)
	}
	n, err := s.WriteTo(os.Stdout)
	fmt.Println(n, err)
	// Output:
	// hello, world
	// 13 <nil>
}
