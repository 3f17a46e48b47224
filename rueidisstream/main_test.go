package rueidisstream_test

import (
	"log"
	"strings"
	"testing"

	"github.com/redis/rueidis"

	"github.com/rueidisx/rueidisx/internal/redistest"
)

// exampleClient is the client of the examples, which have no testing.TB.
var exampleClient rueidis.Client

func TestMain(m *testing.M) {
	tb := new(outside)
	fake := redistest.NewFake(tb, exampleReplies)
	c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{fake.Addr()}, ForceSingleClient: true, DisableCache: true})
	if err != nil {
		log.Fatal(err)
	}
	exampleClient = c
	redistest.Main(m)
}

// outside is a testing.TB for what lives as long as the process.
type outside struct{ testing.TB }

func (*outside) Helper()        {}
func (*outside) Cleanup(func()) {}

func exampleReplies(c *redistest.FakeConn, cmd []string) {
	switch strings.Join(cmd[:2], " ") {
	case "SMEMBERS colours":
		c.Write(redistest.Array(redistest.Bulks("red", "green", "blue")...))
	case "LRANGE numbers":
		c.Write(redistest.Array(redistest.Bulks("12", "30")...))
	case "HGETALL user:1":
		c.Write(redistest.Map(redistest.Bulks("name", "Ada", "born", "1815")...))
	case "XRANGE log":
		entry := func(id string, fields ...string) string {
			return redistest.Array(redistest.Bulk(id), redistest.Array(redistest.Bulks(fields...)...))
		}
		c.Write(redistest.Array(entry("1-0", "level", "info", "text", "started"), entry("2-0", "level", "error")))
	case "GET greeting":
		c.Write(redistest.Bulk("hello, world\n"))
	default:
		c.Write("_\r\n")
	}
}
