package wire

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkRule is what a Line does for each stream beside the exchange itself: the context takes the connection, the deadline for the
// first read is set, and the context lets go.
func BenchmarkRule(b *testing.B) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(b, err)
	defer l.Close()
	conn, err := net.Dial("tcp", l.Addr().String())
	require.NoError(b, err)
	defer conn.Close()
	cancellable, cancel := context.WithCancel(context.Background())
	defer cancel()
	for _, ctx := range []context.Context{context.Background(), cancellable} {
		b.Run(fmt.Sprintf("cancellable=%v", ctx.Done() != nil), func(b *testing.B) {
			line := NewLine(conn, time.Second)
			b.ReportAllocs()
			for b.Loop() {
				g := guard{ctx: ctx}
				if g.take(line) != nil || line.arm() != nil {
					b.Fatal("it is not that bad")
				}
				g.release()
			}
		})
	}
}
