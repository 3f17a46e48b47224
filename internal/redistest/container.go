package redistest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/log"
)

// Where the images' servers have their working directory; the official images give its files to the user that the server runs as.
const dataDir = "/data/"

var errNoDocker = errors.New("no Docker engine answers")

// containers is the engine that runs servers in containers.
type containers struct {
	docker *testcontainers.DockerClient
	image  string
	binary string // of the server in the image
	direct bool   // the image's entrypoint is the binary itself, with arguments, and no script
}

func newContainers(ctx context.Context) (eng engine, err error) {
	setDefault("TESTCONTAINERS_RYUK_DISABLED", "true") // its image would have to be pulled; sweep does its work
	setDefault("TESTCONTAINERS_HOST_OVERRIDE", "127.0.0.1")
	log.SetDefault(quiet{})
	defer func() {
		if r := recover(); r != nil { // testcontainers panics where it finds no engine
			err = fmt.Errorf("%w: %v", errNoDocker, r)
		}
	}()
	docker, err := testcontainers.NewDockerClientWithOpts(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoDocker, err)
	}
	pingCtx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if _, err := docker.Ping(pingCtx, client.PingOptions{}); err != nil {
		return nil, fmt.Errorf("%w: %w", errNoDocker, err)
	}
	defer func() { _ = docker.Close() }() // idle connections only
	sweep(ctx, docker)
	image, err := findImage(ctx, docker)
	if err != nil {
		return nil, err
	}
	c := &containers{docker: docker, image: image}
	found, err := docker.ImageInspect(ctx, image)
	if err != nil {
		return nil, err
	}
	for _, word := range slices.Concat(found.Config.Entrypoint, found.Config.Cmd) {
		if strings.HasSuffix(word, "-server") {
			c.binary = word
			c.direct = len(found.Config.Entrypoint) > 0 && found.Config.Entrypoint[0] == word
			return c, nil
		}
	}
	return nil, fmt.Errorf("image %s names no server in its entrypoint and command", image)
}

func (e *containers) name() string { return "container" }

func (e *containers) from() string { return e.image }

// launch puts a group of several servers into the network namespace of a container that does nothing but hold it, so that each server may stop. A single server has its own.
func (e *containers) launch(ctx context.Context, group []spec) ([]node, func(), error) {
	var started []*containerNode
	remove := func() {
		ctx, cancel := context.WithTimeout(context.Background(), launchTime)
		defer cancel()
		_ = each(started, func(c *containerNode) error { return c.remove(ctx) })
	}
	var holder *containerNode
	var network string
	publish := make([]int, len(group))
	for i, s := range group {
		publish[i] = s.port
	}
	if len(group) > 1 {
		var err error
		if holder, err = e.run(ctx, request{spec: spec{port: 6379}, publish: publish}); err != nil {
			return nil, nil, err
		}
		started = append(started, holder)
		network, publish = "container:"+holder.GetContainerID(), nil
	}
	servers := make([]*containerNode, len(group))
	err := each(indices(group), func(i int) (err error) {
		servers[i], err = e.run(ctx, request{spec: group[i], publish: publish, network: network})
		return err
	})
	for _, c := range servers {
		if c != nil {
			started = append(started, c)
		}
	}
	if err == nil {
		err = each(indices(group), func(i int) error { return ready(ctx, servers[i], group[i]) })
	}
	if err != nil {
		if holder != nil && holder.dead(ctx) {
			err = &endedError{"the namespace", holder.output()}
		}
		remove()
		return nil, nil, err
	}
	nodes := make([]node, len(servers))
	for i, c := range servers {
		nodes[i] = c
	}
	return nodes, remove, nil
}

// each calls do for all items at the same time and joins the errors.
func each[T any](items []T, do func(T) error) error {
	errs := make([]error, len(items))
	var all sync.WaitGroup
	for i, item := range items {
		all.Go(func() { errs[i] = do(item) })
	}
	all.Wait()
	return errors.Join(errs...)
}

func indices[T any](items []T) []int {
	out := make([]int, len(items))
	for i := range out {
		out[i] = i
	}
	return out
}

func setDefault(name, value string) {
	if _, set := os.LookupEnv(name); !set {
		_ = os.Setenv(name, value)
	}
}

// quiet is a logger that says nothing.
type quiet struct{}

func (quiet) Printf(string, ...any) {}

// containerNode is one server in a container.
type containerNode struct {
	testcontainers.Container
	docker *testcontainers.DockerClient
}

func (c *containerNode) stop(ctx context.Context) error {
	at := time.Duration(0) // nothing is to be saved, and a graceful end waits for replicas
	return c.Stop(ctx, &at)
}

func (c *containerNode) start(ctx context.Context) error { return c.Start(ctx) }

func (c *containerNode) pause(ctx context.Context, on bool) (err error) {
	defer func() { _ = c.docker.Close() }()
	if on {
		_, err = c.docker.ContainerPause(ctx, c.GetContainerID(), client.ContainerPauseOptions{})
	} else {
		_, err = c.docker.ContainerUnpause(ctx, c.GetContainerID(), client.ContainerUnpauseOptions{})
	}
	return err
}

func (c *containerNode) dead(ctx context.Context) bool {
	state, err := c.State(ctx)
	return err == nil && !state.Running
}

func (c *containerNode) output() string {
	logs, err := c.Logs(context.Background())
	if err != nil {
		return err.Error()
	}
	defer func() { _ = logs.Close() }()
	text, _ := io.ReadAll(logs)
	return string(text[max(len(text)-2000, 0):])
}

// remove ends the container at once, paused or not, and removes its volumes.
func (c *containerNode) remove(ctx context.Context) error {
	defer func() { _ = c.docker.Close() }()
	_, err := c.docker.ContainerRemove(ctx, c.GetContainerID(), client.ContainerRemoveOptions{RemoveVolumes: true, Force: true})
	return err
}
