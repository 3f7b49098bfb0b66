package main

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed" // the driver of a peer
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/encode/formats"
	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/trie"
)

// peersDir has the driver programs for peers written in JavaScript.
const peersDir = "test/bench/peers"

// wasmBrowserTest is the peer that converts .cpuprofile to pprof. Its converter cannot be imported,
// so a copy of the module is built with an additional driver.
const wasmBrowserTest = "github.com/agnivade/wasmbrowsertest@v0.11.0"

//go:embed peers/wasmbrowsertest.go
var driver []byte

// Rounds in which the sides take turns. A slow peer only takes part in the first.
const (
	importRounds = 3
	longImport   = 8 * time.Second
)

// warmFor is how long each side converts a small file again and again.
const warmFor = 3 * time.Second

// imports compares aggregate with other tools in converting recordings: a .cpuprofile to
// pprof and to a merged flame graph, and a Chrome trace to a flame graph.
//
// There are three inputs: the largest .cpuprofile in dir, or in the folder that the
// environment variable FIXTURES names, and two synthetic ones, a .cpuprofile of about mb
// megabytes and a trace of about min(mb, 100). They are cached in the folder in
// BENCH_CACHE, if it is set. Each side converts the small file repeatedly in one process,
// and the large ones in a new process each time.
func imports(ctx context.Context, dir string, mb int, stderr io.Writer) ([]figure, error) {
	if _, err := os.Stat(filepath.Join(peersDir, "node_modules")); err != nil {
		return nil, fmt.Errorf("%w; run npm ci in %s", err, peersDir)
	}
	temporary, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(temporary) }()
	b := importBench{dir: temporary, cache: os.Getenv("BENCH_CACHE"), stderr: stderr}
	if b.cache == "" {
		b.cache = temporary
	}
	if err := os.MkdirAll(b.cache, 0o777); err != nil {
		return nil, err
	}
	if err := b.build(ctx); err != nil {
		return nil, err
	}
	if fixtures := os.Getenv("FIXTURES"); fixtures != "" {
		dir = fixtures
	}
	small, err := b.largestProfile(dir)
	if err != nil {
		return nil, err
	}
	profile, err := b.made(ctx, "record-profile.js", ".cpuprofile", mb)
	if err != nil {
		return nil, err
	}
	trace, err := b.made(ctx, "record-trace.js", ".trace.json", min(mb, 100))
	if err != nil {
		return nil, err
	}
	var all []figure
	for _, part := range []func() ([]figure, error){
		func() ([]figure, error) { return b.smallProfile(ctx, small) },
		func() ([]figure, error) { return b.largeProfile(ctx, profile) },
		func() ([]figure, error) { return b.trace(ctx, trace) },
	} {
		figures, err := part()
		if err != nil {
			return nil, err
		}
		all = append(all, figures...)
	}
	return all, nil
}

// importBench is the common state of the comparisons.
type importBench struct {
	dir    string // temporary
	cache  string // of generated inputs
	stderr io.Writer
}

// program returns the path of a built program.
func (b *importBench) program(name string) string { return filepath.Join(b.dir, name) }

// build builds aggregate, and the peer written in Go.
func (b *importBench) build(ctx context.Context) error {
	if _, err := b.output(ctx, "", "go", "build", "-o", b.program("aggregate"), "./cmd/aggregate"); err != nil {
		return err
	}
	// Outside the module, because this project must not depend on the peer.
	text, err := b.output(ctx, b.dir, "go", "mod", "download", "-json", wasmBrowserTest)
	if err != nil {
		return err
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(text, &module); err != nil {
		return fmt.Errorf("go mod download: %w", err)
	}
	sources := b.program("sources")
	if err := os.CopyFS(sources, os.DirFS(module.Dir)); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(sources, "fieldtrie_convert.go"), driver, 0o644); err != nil {
		return err
	}
	_, err = b.output(ctx, sources, "go", "build", "-tags", "wasmbrowsertest", "-o", b.program("wasmbrowsertest"), ".")
	return err
}

// output runs a command and returns its output.
func (b *importBench) output(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Stderr = b.stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(append([]string{name}, args...), " "), err)
	}
	return out, nil
}

// largestProfile returns the largest .cpuprofile in dir and below, gunzipped.
func (b *importBench) largestProfile(dir string) (string, error) {
	var largest []byte
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(strings.TrimSuffix(path, ".gz"), ".cpuprofile") {
			return err
		}
		data, err := os.ReadFile(path)
		if err == nil && strings.HasSuffix(path, ".gz") {
			var z *gzip.Reader
			if z, err = gzip.NewReader(bytes.NewReader(data)); err == nil {
				data, err = io.ReadAll(z)
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if len(data) > len(largest) {
			largest = data
		}
		return nil
	})
	if err == nil && largest == nil {
		err = fmt.Errorf("no .cpuprofile in %s", dir)
	}
	if err != nil {
		return "", err
	}
	name := b.program("small.cpuprofile")
	return name, os.WriteFile(name, largest, 0o644)
}

