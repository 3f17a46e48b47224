package redjet

import (
	"context"
	"sync/atomic"

	"github.com/redis/rueidis"
)

// Client sends commands through a rueidis client. It may be used by several goroutines at once. The zero Client is of no use.
type Client struct {
	client  rueidis.Client
	cluster bool
	owned   bool
	closed  atomic.Bool
}

// New returns a Client that sends its commands through client, which may be of any kind: of one server, sentinel, cluster, or
// wrapped by hooks. It stays the caller's, to use beside and to close.
func New(client rueidis.Client) *Client {
	return &Client{client: client, cluster: client.Mode() == rueidis.ClientModeCluster}
}

// NewFromURL returns a Client with a rueidis client of its own, as rueidis.ParseURL understands url:
// redis://user:password@host:6379/0, rediss:// or unix://. Close it. The errors are those of ParseURL and rueidis.NewClient, which
// connects at once.
func NewFromURL(url string) (*Client, error) {
	opt, err := rueidis.ParseURL(url)
	if err != nil {
		return nil, err
	}
	client, err := rueidis.NewClient(opt)
	if err != nil {
		return nil, err
	}
	c := New(client)
	c.owned = true
	return c, nil
}

// Client returns the rueidis client, for what is better said in its own terms, and for rueidisstream and rueidisbatch.
func (c *Client) Client() rueidis.Client { return c.client }

// Close closes the rueidis client that NewFromURL has made. The one that was given to New is its maker's to close, and goes on.
// It returns nil and may be repeated.
func (c *Client) Close() error {
	if c.owned && !c.closed.Swap(true) {
		c.client.Close()
	}
	return nil
}

// Command returns the promise of the reply to one command. It is sent when its reply is read, or when the Pipeline is
// closed; a ctx that is done by then keeps it from being sent. Close the Pipeline, unless it is read by a method that
// does so: CloseOnRead is true.
//
//	err := client.Command(ctx, "SET", "foo", "bar").Ok()
//
// An argument may be a string, a []byte, a LenReader or a fmt.Stringer; any other is encoded as JSON, so numbers are numbers, a bool is true
// or false, and nil is null. See LenReader for when one is read. Errors, that of an argument which cannot be encoded included, come
// when the reply is read.
func (c *Client) Command(ctx context.Context, cmd string, args ...any) *Pipeline {
	p := newPipeline(ctx, c)
	p.CloseOnRead = true
	p.add(cmd, args)
	return p
}

// Pipeline adds a command to p, or to a new Pipeline if p is nil, and returns it. All commands that wait are sent together when the
// next reply is due: when one is read or the Pipeline is closed. See Command for the arguments. The context that rules is that
// of the call that made the Pipeline.
//
//	p := client.Pipeline(ctx, nil, "SET", "foo", "bar")
//	p = client.Pipeline(ctx, p, "GET", "foo")
//	defer p.Close()
//	for p.Next() {
//		s, err := p.String()
//	}
//
// A Pipeline may be kept and used for many rounds. Its connection is given back whenever all replies have been read, and so
// each round may have another one; on a cluster, a round has one for each node that it needs. A transaction, MULTI to
// EXEC, therefore has to be in one round.
func (c *Client) Pipeline(ctx context.Context, p *Pipeline, cmd string, args ...any) *Pipeline {
	if p == nil {
		p = newPipeline(ctx, c)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.add(cmd, args)
	return p
}
