package redjet_test

import (
	"context"
	"fmt"
	"log"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/compat/redjet"
	"github.com/rueidisx/rueidisx/internal/redistest"
)

// exampleClient is the client of the examples, which have no testing.TB.
var exampleClient *redjet.Client

func TestMain(m *testing.M) {
	fake := redistest.NewFake(new(outside), exampleReplies)
	c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{fake.Addr()}, ForceSingleClient: true, DisableCache: true})
	if err != nil {
		log.Fatal(err)
	}
	exampleClient = redjet.New(c)
	redistest.Main(m)
}

// outside is a testing.TB for what lives as long as the process.
type outside struct{ testing.TB }

func (*outside) Helper()        {}
func (*outside) Cleanup(func()) {}

func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// one is a client of one connection, for RESP2 or RESP3.
func one(resp2 bool) func(*rueidis.ClientOption) {
	return func(o *rueidis.ClientOption) { o.AlwaysRESP2, o.DisableCache, o.BlockingPoolSize = resp2, true, 1 }
}

func protocol(resp2 bool) string {
	if resp2 {
		return "RESP2"
	}
	return "RESP3"
}

// server is a client of a real server.
func server(t testing.TB, resp2 bool) *redjet.Client {
	t.Helper()
	return redjet.New(redistest.NewClient(t, redistest.Shared(t), one(resp2)))
}

// faked is a client of a server that answers from a script, and ECHO by itself.
func faked(t testing.TB, handle redistest.Handler, adjust ...func(*rueidis.ClientOption)) (*redjet.Client, *redistest.Fake) {
	t.Helper()
	f := redistest.NewFake(t, func(c *redistest.FakeConn, cmd []string) {
		if cmd[0] == "ECHO" {
			c.Write(redistest.Bulk(cmd[1]))
			return
		}
		handle(c, cmd)
	})
	o := rueidis.ClientOption{InitAddress: []string{f.Addr()}, ForceSingleClient: true}
	one(false)(&o)
	for _, a := range adjust {
		a(&o)
	}
	rc, err := rueidis.NewClient(o)
	require.NoError(t, err)
	t.Cleanup(rc.Close)
	return redjet.New(rc), f
}

// hundred checks that the next commands on the client are right.
func hundred(t testing.TB, c *redjet.Client) {
	t.Helper()
	ctx := within(t)
	for i := range 50 {
		want := fmt.Sprint("word ", i)
		got, err := c.Command(ctx, "ECHO", want).String()
		require.NoError(t, err)
		require.Equal(t, want, got)
		var b strings.Builder
		_, err = c.Command(ctx, "ECHO", want).WriteTo(&b)
		require.NoError(t, err)
		require.Equal(t, want, b.String())
	}
}

// elements reads all that is left, and where the reading stood after each.
func elements(p *redjet.Pipeline) string {
	var out []string
	for p.Next() {
		s, err := p.String()
		if err != nil {
			s = "error " + err.Error()
		}
		out = append(out, fmt.Sprint(s, p.ArrayStack()))
	}
	return strings.Join(out, " ")
}

func queue(ctx context.Context, c *redjet.Client, cmds ...string) *redjet.Pipeline {
	var p *redjet.Pipeline
	for _, cmd := range cmds {
		words := strings.Fields(cmd)
		args := make([]any, len(words)-1)
		for i, w := range words[1:] {
			args[i] = w
		}
		p = c.Pipeline(ctx, p, words[0], args...)
	}
	return p
}
