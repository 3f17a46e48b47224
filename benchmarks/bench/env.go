package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/redis/rueidis"

	"github.com/rueidisx/rueidisx/internal/redistest"
)

// prefix begins all keys that are written.
const prefix = "rueidisx:bench:"

// env is what the parts share: the server and a client of each kind.
type env struct {
	ctx    context.Context // of commands: one that nobody can cancel, since to watch for that has its cost
	signal context.Context // done when somebody wants the program to end
	host   *host
	opt    options
	addr   string
	server string // for people
	ours   bool   // the server ends with the program, and its data with it
	*clients
	foreign []*foreign // peers that are not written in Go
	notes   []string   // what is left out, and why
	filled  map[string]want
}

func newEnv(ctx context.Context, h *host, opt options) (*env, error) {
	e := &env{ctx: context.WithoutCancel(ctx), signal: ctx, host: h, opt: opt, filled: map[string]want{}}
	if err := e.connect(); err != nil {
		return nil, err
	}
	var err error
	if e.clients, err = newClients(e.addr); err != nil {
		return nil, err
	}
	h.Cleanup(e.clients.close)
	e.startForeign()
	return e, nil
}

func (e *env) connect() error {
	if raw := os.Getenv("REDIS_URL"); raw != "" {
		u, err := url.Parse(raw)
		if err != nil || u.Scheme != "redis" || u.User != nil || u.Host == "" {
			return errors.New("REDIS_URL: only redis://host:port, without a password, which is printed in results otherwise")
		}
		e.addr = u.Host
		if u.Port() == "" {
			e.addr += ":6379"
		}
		client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{e.addr}, DisableCache: true})
		if err != nil {
			return fmt.Errorf("REDIS_URL: %w", err)
		}
		defer client.Close()
		info, err := client.Do(e.ctx, client.B().Info().Section("server").Build()).ToString()
		if err != nil {
			return fmt.Errorf("REDIS_URL: %w", err)
		}
		e.server = version(info) + ", of REDIS_URL"
		return nil
	}
	if os.Getenv("RUEIDISX_TEST_ENGINE") == "" && os.Getenv("RUEIDISX_TEST_IMAGE") == "" && onPath("redis-server", "valkey-server") {
		if err := os.Setenv("RUEIDISX_TEST_ENGINE", "process"); err != nil { // a container's network costs
			return err
		}
	}
	s := redistest.Standalone(e.host, "--client-output-buffer-limit normal 0 0 0")
	e.addr, e.server, e.ours = s.Addr, s.String()+", a "+s.Engine+" started for this", true
	return nil
}

func onPath(names ...string) bool {
	for _, name := range names {
		if _, err := exec.LookPath(name); err == nil {
			return true
		}
	}
	return false
}

// version is the server's name and version. A Valkey has a redis_version, too: that of the Redis with which it is compatible.
func version(info string) string {
	for _, known := range []struct{ name, key string }{{"Valkey", "valkey_version:"}, {"Redis", "redis_version:"}} {
		if _, rest, found := strings.Cut(info, known.key); found {
			v, _, _ := strings.Cut(rest, "\r\n")
			return known.name + " " + v
		}
	}
	return "a server that does not tell its version"
}

// head is what is said at the top of the output and of every file: lines in the form of Go's benchmark format.
func (e *env) head() []string {
	lines := []string{
		"server: " + e.server,
		"go: " + runtime.Version(),
		"goos: " + runtime.GOOS,
		"goarch: " + runtime.GOARCH,
		fmt.Sprintf("cpu: %s, %d cores", cpu(), runtime.NumCPU()),
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			for _, path := range []string{"redis/rueidis", "redis/go-redis/v9", "gomodule/redigo", "coder/redjet"} {
				if m.Path == "github.com/"+path {
					name := strings.TrimSuffix(path[strings.Index(path, "/")+1:], "/v9")
					lines = append(lines, name+": "+m.Version)
				}
			}
		}
	}
	for _, f := range e.foreign {
		lines = append(lines, f.name+": "+f.version)
	}
	for _, n := range e.notes {
		lines = append(lines, "left-out: "+n)
	}
	return lines
}

func cpu() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	for line := range strings.Lines(string(text)) {
		if name, value, found := strings.Cut(line, ":"); found && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

// clear deletes what a part has written.
func (e *env) clear() error {
	e.filled = map[string]want{}
	if e.ours {
		return e.rueidis.Do(context.Background(), e.rueidis.B().Flushall().Build()).Error()
	}
	ctx, cursor := context.Background(), uint64(0)
	for {
		page, err := e.rueidis.Do(ctx, e.rueidis.B().Scan().Cursor(cursor).Match(prefix+"*").Count(10000).Build()).AsScanEntry()
		if err != nil {
			return err
		}
		if len(page.Elements) > 0 {
			if err := e.rueidis.Do(ctx, e.rueidis.B().Unlink().Key(page.Elements...).Build()).Error(); err != nil {
				return err
			}
		}
		if cursor = page.Cursor; cursor == 0 {
			return nil
		}
	}
}
