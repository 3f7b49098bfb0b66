package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/fieldtrie/fieldtrie/test/hostile"
)

// hostileFiles measures aggregate with worst-case files: for each kind one file of n calls, events
// or samples and one of 2n. Twice the file may take twice the time and memory. Rejected files
// count, too: rejecting must not take longer.
func hostileFiles(ctx context.Context, n int, stderr io.Writer) ([]figure, error) {
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	b := importBench{dir: dir, stderr: stderr}
	if _, err := b.output(ctx, "", "go", "build", "-o", b.program("aggregate"), "./cmd/aggregate"); err != nil {
		return nil, err
	}
	var all []figure
	for _, k := range hostile.Kinds() {
		var took [2]cost
		var mb [2]float64
		refused := false
		for i := range took {
			var content bytes.Buffer
			if err := hostile.WriteTo(&content, k.Write, n<<i); err != nil {
				return nil, err
			}
			file := filepath.Join(dir, k.Name)
			if err := os.WriteFile(file, content.Bytes(), 0o600); err != nil {
				return nil, err
			}
			mb[i] = size(file)
			// on Linux, the peak memory of a child process starts with the memory of its parent
			content = bytes.Buffer{}
			command := append(append(command{b.program("aggregate")}, k.Flags...), "-o", os.DevNull, file)
			took[i], err = b.run(ctx, command)
			if x, ok := errors.AsType[*exec.ExitError](err); ok && x.ExitCode() == 1 {
				refused = true
			} else if err != nil {
				return nil, err
			}
		}
		what := ""
		if refused {
			what = "refused"
		}
		name := "hostile/" + strings.ReplaceAll(k.Name, "-", "_")
		for i, suffix := range []string{"", "_twice"} {
			all = append(all,
				figure{name + suffix + "_mb", mb[i], "MB", ""},
				figure{name + suffix + "_cpu", took[i].cpu, "s", what},
				figure{name + suffix + "_rss", took[i].rss, "MB", ""})
		}
		fmt.Fprintf(stderr, "| %s | %.2f | %.2f | %.0f | %.2f | %.2f | %.0f | %s |\n", k.Name, mb[0], took[0].cpu,
			took[0].rss, mb[1], took[1].cpu, took[1].rss, what)
	}
	return all, nil
}
