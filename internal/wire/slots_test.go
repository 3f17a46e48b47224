package wire

import (
	"context"
	"testing"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
)

// L6: rueidis panics on a pipeline over two slots. Open refuses it, and what is of one slot or of none goes through.
func TestSlots(t *testing.T) {
	redistest.NoLeak(t)
	c := redistest.NewCluster(t).NewClient(t)
	get := func(key string) rueidis.Completed { return c.B().Get().Key(key).Build() }
	ping := func() rueidis.Completed { return c.B().Ping().Message("m").Build() }
	for _, row := range []struct {
		name string
		cmds []rueidis.Completed
		ok   bool
	}{
		{"one slot", []rueidis.Completed{get("{a}1"), get("{a}2"), get("{a}3")}, true},
		{"no slot", []rueidis.Completed{ping(), ping()}, true},
		{"one slot and none", []rueidis.Completed{ping(), get("{a}1"), ping(), get("{a}2")}, true},
		{"two slots", []rueidis.Completed{get("a"), get("b")}, false},
		{"two slots and none", []rueidis.Completed{get("a"), ping(), get("b")}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			w, err := Open(context.Background(), c, row.cmds, Primary)
			if !row.ok {
				require.ErrorIs(t, err, ErrSlots)
				return
			}
			require.NoError(t, err)
			w.Abandon()
		})
	}
}
