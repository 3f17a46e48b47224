package wire

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rueidisx/rueidisx/internal/redistest"
)

// TestReleases runs this package's code against releases of rueidis, old ones and the newest that there is, each in a module of
// its own, so that a change upstream is seen the day it comes.
func TestReleases(t *testing.T) {
	releases := []string{"v1.0.30", "v1.0.59", "v1.0.79"}
	if newest := newestRelease(t); newest != releases[len(releases)-1] {
		releases = append(releases, newest)
	}
	for _, release := range releases {
		t.Run(release, func(t *testing.T) {
			dir := t.TempDir()
			sources, err := filepath.Glob("*.go")
			require.NoError(t, err)
			for _, file := range append(sources, filepath.Join("testdata", "guard", "guard_test.go")) {
				if strings.HasSuffix(file, "_test.go") == (filepath.Dir(file) == ".") {
					continue
				}
				b, err := os.ReadFile(file)
				require.NoError(t, err)
				require.NoError(t, os.WriteFile(filepath.Join(dir, filepath.Base(file)), b, 0o600))
			}
			goCommand(t, dir, "mod", "init", "wire")
			goCommand(t, dir, "get", "github.com/redis/rueidis@"+release)
			out := goCommand(t, dir, "test", "-mod=mod", "-count=1", "-v", ".")
			require.Contains(t, out, "--- PASS: TestGuard", out)
			require.NotContains(t, out, "SKIP")
		})
	}
	t.Log("ran against", releases)
}

// newestRelease asks the module proxy; where it does not answer, the one of go.mod counts as the newest.
func newestRelease(t *testing.T) string {
	out := goCommand(t, t.TempDir(), "list", "-m", "-f", "{{.Version}}", "github.com/redis/rueidis@latest")
	return strings.TrimSpace(out)
}

func goCommand(t *testing.T, dir string, args ...string) string {
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "RUEIDISX_GUARD_ADDR="+redistest.Shared(t).Addr, "GOFLAGS=-mod=mod", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "go %s: %s", strings.Join(args, " "), out)
	return string(out)
}
