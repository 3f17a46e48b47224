package rueidisstream_test

import (
	"fmt"
	"testing"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

// A command that writes is executed once at most, wherever the exchange is cut: at each byte on its way to the server, and at each
// byte of what comes back.
func TestWritesOnce(t *testing.T) {
	redistest.NoLeak(t)
	srv := redistest.Shared(t)
	proxy := redistest.NewProxy(t, srv.Addr)
	direct := redistest.NewClient(t, srv)
	ctx := caseContext(t)
	for name, row := range map[string]struct {
		write func(c rueidis.Client, key string) rueidis.Completed
		count func(key string) (int64, error)
	}{
		"INCR": {
			func(c rueidis.Client, key string) rueidis.Completed { return c.B().Incr().Key(key).Build() },
			func(key string) (int64, error) {
				n, err := direct.Do(ctx, direct.B().Get().Key(key).Build()).AsInt64()
				if rueidis.IsRedisNil(err) {
					return 0, nil
				}
				return n, err
			},
		},
		"XADD": {
			func(c rueidis.Client, key string) rueidis.Completed {
				return c.B().Xadd().Key(key).Id("*").FieldValue().FieldValue("f", "v").Build()
			},
			func(key string) (int64, error) { return direct.Do(ctx, direct.B().Xlen().Key(key).Build()).AsInt64() },
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := caseDial(t, proxy.Addr(), casePool(1), func(o *rueidis.ClientOption) { o.DisableCache = true })
			lost, kept := 0, 0
			for _, up := range []bool{true, false} {
				for at, failed := 0, true; failed; at++ {
					caseEchoes(t, c, 1) // the connection is there: the fault's count begins with the exchange
					fault := redistest.Fault{CutAfter: redistest.After(at), Once: true}
					if up {
						fault = redistest.Fault{CutUpAfter: redistest.After(at), Once: true}
					}
					key := fmt.Sprintf("%s:%v:%d", name, up, at)
					proxy.Set(fault)
					r, err := rueidisstream.Do(ctx, c, row.write(c, key))
					if err == nil {
						_, err = r.Value()
						require.NoError(t, r.Close())
					}
					proxy.Clear()
					n, cerr := row.count(key)
					require.NoError(t, cerr)
					require.LessOrEqual(t, n, int64(1), "%s executed %d times", key, n)
					if err == nil {
						require.EqualValues(t, 1, n, "%s: success is success", key)
					}
					if n == 0 {
						lost++
					} else if err != nil {
						kept++
					}
					failed = err != nil
				}
			}
			require.Positive(t, lost, "cut before it arrived")
			require.Positive(t, kept, "cut after it was executed")
			caseEchoes(t, c, 100)
		})
	}
}
