// Command bench measures Fieldtrie and its peers, in one run, on real traces.
//
//	go run ./test/bench [--json FILE] [--only PART] [DIR]
//
// DIR has traces in the browser API's JSON, one per file, gzipped or not; the default is
// testdata/traces. It prints a table and writes the figures as JSON. Each figure is the
// median of several rounds in which both sides take turns, so that a busy machine slows
// both.
package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/spf13/pflag"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// figure is one measured number.
type figure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	Reach string  `json:"reach"` // the target; "" if the figure is only reported
}

// trace is one input file.
type trace struct {
	name string
	json []byte
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	fs := pflag.NewFlagSet("bench", pflag.ContinueOnError)
	out := fs.String("json", "bench.json", "`FILE` for the figures")
	rounds := fs.Int("rounds", 7, "rounds of each timed figure")
	closes := fs.Int("closes", 200, "tabs to close for the share of traces that arrive")
	importMB := fs.Int("import-mb", 120, "size of the synthetic recordings to import, in MB")
	only := fs.String("only", "",
		"measure only this `PART`: size, merge, json, disk, rollups, ingest, sdk, imports, compare, watch, "+
			"watchcost, cause, hostile, names, web or cluster")
	builds := fs.StringArray("builds", nil,
		"`DIR` with production builds and their true functions, see docs/benchmarks.md; repeatable")
	diskTraces := fs.Int("disk-traces", 100_000, "number of traces stored to measure their disk space")
	rollupTraces := fs.Int("rollup-traces", 1_000_000, "number of traces in the larger queried day")
	rollupDays := fs.Int("rollup-days", 30, "days of the queried month")
	rollupStacks := fs.Int("rollup-stacks", 20_000, "number of stacks in the queried month")
	compareRuns := fs.Int("compare-runs", 500, "simulated comparisons for each figure")
	watchSeeds := fs.Int("watch-seeds", 10, "simulated months of each page for each figure")
	watchPages := fs.Int("watch-pages", 500,
		"pages of a site, to measure the cost of detecting its changes")
	causeSeeds := fs.Int("cause-seeds", 100, "changes with each cause")
	hostileSize := fs.Int("hostile-size", 50_000,
		"calls, events or samples of the smaller of two hostile files of each kind")
	namesTraces := fs.Int("names-traces", 50_000, "number of traces in the day of named responses")
	webRounds := fs.Int("web-rounds", 5, "how often flame graphs are drawn; pages are changed 20 times as often")
	clusterTraces := fs.Int("cluster-traces", 100_000, "how many traces the larger day in a bucket has that is queried")
	ingestFor := fs.Duration("ingest-time", 10*time.Second, "how long the daemon is loaded")
	judge := fs.Bool("judge", false, "fail if a figure misses its target")
	if err := fs.Parse(args); errors.Is(err, pflag.ErrHelp) {
		return nil
	} else if err != nil {
		return err
	}
	dir := "testdata/traces"
	if fs.NArg() > 0 {
		dir = fs.Arg(0)
	}
	traces, err := readTraces(dir)
	if err != nil {
		return err
	}
	fmt.Fprintf(stderr, "bench: %d traces of %s\n", len(traces), dir)
	var all []figure
	for _, part := range []struct {
		name string
		run  func() ([]figure, error)
	}{
		{"size", func() ([]figure, error) { return sizes(traces) }},
		{"merge", func() ([]figure, error) { return merges(ctx, traces, *rounds) }},
		{"json", func() ([]figure, error) { return decodes(ctx, traces, *rounds) }},
		{"disk", func() ([]figure, error) { return disk(ctx, traces, *diskTraces) }},
		{"rollups", func() ([]figure, error) {
			return rollups(ctx, traces, rollupSizes{*rollupTraces, *rollupDays, *rollupStacks}, *rounds, stderr)
		}},
		{"ingest", func() ([]figure, error) { return ingest(ctx, traces, *ingestFor) }},
		{"sdk", func() ([]figure, error) { return browserScript(ctx, dir, *closes, stderr) }},
		{"imports", func() ([]figure, error) { return imports(ctx, "testdata/recordings", *importMB, stderr) }},
		{"compare", func() ([]figure, error) { return comparisons(traces, *compareRuns, stderr) }},
		{"watch", func() ([]figure, error) { return watching(traces, *watchSeeds, stderr) }},
		{"watchcost", func() ([]figure, error) { return watchCost(ctx, *watchPages, stderr) }},
		{"cause", func() ([]figure, error) { return causing(*causeSeeds, stderr) }},
		{"hostile", func() ([]figure, error) { return hostileFiles(ctx, *hostileSize, stderr) }},
		{"names", func() ([]figure, error) { return names(ctx, traces, *builds, *namesTraces, *rounds, stderr) }},
		{"cluster", func() ([]figure, error) { return sharedBucket(ctx, traces, *clusterTraces, *rounds, stderr) }},
		{"web", func() ([]figure, error) { return dashboard(ctx, dir, *webRounds, stderr) }},
	} {
		if *only != "" && *only != part.name {
			continue
		}
		fmt.Fprintf(stderr, "bench: %s …\n", part.name)
		figures, err := part.run()
		if err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
		all = append(all, figures...)
	}
	if err := printTable(stdout, all); err != nil {
		return err
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false) // people read "<=", too
	e.SetIndent("", "  ")
	if err := e.Encode(all); err != nil {
		return err
	}
	if err := os.WriteFile(*out, text.Bytes(), 0o644); err != nil {
		return err
	}
	if *judge {
		return judged(all)
	}
	return nil
}

// judged returns an error that names the figures that miss their target.
func judged(all []figure) error {
	var missed []string
	for _, f := range all {
		ok, err := f.reached()
		if err != nil {
			return err
		}
		if !ok {
			missed = append(missed, fmt.Sprintf("%s is %.4g %s, not %s", f.Name, f.Value, f.Unit, f.Reach))
		}
	}
	if len(missed) > 0 {
		return fmt.Errorf("%d figures miss their targets:\n  %s", len(missed), strings.Join(missed, "\n  "))
	}
	return nil
}

// reached reports whether a figure reaches its target. A figure without a target does.
func (f figure) reached() (bool, error) {
	sign, text, _ := strings.Cut(f.Reach, " ")
	if sign != "<=" && sign != ">=" {
		return true, nil
	}
	limit, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	if err != nil {
		return false, fmt.Errorf("target of %s, %q: %w", f.Name, f.Reach, err)
	}
	return f.Value <= limit && sign == "<=" || f.Value >= limit && sign == ">=", nil
}

func printTable(w io.Writer, figures []figure) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "NAME\tVALUE\tUNIT\tREACH")
	for _, f := range figures {
		fmt.Fprintf(t, "%s\t%.4g\t%s\t%s\n", f.Name, f.Value, f.Unit, f.Reach)
	}
	return t.Flush()
}

// readTraces reads the traces of a folder.
func readTraces(dir string) ([]trace, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []trace
	for _, e := range entries {
		if !strings.HasSuffix(strings.TrimSuffix(e.Name(), ".gz"), ".json") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		if strings.HasSuffix(e.Name(), ".gz") {
			z, err := gzip.NewReader(bytes.NewReader(data))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", e.Name(), err)
			}
			if data, err = io.ReadAll(z); err != nil {
				return nil, fmt.Errorf("%s: %w", e.Name(), err)
			}
		}
		out = append(out, trace{e.Name(), data})
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no *.json or *.json.gz in %s", dir)
	}
	return out, nil
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	if len(v)%2 == 0 {
		return (v[len(v)/2-1] + v[len(v)/2]) / 2
	}
	return v[len(v)/2]
}
