package rueidisstream_test

import (
	"bytes"
	"context"
	"io"
	"strconv"
	"testing"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
	"github.com/rueidisx/rueidisx/rueidisstream"
)

func TestSmoke(t *testing.T) {
	srv := redistest.Shared(t)
	c := redistest.NewClient(t, srv, func(o *rueidis.ClientOption) { o.BlockingPoolSize = 1 })
	ctx := context.Background()
	for i := range 1000 {
		c.Do(ctx, c.B().Sadd().Key("s").Member("member:"+strconv.Itoa(i)).Build())
	}
	n := 0
	for v, err := range rueidisstream.Values(ctx, c, c.B().Smembers().Key("s").Build()) {
		require.NoError(t, err)
		_ = v
		n++
	}
	require.Equal(t, 1000, n)
	big := bytes.Repeat([]byte("x"), 5<<20)
	require.NoError(t, c.Do(ctx, c.B().Set().Key("big").Value(string(big)).Build()).Error())
	var b bytes.Buffer
	m, err := rueidisstream.Copy(ctx, c, c.B().Get().Key("big").Build(), &b)
	require.NoError(t, err)
	require.EqualValues(t, len(big), m)
	r, err := rueidisstream.Do(ctx, c, c.B().Get().Key("big").Build())
	require.NoError(t, err)
	got, err := io.ReadAll(r)
	require.NoError(t, err)
	require.True(t, bytes.Equal(got, big))
	require.NoError(t, r.Close())
	for i := 0; i < 100; i++ {
		for range rueidisstream.Values(ctx, c, c.B().Smembers().Key("s").Build()) {
			break
		}
	}
	rs := rueidisstream.DoMulti(ctx, c, []rueidis.Completed{c.B().Get().Key("big").Build(), c.B().Get().Key("none").Build(), c.B().Smembers().Key("s").Build()})
	for r, err := range rs.All() {
		t.Log(r.Header(), err)
	}
}

func BenchmarkMembers(b *testing.B) {
	srv := redistest.Shared(b)
	c := redistest.NewClient(b, srv)
	ctx := context.Background()
	for i := range 5000 {
		c.Do(ctx, c.B().Sadd().Key("s").Member("membermember:"+strconv.Itoa(i)).Build())
	}
	c.Do(ctx, c.B().Set().Key("one").Value("x").Build())
	c.Do(ctx, c.B().Set().Key("kib").Value(string(make([]byte, 1024))).Build())
	c.Do(ctx, c.B().Set().Key("mib").Value(string(make([]byte, 1<<20))).Build())
	b.Run("ours", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			n := 0
			for v, err := range rueidisstream.Values(ctx, c, c.B().Smembers().Key("s").Build()) {
				if err != nil {
					b.Fatal(err)
				}
				n += len(v.Bytes())
			}
		}
	})
	b.Run("do", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			n := 0
			ss, err := c.Do(ctx, c.B().Smembers().Key("s").Build()).AsStrSlice()
			if err != nil {
				b.Fatal(err)
			}
			for _, s := range ss {
				n += len(s)
			}
		}
	})
	for _, k := range []string{"one", "kib", "mib"} {
		b.Run(k+"/copy", func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(p *testing.PB) {
				for p.Next() {
					if _, err := rueidisstream.Copy(ctx, c, c.B().Get().Key(k).Build(), io.Discard); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
		b.Run(k+"/stream", func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(p *testing.PB) {
				for p.Next() {
					s := c.DoStream(ctx, c.B().Get().Key(k).Build())
					if _, err := s.WriteTo(io.Discard); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}
