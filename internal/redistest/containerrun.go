package redistest

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
)

// ownerLabel marks our containers with the test binary that started them, as host/pid.
const ownerLabel = "rueidisx.redistest.owner"

// request is one container to be run.
type request struct {
	spec
	publish []int  // ports, the same inside and outside
	network string // its network mode, "" for a network of its own
}

func (e *containers) run(ctx context.Context, r request) (*containerNode, error) {
	cmd := arguments(r.spec)
	var entrypoint []string
	if e.direct {
		entrypoint = []string{e.binary}
	} else {
		cmd = append([]string{e.binary}, cmd...) // the script wants to see the command
	}
	req := testcontainers.ContainerRequest{
		Image: e.image, Entrypoint: entrypoint, Cmd: cmd,
		Labels: map[string]string{ownerLabel: owner()},
	}
	for name, content := range r.files {
		req.Files = append(req.Files, testcontainers.ContainerFile{
			Reader: strings.NewReader(content), ContainerFilePath: dataDir + name, FileMode: 0o644,
		})
	}
	bindings := network.PortMap{}
	for _, port := range r.publish {
		exposed := strconv.Itoa(port) + "/tcp"
		req.ExposedPorts = append(req.ExposedPorts, exposed)
		bindings[network.MustParsePort(exposed)] = []network.PortBinding{
			{HostIP: netip.AddrFrom4([4]byte{127, 0, 0, 1}), HostPort: strconv.Itoa(port)},
		}
	}
	req.HostConfigModifier = func(host *container.HostConfig) {
		host.PortBindings = bindings
		host.NetworkMode = container.NetworkMode(r.network)
	}
	c, err := testcontainers.GenericContainer(ctx, testcontainers.GenericContainerRequest{
		ContainerRequest: req, Started: true, Logger: quiet{},
	})
	if err != nil {
		_ = testcontainers.TerminateContainer(c) // a container that was made and did not start
		return nil, err
	}
	return &containerNode{Container: c, docker: e.docker}, nil
}

func owner() string {
	host, _ := os.Hostname()
	return fmt.Sprintf("%s/%d", host, os.Getpid())
}

// sweep removes what test binaries of this machine left that were killed before they could tidy up.
func sweep(ctx context.Context, docker *testcontainers.DockerClient) {
	list, err := docker.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: client.Filters{}.Add("label", ownerLabel)})
	if err != nil {
		return
	}
	host, _ := os.Hostname()
	for _, c := range list.Items {
		pid, err := strconv.Atoi(strings.TrimPrefix(c.Labels[ownerLabel], host+"/"))
		if err == nil && syscall.Kill(pid, 0) == syscall.ESRCH {
			_, _ = docker.ContainerRemove(ctx, c.ID, client.ContainerRemoveOptions{RemoveVolumes: true, Force: true})
		}
	}
}
