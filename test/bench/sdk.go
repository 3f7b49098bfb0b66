package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strconv"
)

// browserScript measures the SDK in Chromium: its size, its encoding time, the share of traces that
// arrive when sent while a page closes, and the cost to visitors, with half as many page views of
// each kind. Programs in sdk/ measure this and print one figure per line.
func browserScript(ctx context.Context, dir string, closes int, stderr io.Writer) ([]figure, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	var all []figure
	for _, args := range [][]string{
		{"bench/figures.js", dir},
		{"test/closes.js", strconv.Itoa(closes)},
		{"test/endings.js", strconv.Itoa(max(closes/7, 3))},
		{"bench/visits.js", strconv.Itoa(max(closes/2, 3))},
		{"bench/busy.js", strconv.Itoa(max(closes/25, 2))},
	} {
		figures, err := nodeFigures(ctx, "sdk", stderr, args...)
		if err != nil {
			return nil, err
		}
		all = append(all, figures...)
	}
	return all, nil
}

// nodeFigures runs a program of Node.js in a folder and reads its figures.
func nodeFigures(ctx context.Context, folder string, stderr io.Writer, args ...string) ([]figure, error) {
	cmd := exec.CommandContext(ctx, "node", args...)
	cmd.Dir = folder
	cmd.Stderr = stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("node %s: %w", args[0], err)
	}
	figures, err := readFigures(out)
	if err != nil {
		return nil, fmt.Errorf("node %s: %w", args[0], err)
	}
	return figures, nil
}

// readFigures reads figures in JSON, one per line.
func readFigures(out []byte) (all []figure, err error) {
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		var f figure
		if err := json.Unmarshal(lines.Bytes(), &f); err != nil {
			return nil, fmt.Errorf("%q: %w", lines.Text(), err)
		}
		all = append(all, f)
	}
	if len(all) == 0 {
		return nil, errors.New("no figures")
	}
	return all, nil
}
