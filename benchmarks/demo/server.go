package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/redis/rueidis"
)

const startTimeout = 10 * time.Second

// server is a server and the client of it.
type server struct {
	name   string // for people
	mini   bool   // it is a miniredis, which is slower to fill
	client rueidis.Client
	child  *child // nil if the server is not ours
}

// pickServer takes the server of REDIS_URL, or starts the best there is.
func pickServer(ctx context.Context, cfg config) (*server, error) {
	if cfg.miniredis {
		return startMiniredis(ctx)
	}
	if cfg.redisURL != "" {
		return connectURL(ctx, cfg.redisURL)
	}
	for _, name := range []string{"redis-server", "valkey-server"} {
		if path, err := exec.LookPath(name); err == nil {
			return startRedis(ctx, path)
		}
	}
	return startMiniredis(ctx)
}

// stop closes the client and ends the server if it is ours.
func (s *server) stop() error {
	s.client.Close()
	return s.child.stop()
}

func connectURL(ctx context.Context, rawURL string) (*server, error) {
	opt, err := rueidis.ParseURL(rawURL)
	if err != nil {
		var bad *url.Error
		if errors.As(err, &bad) {
			err = bad.Err // without the URL, which may have a password
		}
		return nil, fmt.Errorf("REDIS_URL: %w", err)
	}
	client, err := newClient(opt)
	if err != nil {
		return nil, fmt.Errorf("REDIS_URL: %w", err)
	}
	s := &server{client: client}
	s.name = fmt.Sprintf("%s at %s (REDIS_URL); the demo's keys are deleted at the end",
		s.version(ctx, "a server"), strings.Join(opt.InitAddress, ", "))
	return s, nil
}

// startRedis starts the server program at path. The port is free when it is chosen, not for sure when the server takes it,
// so a server that ends at once is tried again at another. The password tells ours from another that took the port.
func startRedis(ctx context.Context, path string) (*server, error) {
	const tries = 5
	var err error
	for range tries {
		var s *server
		if s, err = tryRedis(ctx, path); err == nil || ctx.Err() != nil {
			return s, err
		}
	}
	return nil, err
}

func tryRedis(ctx context.Context, path string) (*server, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	password := rand.Text()
	c, err := startChild(func(dir string) *exec.Cmd {
		return exec.Command(path, "--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--dir", dir,
			"--save", "", "--appendonly", "no", "--daemonize", "no", "--requirepass", password)
	})
	if err != nil {
		return nil, err
	}
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	client, err := c.connect(ctx, rueidis.ClientOption{InitAddress: []string{address}, Password: password})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", filepath.Base(path), err), c.stop())
	}
	s := &server{client: client, child: c}
	s.name = fmt.Sprintf("%s at %s, started by the demo", s.version(ctx, filepath.Base(path)), address)
	return s, nil
}

func freePort() (int, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer ln.Close()
	return ln.Addr().(*net.TCPAddr).Port, nil
}

// startMiniredis starts this program once more, as a miniredis: in a process of its own, so that what is measured here is the
// client alone.
func startMiniredis(ctx context.Context) (*server, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c, err := startChild(func(string) *exec.Cmd {
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), childVariable+"=miniredis")
		return cmd
	})
	if err != nil {
		return nil, err
	}
	address, err := c.firstLine(ctx)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("miniredis: %w", err), c.stop())
	}
	client, err := c.connect(ctx, rueidis.ClientOption{InitAddress: []string{address}})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("miniredis: %w", err), c.stop())
	}
	return &server{name: fmt.Sprintf("miniredis at %s, started by the demo", address), mini: true, client: client, child: c}, nil
}

// newClient makes the client of all servers. The demo caches nothing, and not every server can track keys for a cache.
func newClient(opt rueidis.ClientOption) (rueidis.Client, error) {
	opt.DisableCache = true
	opt.ClientName = "rueidisx-demo"
	return rueidis.NewClient(opt)
}

// version returns the server's name and version, or other if it does not tell.
func (s *server) version(ctx context.Context, other string) string {
	info, err := s.client.Do(ctx, s.client.B().Info().Section("server").Build()).ToString()
	if err != nil {
		return other
	}
	// A Valkey has a redis_version, too: that of the Redis with which it is compatible.
	for _, known := range []struct{ name, key string }{{"Valkey", "valkey_version:"}, {"Redis", "redis_version:"}} {
		if _, rest, found := strings.Cut(info, known.key); found {
			version, _, _ := strings.Cut(rest, "\r\n")
			return known.name + " " + version
		}
	}
	return other
}
