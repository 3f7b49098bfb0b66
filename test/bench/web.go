package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
)

// dashboard measures the dashboard in Chromium, with the daemon in bin and the traces of
// a folder: its size, the speed of drawing and interaction of flame graphs compared with
// speedscope and d3-flame-graph, long tasks, and memory.
func dashboard(ctx context.Context, dir string, rounds int, stderr io.Writer) ([]figure, error) {
	if _, err := os.Stat("web/.tests/figures.js"); err != nil {
		return nil, fmt.Errorf("%w: build it with make bench, or with node build.js --tests in web", err)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	return nodeFigures(ctx, "web", stderr, ".tests/figures.js", dir, strconv.Itoa(rounds))
}
