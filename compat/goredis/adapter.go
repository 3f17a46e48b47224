package goredis

import (
	"context"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidiscompat"
)

// NOTE: a command whose reply may grow is one line here, which says how rueidiscompat is called. fetch.go decides how its reply
// comes; sizes.go remembers which replies are small; read.go makes Go values of a stream, and views.go their strings.

// Adapter is a rueidiscompat.Cmdable that reads replies which may be big through a stream. It may be used by any number of
// goroutines. Make one for each client and keep it: it remembers which keys are small.
//
// The zero Adapter is not usable; NewAdapter makes one.
type Adapter struct {
	rueidiscompat.Cmdable // what is not overridden, and what small replies are read by

	client  rueidis.Client
	from    int  // replies of so many elements are streamed; negative: none
	cluster bool // keys have slots
	sizes   *sizes
	catcher catchers
}

var _ rueidiscompat.Cmdable = (*Adapter)(nil)

// Option is an option of rueidiscompat, such as rueidiscompat.WithNodeScaleoutLimit. What this package adds has a method:
// Adapter.WithStreamFrom.
type Option = rueidiscompat.AdapterOption

// defaultStreamFrom is the default of WithStreamFrom. 64 callers at once, for whom rueidis puts many commands into one write, lose by
// a stream of 100 elements and did not, or hardly, with 300 and more; a single caller gains earlier. The machine was busy:
// see benchmarks/results/compat-goredis.txt.
const defaultStreamFrom = 256

// NewAdapter returns an adapter of client with the API of rueidiscompat.NewAdapter(client, options...), which it can take the place
// of. The client stays the caller's, to use and to close, and Adapter.Client gives it back.
func NewAdapter(client rueidis.Client, options ...Option) *Adapter {
	return &Adapter{
		Cmdable: rueidiscompat.NewAdapter(client, options...),
		client:  client,
		from:    defaultStreamFrom,
		cluster: inCluster(client),
		sizes:   new(sizes),
		catcher: newCatchers(client),
	}
}

// WithStreamFrom returns a copy of the adapter that takes replies of n elements or more for big, which is when they are
// streamed; those of a map count two for each pair. With 0 every reply that may grow is streamed. With less than 0 none is: the
// adapter then sends and reads as rueidiscompat does, which a mock of the client may need, or a server whose access list forbids PING.
// The default is 256.
func (a *Adapter) WithStreamFrom(n int) *Adapter {
	b := *a
	b.from, b.sizes = n, new(sizes)
	return &b
}

// ForEachMaster calls fn for each primary of a cluster, or for the one server, at the same time, with an *Adapter of that node. It
// returns the first error, if any.
func (a *Adapter) ForEachMaster(ctx context.Context, fn func(ctx context.Context, client rueidiscompat.Cmdable) error) error {
	return a.Cmdable.ForEachMaster(ctx, func(ctx context.Context, node rueidiscompat.Cmdable) error {
		return fn(ctx, NewAdapter(node.Client()).WithStreamFrom(a.from))
	})
}
