package redistest

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"
)

const (
	masterSet     = "redistest"
	sentinelCount = 3
)

var errNoSuccessor = errors.New("no replica has become the primary")

// Sentinel is a primary and a replica that three sentinels watch.
type Sentinel struct {
	MasterSet string
	Nodes     []*Server // the primary, then the replica, as they were at the start
	Sentinels []*Server
	Addrs     []string // of Sentinels
}

// NewSentinel starts a primary, a replica and their sentinels, and waits until the replica is in step and the sentinels know all. They are stopped when the test ends.
func NewSentinel(tb testing.TB) *Sentinel {
	tb.Helper()
	servers := startGroup(tb, 2+sentinelCount, func(ports []int) []spec {
		group := []spec{
			{port: ports[0], args: replicationArgs(ports[0], 0)},
			{port: ports[1], args: replicationArgs(ports[1], ports[0])},
		}
		ids := make([]string, sentinelCount)
		for i := range ids {
			ids[i] = newID()
		}
		for i := range ids {
			group = append(group, sentinelSpec(ports, ids, i))
		}
		return group
	})
	s := &Sentinel{MasterSet: masterSet, Nodes: servers[:2], Sentinels: servers[2:]}
	for _, sentinel := range s.Sentinels {
		s.Addrs = append(s.Addrs, sentinel.Addr)
	}
	awaitLink(tb, s.Nodes[1], s.Nodes[0].Addr)
	s.await(tb, s.Nodes[0])
	return s
}

// ClientOption returns the options of a client that asks the sentinels for the primary, ready to be adjusted.
func (s *Sentinel) ClientOption() rueidis.ClientOption {
	return rueidis.ClientOption{InitAddress: s.Addrs, Sentinel: rueidis.SentinelOption{MasterSet: s.MasterSet}}
}

// NewClient returns a client that asks the sentinels for the primary. It is closed when the test ends. Each adjust may change its options.
func (s *Sentinel) NewClient(tb testing.TB, adjust ...func(*rueidis.ClientOption)) rueidis.Client {
	tb.Helper()
	return newClient(tb, s.ClientOption(), adjust)
}

// Primary returns the node that the first sentinel calls the primary now.
func (s *Sentinel) Primary(tb testing.TB) *Server {
	tb.Helper()
	addr := strings.ReplaceAll(s.Sentinels[0].Do(tb, "SENTINEL", "GET-MASTER-ADDR-BY-NAME", s.MasterSet), "\n", ":")
	for _, node := range s.Nodes {
		if node.Addr == addr {
			return node
		}
	}
	tb.Fatalf("redistest: the sentinels' primary is %q", addr)
	return nil
}

// Failover makes the replica the primary and waits until all know and the former primary is its replica, in step. It returns the new primary.
func (s *Sentinel) Failover(tb testing.TB) *Server {
	tb.Helper()
	former := s.Primary(tb)
	next := s.Nodes[0]
	if former == next {
		next = s.Nodes[1]
	}
	await(tb, "sentinel: failover", 30*time.Second, func() error {
		_, err := s.Sentinels[0].at.do("SENTINEL", "FAILOVER", s.MasterSet)
		return err // NOGOODSLAVE, until the sentinel has heard of the replica
	})
	s.await(tb, next)
	await(tb, "sentinel: failover", 30*time.Second, next.isPrimary)
	host, port, _ := strings.Cut(next.Addr, ":")
	former.Do(tb, "REPLICAOF", host, port) // the sentinels would do it eight seconds later
	awaitLink(tb, former, next.Addr)
	return next
}

// await waits until every sentinel calls node the primary, and knows its replica and the other sentinels.
func (s *Sentinel) await(tb testing.TB, node *Server) {
	tb.Helper()
	want := map[string]string{
		"flags": "master", "num-slaves": "1", "num-other-sentinels": strconv.Itoa(sentinelCount - 1),
	}
	_, want["port"], _ = strings.Cut(node.Addr, ":")
	for _, sentinel := range s.Sentinels {
		await(tb, "sentinel "+sentinel.Addr, 60*time.Second, func() error {
			reply, err := sentinel.at.do("SENTINEL", "MASTER", s.MasterSet)
			if err != nil {
				return err
			}
			fields, _ := reply.([]any)
			for i := 0; i+1 < len(fields); i += 2 {
				name, value := text(fields[i]), text(fields[i+1])
				if wanted, ok := want[name]; ok && value != wanted {
					return fmt.Errorf("%s is %s, not %s", name, value, wanted)
				}
			}
			return nil
		})
	}
}

// sentinelSpec is the i-th sentinel. Each knows the others and the replica from the start: to find them takes seconds.
func sentinelSpec(ports []int, ids []string, i int) spec {
	port := ports[2+i]
	var conf strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&conf, format+"\n", args...) }
	line("port %d", port)
	line("sentinel myid %s", ids[i])
	line("sentinel announce-ip 127.0.0.1")
	line("sentinel announce-port %d", port)
	line("sentinel monitor %s 127.0.0.1 %d 2", masterSet, ports[0])
	line("sentinel down-after-milliseconds %s 1000", masterSet)
	line("sentinel failover-timeout %s 5000", masterSet)
	line("sentinel known-replica %s 127.0.0.1 %d", masterSet, ports[1])
	for j, id := range ids {
		if j != i {
			line("sentinel known-sentinel %s 127.0.0.1 %d %s", masterSet, ports[2+j], id)
		}
	}
	return spec{port: port, conf: "sentinel.conf", args: []string{"--sentinel"}, files: map[string]string{"sentinel.conf": conf.String()}}
}

// newID returns a name in the form of a server's run ID.
func newID() string {
	var id [20]byte
	_, _ = rand.Read(id[:])
	return hex.EncodeToString(id[:])
}

// isPrimary returns nil if the server says that it is a primary.
func (s *Server) isPrimary() error {
	reply, err := s.at.do("INFO", "replication")
	if err != nil {
		return err
	}
	if role := field(text(reply), "role"); role != "master" {
		return fmt.Errorf("%s is a %s", s.Addr, role)
	}
	return nil
}
