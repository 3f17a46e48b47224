package redistest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
)

const (
	officialImage = "redis:8"            // the default
	builtImage    = "rueidisx/redis:8.0" // what stands in for it where there is no registry
	buildPrefix   = "rueidisx/"          // images that testdata/images/build knows
	pullTime      = 90 * time.Second
)

// findImage returns the name of an image that is there, after making or pulling it if need be.
func findImage(ctx context.Context, docker *testcontainers.DockerClient) (string, error) {
	if want := os.Getenv("RUEIDISX_TEST_IMAGE"); want != "" {
		switch {
		case isLocal(ctx, docker, want):
			return want, nil
		case strings.HasPrefix(want, buildPrefix):
			return want, build(ctx, want)
		default:
			return want, pull(ctx, docker, want)
		}
	}
	for _, image := range []string{officialImage, builtImage} {
		if isLocal(ctx, docker, image) {
			return image, nil
		}
	}
	berr := build(ctx, builtImage)
	if berr == nil {
		return builtImage, nil
	}
	if err := pull(ctx, docker, officialImage); err != nil {
		return "", errors.Join(berr, err)
	}
	return officialImage, nil
}

func isLocal(ctx context.Context, docker *testcontainers.DockerClient, image string) bool {
	_, err := docker.ImageInspect(ctx, image)
	return err == nil
}

// build runs the script that makes images from Debian's packages. It does nothing for an image that is there, and waits for its like in another test binary.
func build(ctx context.Context, image string) error {
	_, file, _, _ := runtime.Caller(0)
	script := filepath.Join(filepath.Dir(file), "..", "..", "testdata", "images", "build")
	out, err := exec.CommandContext(ctx, script, image).CombinedOutput()
	if err != nil {
		return fmt.Errorf("image %s could not be made: %w: %s", image, err, strings.TrimSpace(string(out)))
	}
	return nil
}

func pull(ctx context.Context, docker *testcontainers.DockerClient, image string) error {
	ctx, cancel := context.WithTimeout(ctx, pullTime)
	defer cancel()
	progress, err := docker.ImagePull(ctx, image, client.ImagePullOptions{})
	if err == nil {
		_, err = io.Copy(io.Discard, progress)
		_ = progress.Close()
	}
	if err == nil && !isLocal(ctx, docker, image) {
		err = errors.New("it is not there after the pull")
	}
	if err != nil {
		return fmt.Errorf("image %s is neither here nor can it be pulled: %w", image, err)
	}
	return nil
}
