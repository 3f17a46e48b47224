package redistest

import (
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"
)

// Replica starts a primary and one replica of it, and waits until they are in step. They are stopped when the test ends.
func Replica(tb testing.TB) (primary, replica *Server) {
	tb.Helper()
	servers := startGroup(tb, 2, func(ports []int) []spec {
		return []spec{
			{port: ports[0], args: replicationArgs(ports[0], 0)},
			{port: ports[1], args: replicationArgs(ports[1], ports[0])},
		}
	})
	awaitLink(tb, servers[1], servers[0].Addr)
	return servers[0], servers[1]
}

// replicationArgs make replication fast and let it work with the ports that a test sees. A primary of 0 is none.
func replicationArgs(port, primary int) []string {
	args := []string{
		"--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "1",
		"--replica-announce-ip", "127.0.0.1", "--replica-announce-port", strconv.Itoa(port),
	}
	if primary != 0 {
		args = append(args, "--replicaof", "127.0.0.1", strconv.Itoa(primary))
	}
	return args
}

// awaitLink waits until replica is in step with the primary at addr.
func awaitLink(tb testing.TB, replica *Server, primary string) {
	tb.Helper()
	await(tb, "replica "+replica.Addr, 30*time.Second, func() error { return replica.linked(primary) })
}

// linked returns nil if the server is a replica in step with the primary at addr; "" stands for any.
func (s *Server) linked(addr string) error {
	reply, err := s.at.do("INFO", "replication")
	if err != nil {
		return err
	}
	info := text(reply)
	if field(info, "master_link_status") != "up" {
		return errors.New("its link is not up")
	}
	if at := field(info, "master_host") + ":" + field(info, "master_port"); addr != "" && at != addr {
		return fmt.Errorf("it follows %s, not %s", at, addr)
	}
	return nil
}
