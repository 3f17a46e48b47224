package redistest

import (
	"context"
	"crypto/tls"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"
)

// Server is one running server.
type Server struct {
	Addr    string // host:port on 127.0.0.1; it stays when the server restarts
	Version string // its own version, such as 8.0.2
	Flavor  string // "redis" or "valkey"
	Engine  string // "container" or "process"

	TLS                *tls.Config // nil without TLS
	Username, Password string      // "" for the default user without a password

	compat string   // the Redis version that it claims to be compatible with
	at     endpoint // for raw commands, as the administrator
	spec   spec
	node   node
}

// ClientOption returns the options of a client of this server alone, ready to be adjusted.
func (s *Server) ClientOption() rueidis.ClientOption {
	opt := rueidis.ClientOption{
		InitAddress: []string{s.Addr}, Username: s.Username, Password: s.Password,
		ForceSingleClient: true,
	}
	if s.TLS != nil {
		opt.TLSConfig = s.TLS.Clone()
	}
	return opt
}

// AtLeast reports whether the server has the commands of that version of Redis. Valkey counts as the Redis version that it says it is compatible with, which is 7.2.
func (s *Server) AtLeast(major, minor int) bool {
	var haveMajor, haveMinor int
	_, _ = fmt.Sscanf(s.compat, "%d.%d", &haveMajor, &haveMinor)
	return haveMajor > major || haveMajor == major && haveMinor >= minor
}

// String returns the flavor and the version, such as "Redis 8.0.2".
func (s *Server) String() string {
	return strings.ToUpper(s.Flavor[:1]) + s.Flavor[1:] + " " + s.Version
}

// Stop ends the server; what it holds in memory is lost. [Server.Start] starts it again at the same address.
func (s *Server) Stop(tb testing.TB) {
	tb.Helper()
	s.act(tb, "stop", s.node.stop)
}

// Start starts the server after [Server.Stop] and waits until it answers.
func (s *Server) Start(tb testing.TB) {
	tb.Helper()
	s.act(tb, "start", func(ctx context.Context) error {
		if err := s.node.start(ctx); err != nil {
			return err
		}
		return ready(ctx, s.node, s.spec)
	})
}

// Restart is [Server.Stop] and [Server.Start].
func (s *Server) Restart(tb testing.TB) {
	tb.Helper()
	s.Stop(tb)
	s.Start(tb)
}

// Pause freezes the server: it keeps its connections and does not answer.
func (s *Server) Pause(tb testing.TB) {
	tb.Helper()
	s.act(tb, "pause", func(ctx context.Context) error { return s.node.pause(ctx, true) })
}

// Unpause lets the server go on after [Server.Pause].
func (s *Server) Unpause(tb testing.TB) {
	tb.Helper()
	s.act(tb, "unpause", func(ctx context.Context) error { return s.node.pause(ctx, false) })
}

func (s *Server) act(tb testing.TB, what string, do func(context.Context) error) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), launchTime)
	defer cancel()
	if err := do(ctx); err != nil {
		tb.Fatalf("redistest: %s %s: %v", what, s.Addr, err)
	}
}

// NewClient returns a client of the server, which is closed when the test ends. Each adjust may change its options.
func NewClient(tb testing.TB, s *Server, adjust ...func(*rueidis.ClientOption)) rueidis.Client {
	tb.Helper()
	return newClient(tb, s.ClientOption(), adjust)
}

func newClient(tb testing.TB, opt rueidis.ClientOption, adjust []func(*rueidis.ClientOption)) rueidis.Client {
	tb.Helper()
	for _, change := range adjust {
		change(&opt)
	}
	client, err := rueidis.NewClient(opt)
	if err != nil {
		tb.Fatalf("redistest: client of %v: %v", opt.InitAddress, err)
	}
	tb.Cleanup(client.Close)
	return client
}

// servers asks the nodes what they are.
func servers(tb testing.TB, eng engine, group []spec, nodes []node) []*Server {
	tb.Helper()
	out := make([]*Server, len(nodes))
	for i, s := range group {
		info := rawDo(tb, s.at, "INFO", "server")
		server := &Server{
			Addr: s.at.addr, Engine: eng.name(), Flavor: "redis", Version: field(info, "redis_version"),
			TLS: s.at.tls, Username: s.at.username, Password: s.at.password,
			compat: field(info, "redis_version"), at: s.at, spec: s, node: nodes[i],
		}
		if version := field(info, "valkey_version"); version != "" {
			server.Flavor, server.Version = "valkey", version
		}
		out[i] = server
	}
	running.mu.Lock()
	defer running.mu.Unlock()
	running.used = fmt.Sprintf("%s, %s, %s", plural(eng.name()), eng.from(), out[0])
	return out
}

func plural(engine string) string {
	if engine == "process" {
		return "processes"
	}
	return engine + "s"
}

// await calls done until it returns nil.
func await(tb testing.TB, what string, limit time.Duration, done func() error) {
	tb.Helper()
	deadline := time.Now().Add(limit)
	for {
		err := done()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			tb.Fatalf("redistest: %s: not within %v: %v", what, limit, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
