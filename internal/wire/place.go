package wire

import (
	"context"
	"runtime"
	"strings"
	"sync/atomic"
)

// placeKeeper is a context that cannot make rueidis lose a place of its pool.
//
// To stream, rueidis takes a connection from the pool and hands it to a function that first looks whether the context is done. If it
// is, that function returns without giving the connection back, and the pool, which counts, is one smaller for good. A
// context that ends while a connection is dialled, or just then, does that, so an application that cancels now and then
// stands still in the end. To that one look this context is therefore never done. The command is then sent on a connection
// whose place is accounted for, and the caller of this package sees that the context is done.
//
// That look, and nothing else, is known by the name of the function that takes it. Where another rueidis has another name
// there, it is as it is without this.
type placeKeeper struct {
	context.Context
	refused atomic.Bool // the pool was told that the context is done: it handed out nothing, and nothing must go back
}

// keepPlace returns ctx, or one in its place for DoStream and DoMultiStream.
func keepPlace(ctx context.Context) context.Context {
	if ctx.Done() == nil || ctx.Err() != nil {
		return ctx
	}
	return &placeKeeper{Context: ctx}
}

func (c *placeKeeper) Err() error {
	err := c.Context.Err()
	if err == nil {
		return nil
	}
	switch calledBy() {
	case "(*pool).Acquire":
		c.refused.Store(true)
	case "(*pipe).DoStream", "(*pipe).DoMultiStream":
		if !c.refused.Load() {
			return nil
		}
	}
	return err
}

// calledBy returns the name of the function of rueidis that called Err, within a few frames: a context may have been derived
// from the placeKeeper on the way.
func calledBy() string {
	var pcs [4]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	for {
		frame, more := frames.Next()
		if name, ok := strings.CutPrefix(frame.Function, "github.com/redis/rueidis."); ok {
			return name
		}
		if !more {
			return ""
		}
	}
}
