package redistest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
)

// processes is the engine that runs servers as local processes.
type processes struct{ path string }

func newProcesses() (engine, error) {
	for _, name := range []string{"redis-server", "valkey-server"} {
		if path, err := exec.LookPath(name); err == nil {
			return processes{path}, nil
		}
	}
	return nil, errors.New("neither redis-server nor valkey-server is in PATH")
}

func (e processes) name() string { return "process" }

func (e processes) from() string { return filepath.Base(e.path) }

func (e processes) launch(ctx context.Context, group []spec) ([]node, func(), error) {
	var started []*process
	remove := func() {
		for _, p := range started {
			_ = p.stop(context.Background())
			_ = os.RemoveAll(p.dir)
		}
	}
	var nodes []node
	for _, s := range group {
		p, err := e.prepare(s)
		if err == nil {
			started = append(started, p)
			nodes = append(nodes, p)
			err = p.start(ctx)
		}
		if err != nil {
			remove()
			return nil, nil, err
		}
	}
	for i, s := range group {
		if err := errors.Join(ready(ctx, nodes[i], s), started[i].owns(s)); err != nil {
			remove()
			return nil, nil, err
		}
	}
	return nodes, remove, nil
}

func (e processes) prepare(s spec) (*process, error) {
	dir, err := os.MkdirTemp("", "redistest-")
	if err != nil {
		return nil, err
	}
	for name, content := range s.files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			_ = os.RemoveAll(dir)
			return nil, err
		}
	}
	return &process{path: e.path, dir: dir, args: arguments(s, "--bind", "127.0.0.1")}, nil
}

// arguments puts a server's command line together.
func arguments(s spec, more ...string) []string {
	var args []string
	if s.conf != "" {
		args = append(args, s.conf)
	}
	args = append(args, commonArgs(s.port)...)
	args = append(args, more...)
	return append(args, s.args...)
}

// process is one server process.
type process struct {
	path string
	dir  string
	args []string

	mu   sync.Mutex
	cmd  *exec.Cmd
	done chan struct{} // closed when cmd has ended; nil before the first start
}

func (p *process) start(context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	log, err := os.OpenFile(filepath.Join(p.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // the process has its own
	cmd := exec.Command(p.path, p.args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = p.dir, log, log, diesWithParent()
	if err := cmd.Start(); err != nil {
		return err
	}
	done := make(chan struct{})
	p.cmd, p.done = cmd, done
	go waitForProcess(cmd, done)
	return nil
}

// waitForProcess is the goroutine that a running server needs; NoLeak knows it by name.
func waitForProcess(cmd *exec.Cmd, done chan<- struct{}) {
	_ = cmd.Wait()
	close(done)
}

// stop kills the process: there is nothing to be saved, and a graceful end waits for replicas.
func (p *process) stop(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done == nil {
		return nil
	}
	_ = p.cmd.Process.Kill()
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *process) pause(_ context.Context, on bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if on {
		return p.cmd.Process.Signal(syscall.SIGSTOP)
	}
	return p.cmd.Process.Signal(syscall.SIGCONT)
}

func (p *process) dead(context.Context) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

func (p *process) output() string {
	log, err := os.ReadFile(filepath.Join(p.dir, "log"))
	if err != nil {
		return err.Error()
	}
	return string(log[max(len(log)-2000, 0):])
}

// owns checks that it is this process which answers at the port, and not one that took the port first.
func (p *process) owns(s spec) error {
	reply, err := s.at.do("INFO", "server")
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if id := field(text(reply), "process_id"); id != strconv.Itoa(p.cmd.Process.Pid) {
		return fmt.Errorf("process %s has the port %d, not %d", id, s.port, p.cmd.Process.Pid)
	}
	return nil
}