// made returns an input of about mb megabytes. A program in peersDir makes it unless it is
// cached.
func (b *importBench) made(ctx context.Context, program, extension string, mb int) (string, error) {
	name, err := filepath.Abs(filepath.Join(b.cache, strconv.Itoa(mb)+extension))
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(name); err == nil {
		return name, nil
	}
	fmt.Fprintf(b.stderr, "bench: making %s …\n", filepath.Base(name))
	partial := name + ".partial" // an interrupted run must not leave an incomplete input
	if _, err := b.output(ctx, peersDir, "node", program, partial, strconv.Itoa(mb)); err != nil {
		return "", err
	}
	return name, os.Rename(partial, name)
}

// command is one way to convert a file: a program and its arguments.
type command []string

// own converts file to a format with aggregate. The output is discarded: the peers for
// flame graphs do not write any.
func (b *importBench) own(file, format string, flags ...string) command {
	return append(command{b.program("aggregate"), "-f", format, "-o", os.DevNull, file}, flags...)
}

// node converts file with a program in peersDir.
func (b *importBench) node(program, file string) command {
	return command{"node", "--max-old-space-size=8192", filepath.Join(peersDir, program), file}
}

func (b *importBench) wasmBrowserTest(file string) command {
	return command{b.program("wasmbrowsertest"), "convert", file, b.program("peer.out")}
}

// cost is the cost of a process.
type cost struct{ cpu, wall, rss float64 } // s, s, MB

// costs are the costs of several rounds.
type costs []cost

func (c costs) median(of func(cost) float64) float64 {
	var v []float64
	for _, x := range c {
		v = append(v, of(x))
	}
	return median(v)
}

func (c costs) cpu() float64 { return c.median(func(c cost) float64 { return c.cpu }) }

// figures returns the figures of a program called name; rssReach is the target for its
// memory.
func (c costs) figures(name, rssReach string) []figure {
	return []figure{
		{name + "_cpu", c.cpu(), "s", ""},
		{name + "_time", c.median(func(c cost) float64 { return c.wall }), "s", ""},
		{name + "_rss", c.median(func(c cost) float64 { return c.rss }), "MB", rssReach},
	}
}

// run runs a command in its own process. It also returns the cost of a failed one.
func (b *importBench) run(ctx context.Context, args command) (cost, error) {
	forgetPeak()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	start := time.Now()
	err := cmd.Run()
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, complaints.Bytes())
	}
	c := cost{wall: time.Since(start).Seconds()}
	if cmd.ProcessState == nil {
		return c, err
	}
	c.cpu = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	if r, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		c.rss = float64(r.Maxrss) * 1024 / 1e6
		if runtime.GOOS == "darwin" { // in bytes there, elsewhere in KiB
			c.rss /= 1024
		}
	}
	return c, err
}

// forgetPeak resets the peak memory of this process to its present size. On Linux a child
// process inherits the peak.
func forgetPeak() {
	debug.FreeOSMemory()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
}

// turns runs commands in turns and returns the costs of each.
func (b *importBench) turns(ctx context.Context, commands ...command) ([]costs, error) {
	all := make([]costs, len(commands))
	for range importRounds {
		for i, c := range commands {
			if len(all[i]) > 0 && all[i][0].wall > longImport.Seconds() {
				continue
			}
			took, err := b.run(ctx, c)
			if err != nil {
				return nil, err
			}
			all[i] = append(all[i], took)
		}
	}
	return all, nil
}

// largeProfile compares conversions of a large .cpuprofile.
func (b *importBench) largeProfile(ctx context.Context, file string) ([]figure, error) {
	c, err := b.turns(ctx, b.own(file, "pprof"), b.wasmBrowserTest(file),
		b.own(file, "d3"), b.node("cpuprofile-to-flamegraph.js", file), b.node("speedscope.js", file))
	if err != nil {
		return nil, err
	}
	pprof, wasm, d3, flamegraph, speedscope := c[0], c[1], c[2], c[3], c[4]
	all := []figure{
		{"imports/cpuprofile_mb", size(file), "MB", ""},
		{"imports/cpuprofile_pprof_vs_wasmbrowsertest", wasm.cpu() / pprof.cpu(), "times less", ">= 4"},
		{"imports/cpuprofile_d3_vs_flamegraph", flamegraph.cpu() / d3.cpu(), "times less", ">= 15"},
		{"imports/cpuprofile_d3_vs_speedscope", speedscope.cpu() / d3.cpu(), "times less", ">= 6"},
	}
	all = append(all, pprof.figures("imports/cpuprofile_pprof", "<= 250")...)
	all = append(all, d3.figures("imports/cpuprofile_d3", "<= 250")...)
	all = append(all, wasm.figures("imports/cpuprofile_wasmbrowsertest", "")...)
	all = append(all, flamegraph.figures("imports/cpuprofile_flamegraph", "")...)
	return append(all, speedscope.figures("imports/cpuprofile_speedscope", "")...), nil
}

