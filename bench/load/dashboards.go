package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/loadgen"
)

// dashboards are people who look while the load runs: each at one page, whose time
// series and heaviest functions of the last day it asks for again and again.
type dashboards struct {
	count int
	every time.Duration
}

// polled is how they were answered.
type polled struct {
	Count     int                `json:"count"`
	Answers   uint64             `json:"answers"`
	Failed    uint64             `json:"failed"`
	LastError string             `json:"last_error,omitempty"`
	Bytes     float64            `json:"bytes_per_answer"` // compressed
	LatencyMS map[string]float64 `json:"latency_ms"`
}

// start begins to poll, until ctx is done. The function that it returns waits for the end.
func (d dashboards) start(ctx context.Context, addr string, pages int, zipf float64) func() *polled {
	if d.count == 0 {
		return func() *polled { return nil }
	}
	var latency loadgen.Histogram
	var bytes, failed atomic.Uint64
	var last atomic.Value
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: d.count, DisableCompression: true}}
	var all sync.WaitGroup
	for i := range d.count {
		rnd := rand.New(rand.NewPCG(uint64(i), 1))
		page := loadgen.PageName(int(rand.NewZipf(rnd, zipf, 1, uint64(pages-1)).Uint64()))
		all.Go(func() {
			wait := time.NewTimer(rand.N(d.every)) // they do not begin together
			defer wait.Stop()
			for {
				select {
				case <-ctx.Done():
					return
				case <-wait.C:
				}
				wait.Reset(d.every)
				for _, question := range []string{"series?step=1h&", "top?limit=50&"} {
					began := time.Now()
					n, err := ask(ctx, client, "http://"+addr+"/api/v1/"+question+url.Values{"page": {page}, "since": {"24h"}}.Encode())
					switch {
					case ctx.Err() != nil:
						return
					case err != nil:
						failed.Add(1)
						last.Store(err.Error())
					default:
						latency.Add(time.Since(began))
						bytes.Add(uint64(n))
					}
				}
			}
		})
	}
	return func() *polled {
		all.Wait()
		p := &polled{Count: d.count, Answers: latency.Count(), Failed: failed.Load(), LatencyMS: map[string]float64{"max": milliseconds(latency.Max())}}
		for _, q := range percentiles {
			p.LatencyMS[q.name] = milliseconds(latency.Percentile(q.share))
		}
		p.LastError, _ = last.Load().(string)
		p.Bytes = round(float64(bytes.Load()) / float64(max(p.Answers, 1)))
		return p
	}
}

// ask reads an answer and returns its length.
func ask(ctx context.Context, client *http.Client, target string) (int64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Accept-Encoding", "zstd, gzip")
	res, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	defer func() { _ = res.Body.Close() }()
	n, err := io.Copy(io.Discard, res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", target, res.Status)
	}
	return n, err
}
