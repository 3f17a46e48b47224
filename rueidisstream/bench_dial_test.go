package rueidisstream_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

// BenchmarkDial is what a client of Dial costs beside another, for replies so small that nothing but the costs of a call counts: Copy
// of one byte and Do of ten members, with a context that can be cancelled and with one that cannot. (Once there is a client
// of Dial, Copy of the other one sends two PINGs: run impl=rueidisx by itself to see it without.)
func BenchmarkDial(b *testing.B) {
	srv := redistest.Shared(b)
	srv.Do(b, "SET", "byte", "v")
	srv.Do(b, "SADD", "ten", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j")
	srv.Do(b, "SET", "mega", strings.Repeat("v", 1<<20))
	cancellable, cancel := context.WithCancel(context.Background())
	defer cancel()
	contexts := map[bool]context.Context{false: context.Background(), true: cancellable}
	for _, call := range []struct {
		name string
		run  func(context.Context, rueidis.Client) error
	}{
		{"Copy/size=1", func(ctx context.Context, c rueidis.Client) error {
			_, err := rueidisstream.Copy(ctx, c, c.B().Get().Key("byte").Build(), io.Discard)
			return err
		}},
		{"Copy/size=1048576", func(ctx context.Context, c rueidis.Client) error {
			_, err := rueidisstream.Copy(ctx, c, c.B().Get().Key("mega").Build(), io.Discard)
			return err
		}},
		{"Do/size=10", func(ctx context.Context, c rueidis.Client) error {
			r, err := rueidisstream.Do(ctx, c, c.B().Smembers().Key("ten").Build())
			if err != nil {
				return err
			}
			for _, err := range r.Values() {
				if err != nil {
					return err
				}
			}
			return r.Close()
		}},
		{"client.Do/size=10", func(ctx context.Context, c rueidis.Client) error {
			return c.Do(ctx, c.B().Smembers().Key("ten").Build()).Error()
		}},
	} {
		for _, can := range []bool{false, true} {
			for _, impl := range []string{"rueidisx", "dial"} {
				b.Run(fmt.Sprintf("%s/cancellable=%v/impl=%s", call.name, can, impl), func(b *testing.B) {
					opt := srv.ClientOption()
					opt.ForceSingleClient = true
					if impl == "dial" {
						opt = rueidisstream.Dial(opt)
					}
					c, err := rueidis.NewClient(opt)
					require.NoError(b, err)
					defer c.Close()
					require.NoError(b, call.run(contexts[can], c))
					b.ReportAllocs()
					for b.Loop() {
						if err := call.run(contexts[can], c); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}