// trace compares conversions of a large Chrome trace.
func (b *importBench) trace(ctx context.Context, file string) ([]figure, error) {
	c, err := b.turns(ctx, b.own(file, "d3"), b.own(file, "d3", "--events"),
		b.node("speedscope.js", file), b.node("devtools.js", file))
	if err != nil {
		return nil, err
	}
	d3, events, speedscope, devtools := c[0], c[1], c[2], c[3]
	all := []figure{
		{"imports/trace_mb", size(file), "MB", ""},
		{"imports/trace_d3_vs_speedscope", speedscope.cpu() / d3.cpu(), "times less", ">= 5"},
		{"imports/trace_d3_vs_devtools", devtools.cpu() / d3.cpu(), "times less", ">= 5"},
		{"imports/trace_events_vs_speedscope", speedscope.cpu() / events.cpu(), "times less", ""},
		{"imports/trace_events_vs_devtools", devtools.cpu() / events.cpu(), "times less", ""},
	}
	all = append(all, d3.figures("imports/trace_d3", "<= 250")...)
	all = append(all, events.figures("imports/trace_events", "<= 250")...)
	all = append(all, speedscope.figures("imports/trace_speedscope", "")...)
	return append(all, devtools.figures("imports/trace_devtools", "")...), nil
}

// size returns the size of a file in MB.
func size(file string) float64 {
	st, err := os.Stat(file)
	if err != nil {
		return 0
	}
	return float64(st.Size()) / 1e6
}

// smallProfile compares conversions of a small .cpuprofile, in processes that have
// converted it many times.
func (b *importBench) smallProfile(ctx context.Context, file string) ([]figure, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	pprof, err := warm(ctx, data, "pprof")
	if err != nil {
		return nil, err
	}
	d3, err := warm(ctx, data, "d3")
	if err != nil {
		return nil, err
	}
	var peers [3]float64
	for i, c := range []command{
		b.wasmBrowserTest(file), b.node("cpuprofile-to-flamegraph.js", file), b.node("speedscope.js", file),
	} {
		c = append(c, strconv.FormatFloat(warmFor.Seconds(), 'f', -1, 64))
		text, err := b.output(ctx, "", c[0], c[1:]...)
		if err != nil {
			return nil, err
		}
		var out struct{ CPU float64 }
		if err := json.Unmarshal(text, &out); err != nil || !(out.CPU > 0) {
			return nil, errors.Join(fmt.Errorf("%s printed %q", strings.Join(c, " "), text), err)
		}
		peers[i] = out.CPU
	}
	return []figure{
		{"imports/small_mb", size(file), "MB", ""},
		{"imports/small_pprof_vs_wasmbrowsertest", peers[0] / pprof, "times less", ">= 4"},
		{"imports/small_d3_vs_flamegraph", peers[1] / d3, "times less", ""},
		{"imports/small_d3_vs_speedscope", peers[2] / d3, "times less", ""},
		{"imports/small_pprof_cpu", 1000 * pprof, "ms", ""},
		{"imports/small_d3_cpu", 1000 * d3, "ms", ""},
		{"imports/small_wasmbrowsertest_cpu", 1000 * peers[0], "ms", ""},
		{"imports/small_flamegraph_cpu", 1000 * peers[1], "ms", ""},
		{"imports/small_speedscope_cpu", 1000 * peers[2], "ms", ""},
	}, nil
}

// warm converts data again and again and returns the minimum CPU time of a conversion, in
// s.
func warm(ctx context.Context, data []byte, format string) (float64, error) {
	f, err := formats.Writer(format)
	if err != nil {
		return 0, err
	}
	var least float64
	for start := time.Now(); least == 0 || time.Since(start) < warmFor; {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		before := cpuTime()
		if err := convert(data, f); err != nil {
			return 0, err
		}
		if took := cpuTime() - before; least == 0 || took < least {
			least = took
		}
	}
	return least, nil
}

// convert converts a file like aggregate.
func convert(data []byte, f formats.Format) error {
	doc, err := formats.Decode(bytes.NewReader(data), encode.FileLimits())
	if err != nil {
		return err
	}
	if doc.Recording == nil {
		return errors.New("not a recording")
	}
	m := trie.NewMerger()
	for _, t := range doc.Recording.Threads {
		if best := t.Best(); best >= 0 {
			m.AddTrace(t.Streams[best].Trace, func(trie.Slice) int { return m.Group(nil) })
		}
	}
	return f.Encode(io.Discard, m.Profile(), output.Options{})
}
