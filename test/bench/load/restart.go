package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// restarted is the cost of the first queries after a load: by a daemon that was stopped cleanly and
// restarted, and by a program that reads the stored data directly.
type restarted struct {
	Stop          float64 `json:"stop_s"`           // from the signal to the exit
	Ready         float64 `json:"ready_s"`          // from the start to the first response
	First         float64 `json:"first_query_s"`    // of all pages
	Again         float64 `json:"second_query_s"`   // the same
	Cold          float64 `json:"cold_aggregate_s"` // of all pages, by aggregate without a daemon
	ColdPeakBytes int64   `json:"cold_aggregate_rss"`
}

// allPages is the query whose first response is measured.
const allPages = "/api/v1/tree?since=24h&max_nodes=20000"

// restart stops the daemon, starts it again, queries all pages, stops it, and runs the same query
// with aggregate.
func (c *config) restart(ctx context.Context, x *cluster, stderr io.Writer) (r restarted, err error) {
	d := x.nodes[0]
	fmt.Fprintln(stderr, "load: starting the daemon again …")
	timed := func(f func() error) float64 {
		begin := time.Now()
		if err == nil {
			err = f()
		}
		return round(time.Since(begin).Seconds())
	}
	ask := func() error { return get(ctx, "http://"+x.private[0]+allPages) }
	r.Stop = timed(d.stop)
	r.Ready = timed(d.startReady)
	r.First = timed(ask)
	r.Again = timed(ask)
	if err != nil {
		return r, err
	}
	if err := d.stop(); err != nil {
		return r, err
	}
	dir, err := os.MkdirTemp("", "fieldtrie-load")
	if err != nil {
		return r, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	program := filepath.Join(dir, "aggregate")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", program,
		"github.com/fieldtrie/fieldtrie/cmd/aggregate").CombinedOutput(); err != nil {
		return r, fmt.Errorf("build aggregate: %w\n%s", err, out)
	}
	aggregate := exec.CommandContext(ctx, program, "--data", x.data, "--since", "24h", "--format", "top")
	aggregate.Env = append(os.Environ(), d.env...)
	r.Cold = timed(aggregate.Run)
	if err != nil {
		return r, fmt.Errorf("aggregate: %w", err)
	}
	if usage, ok := aggregate.ProcessState.SysUsage().(*syscall.Rusage); ok {
		r.ColdPeakBytes = usage.Maxrss << 10
	}
	return r, d.startReady() // it is stopped at the end of the run
}

// get sends a query and reads the response, which covers everything acknowledged before.
func get(ctx context.Context, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Cache-Control", "no-cache")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return fmt.Errorf("read %s: %w", url, err)
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, res.Status)
	}
	return nil
}
