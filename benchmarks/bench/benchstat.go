package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// benchstatPackage is the program that makes the tables. It is no dependency of this module.
const benchstatPackage = "golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da"

// writeBenchstat writes the tables of a file of results beside it, with a column for each implementation.
func writeBenchstat(ctx context.Context, raw string) error {
	cmd := exec.CommandContext(ctx, "go", "run", benchstatPackage, "-col", "/impl", "-table", "", "-row", ".fullname", raw)
	out, err := cmd.Output()
	if err != nil {
		if exit, ok := err.(*exec.ExitError); ok {
			return fmt.Errorf("benchstat: %w: %.500s", err, exit.Stderr)
		}
		return fmt.Errorf("benchstat: %w", err)
	}
	return os.WriteFile(strings.TrimSuffix(raw, ".txt")+".benchstat.txt", out, 0o644)
}
