package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// rolling is the cost of rollups in a daemon.
type rolling struct {
	share    float64 // of its processor time
	perTrace float64 // ms of processor time for each trace that was rolled up
}

// readRolling reads it from a daemon's private address.
func readRolling(ctx context.Context, addr string) (rolling, error) {
	values, err := readMetrics(ctx, addr)
	if err != nil {
		return rolling{}, fmt.Errorf("read metrics: %w", err)
	}
	var r rolling
	seconds := values["fieldtrie_store_roll_cpu_seconds_total"]
	if all := values["process_cpu_seconds_total"]; all > 0 {
		r.share = round(seconds / all)
	}
	if traces := values["fieldtrie_store_rolled_up_traces_total"]; traces > 0 {
		r.perTrace = round(1000 * seconds / traces)
	}
	return r, nil
}

// readMetrics returns the metrics without labels.
func readMetrics(ctx context.Context, addr string) (map[string]float64, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	values := map[string]float64{}
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		name, text, _ := strings.Cut(lines.Text(), " ")
		if v, err := strconv.ParseFloat(text, 64); err == nil {
			values[name] = v
		}
	}
	return values, lines.Err()
}
