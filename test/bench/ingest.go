package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/fieldtrie/fieldtrie/encode"
)

// clients is the number of concurrent browsers. Each waits for its response.
const clients = 64

// placeholder is the view id that each request replaces with its own.
const placeholder = "BENCH-VIEW-ID-16"

// ingest loads a daemon over loopback for some time and reports how fast it makes
// traces durable.
func ingest(ctx context.Context, traces []trace, duration time.Duration) ([]figure, error) {
	bodies, err := requestBodies(traces)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "fieldtrie-bench")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	d, err := startDaemon(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer d.kill()
	latencies, failed := load(ctx, "http://"+d.public+"/v1/traces", bodies, duration)
	if failed > 0 || len(latencies) == 0 {
		return nil, fmt.Errorf("%d requests failed and %d succeeded:\n%s", failed, len(latencies), d.log.String())
	}
	segments, err := d.metric("fieldtrie_store_segments_total")
	if err != nil {
		return nil, err
	}
	peak, err := d.peakMemory()
	if err != nil {
		return nil, err
	}
	if err := d.stop(); err != nil {
		return nil, err
	}
	disk, err := diskUse(filepath.Join(dir, "data"))
	if err != nil {
		return nil, err
	}
	n := float64(len(latencies))
	slices.Sort(latencies)
	at := func(q float64) float64 { return latencies[int(q*(n-1))].Seconds() * 1000 }
	return []figure{
		{"ingest/traces_per_s", n / duration.Seconds(), "traces/s", ""},
		{"ingest/p99_ms", at(0.99), "ms", ""},
		{"ingest/p50_ms", at(0.50), "ms", ""},
		{"ingest/segments_per_trace", segments / n, "segments", ""},
		{"ingest/disk_bytes_per_trace", disk / n, "bytes", ""},
		{"ingest/peak_rss", peak / (1 << 20), "MiB", ""},
	}, nil
}

// requestBodies returns the traces in the binary format with the placeholder.
func requestBodies(traces []trace) ([][]byte, error) {
	var out [][]byte
	for _, t := range traces {
		decoded, err := encode.DecodeTraceJSON(t.json, encode.Limits{})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.name, err)
		}
		decoded.Context.ViewID = placeholder
		body, err := encode.EncodeTrace(decoded)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.name, err)
		}
		if bytes.Count(body, []byte(placeholder)) != 1 {
			return nil, errors.New("the placeholder is not in the body once")
		}
		out = append(out, body)
	}
	return out, nil
}

// load sends traces until the time is over and returns the duration of each
// accepted request.
func load(ctx context.Context, url string, bodies [][]byte, duration time.Duration) ([]time.Duration, int64) {
	ctx, cancel := context.WithTimeout(ctx, duration)
	defer cancel()
	transport := &http.Transport{MaxIdleConnsPerHost: clients}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	var number atomic.Uint64
	var failed atomic.Int64
	var mu sync.Mutex
	var all []time.Duration
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			var own []time.Duration
			for ctx.Err() == nil {
				n := number.Add(1)
				body := bytes.Clone(bodies[n%uint64(len(bodies))])
				binary.BigEndian.PutUint64(body[bytes.Index(body, []byte(placeholder)):], n)
				start := time.Now()
				if err := post(ctx, client, url, body); err == nil {
					own = append(own, time.Since(start))
				} else if ctx.Err() == nil {
					failed.Add(1)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, own...)
		})
	}
	wg.Wait()
	return all, failed.Load()
}

func post(ctx context.Context, c *http.Client, url string, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-protobuf")
	res, err := c.Do(req)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, res.Body)
	if err = errors.Join(err, res.Body.Close()); err == nil && res.StatusCode != http.StatusAccepted {
		err = fmt.Errorf("status %s", res.Status)
	}
	return err
}

// daemon is a running ingest.
type daemon struct {
	cmd             *exec.Cmd
	log             bytes.Buffer
	public, private string
}

func startDaemon(ctx context.Context, dir string) (*daemon, error) {
	bin := filepath.Join(dir, "ingest")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", bin,
		"github.com/fieldtrie/fieldtrie/cmd/ingest").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build ingest: %w\n%s", err, out)
	}
	d := &daemon{}
	for _, addr := range []*string{&d.public, &d.private} {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		*addr = ln.Addr().String()
		_ = ln.Close()
	}
	d.cmd = exec.Command(bin, "--data", filepath.Join(dir, "data"), "--listen", d.public, "--query-listen", d.private)
	d.cmd.Stderr = &d.log
	if err := d.cmd.Start(); err != nil {
		return nil, err
	}
	for range 200 {
		if res, err := http.Get("http://" + d.private + "/readyz"); err == nil {
			_ = res.Body.Close()
			return d, nil
		}
		time.Sleep(25 * time.Millisecond)
	}
	d.kill()
	return nil, fmt.Errorf("ingest did not become ready:\n%s", d.log.String())
}

func (d *daemon) kill() {
	_ = d.cmd.Process.Kill()
	_ = d.cmd.Wait()
}

func (d *daemon) stop() error {
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return d.cmd.Wait()
}

// metric returns the value of one of the daemon's metrics.
func (d *daemon) metric(name string) (float64, error) {
	res, err := http.Get("http://" + d.private + "/metrics")
	if err != nil {
		return 0, err
	}
	defer func() { _ = res.Body.Close() }()
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		if v, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			return strconv.ParseFloat(v, 64)
		}
	}
	return 0, fmt.Errorf("metric %s is missing", name)
}

// peakMemory returns the daemon's peak resident memory, in bytes.
func (d *daemon) peakMemory() (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", d.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "VmHWM:" {
			kib, err := strconv.ParseFloat(fields[1], 64)
			return kib * 1024, err
		}
	}
	return 0, errors.New("VmHWM is missing")
}

// diskUse returns the disk space of a directory in bytes.
func diskUse(dir string) (float64, error) {
	var sum float64
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		var st syscall.Stat_t
		if err := syscall.Lstat(path, &st); err != nil {
			return err
		}
		sum += float64(st.Blocks) * 512
		return nil
	})
	return sum, err
}
