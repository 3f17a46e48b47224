package rueidisstream_test

import (
	"context"
	"io"
	"testing"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

func TestWithRawErrors(t *testing.T) {
	redistest.NoLeak(t)
	for _, row := range []struct{ name, reply, raw, usual string }{
		{"a prefix", "-ERR no such thing\r\n", "ERR no such thing", "no such thing"},
		{"a code", "-WRONGTYPE no\r\n", "WRONGTYPE no", "WRONGTYPE no"},
		{"a bulk error", "!9\r\nERR ERR x\r\n", "ERR ERR x", "ERR x"},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := redistest.NewFake(t, func(c *redistest.FakeConn, _ []string) { c.Write(row.reply) })
			c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{f.Addr()}, ForceSingleClient: true, DisableCache: true})
			require.NoError(t, err)
			defer c.Close()
			ctx := context.Background()
			for want, opts := range map[string][]rueidisstream.Option{row.raw: {rueidisstream.WithRawErrors()}, row.usual: nil} {
				same := func(err error) {
					t.Helper()
					require.IsType(t, (*rueidis.RedisError)(nil), err, "unwrapped")
					require.EqualError(t, err, want)
				}
				cmd := func(name string) rueidis.Completed { return c.B().Arbitrary(name).Args("k").Build() }
				_, err := rueidisstream.Do(ctx, c, cmd("ANY"), opts...)
				same(err)
				_, err = rueidisstream.Copy(ctx, c, cmd("ANY"), io.Discard, opts...)
				same(err)
				_, err = rueidisstream.Copy(ctx, c, cmd("GET"), io.Discard, opts...)
				same(err)
				rs := rueidisstream.DoMulti(ctx, c, []rueidis.Completed{cmd("ANY"), cmd("ANY")}, opts...)
				for range 2 {
					_, err = rs.Next()
					same(err)
				}
				require.NoError(t, rs.Close())
			}
		})
	}
}
