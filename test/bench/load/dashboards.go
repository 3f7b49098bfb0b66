package main

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/fieldtrie/fieldtrie/test/loadgen"
)

// dashboards are simulated dashboards that are open during the load. Each shows one
// page, and every tenth all pages, and polls the last day: with the requests of a
// script through /api/v1, and with those of Grafana for this project's dashboard.
type dashboards struct {
	count int
	every time.Duration
}

// Every overview-th dashboard shows all pages, the others one page each.
const overview = 10

// polled is the statistics of the dashboards' requests.
type polled struct {
	Count     int                  `json:"count"`
	LastError string               `json:"last_error,omitempty"`
	All       responses            `json:"all"`
	Endpoints map[string]responses `json:"endpoints"`
}

// responses are the statistics of one endpoint, or of all.
type responses struct {
	Answers   uint64             `json:"answers"`
	Failed    uint64             `json:"failed"`
	Bytes     float64            `json:"bytes_per_answer"` // compressed
	LatencyMS map[string]float64 `json:"latency_ms"`
}

// start begins to poll, until ctx is done. The returned function waits for the end.
func (d dashboards) start(ctx context.Context, addr string, pages int, zipf float64) func() *polled {
	if d.count == 0 {
		return func() *polled { return nil }
	}
	t := &responseTimes{byEndpoint: map[string]*responseTime{}}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: d.count, DisableCompression: true}}
	var everyone sync.WaitGroup
	for i := range d.count {
		rnd := rand.New(rand.NewPCG(uint64(i), 1))
		page := loadgen.PageName(int(rand.NewZipf(rnd, zipf, 1, uint64(pages-1)).Uint64()))
		if i%overview == overview-1 {
			page = ""
		}
		everyone.Go(func() { d.poll(ctx, client, addr, page, t) })
	}
	return func() *polled {
		everyone.Wait()
		p := t.report()
		p.Count = d.count
		return p
	}
}

// poll requests a page until ctx is done.
func (d dashboards) poll(ctx context.Context, client *http.Client, addr, page string, t *responseTimes) {
	wait := time.NewTimer(rand.N(d.every)) // dashboards do not start simultaneously
	defer wait.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-wait.C:
		}
		wait.Reset(d.every)
		for _, q := range append(apiRequests(addr, page), grafanaRequests(addr, page, time.Now())...) {
			began := time.Now()
			n, err := q.ask(ctx, client)
			if ctx.Err() != nil {
				return
			}
			t.add(q.endpoint, time.Since(began), n, err)
		}
	}
}

// responseTimes collects statistics of requests. It is safe for concurrent use.
type responseTimes struct {
	mu         sync.Mutex
	all        responseTime
	byEndpoint map[string]*responseTime
	lastError  string
}

type responseTime struct {
	latency       loadgen.Histogram
	bytes, failed uint64
}

// add records the length and duration of a response, or an error.
func (t *responseTimes) add(endpoint string, took time.Duration, bytes int64, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	one := t.byEndpoint[endpoint]
	if one == nil {
		one = &responseTime{}
		t.byEndpoint[endpoint] = one
	}
	if err != nil {
		t.lastError = err.Error()
	}
	for _, x := range []*responseTime{one, &t.all} {
		if err != nil {
			x.failed++
			continue
		}
		x.latency.Add(took)
		x.bytes += uint64(bytes)
	}
}

func (t *responseTimes) report() *polled {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := &polled{LastError: t.lastError, All: t.all.report(), Endpoints: map[string]responses{}}
	for name, one := range t.byEndpoint {
		p.Endpoints[name] = one.report()
	}
	return p
}

func (x *responseTime) report() responses {
	a := responses{Answers: x.latency.Count(), Failed: x.failed,
		LatencyMS: map[string]float64{"max": milliseconds(x.latency.Max())}}
	for _, q := range percentiles {
		a.LatencyMS[q.name] = milliseconds(x.latency.Percentile(q.share))
	}
	a.Bytes = round(float64(x.bytes) / float64(max(a.Answers, 1)))
	return a
}

// print writes p as rows of a table.
func (p *polled) print(row func(name, format string, args ...any)) {
	line := func(name, what string, a responses) {
		l := a.LatencyMS
		row(name, "%s: %d answers of %.0f bytes: p50 %.1f ms, p90 %.1f, p99 %.1f, max %.1f; %d failed", what,
			a.Answers, a.Bytes,
			l["p50"], l["p90"], l["p99"], l["max"], a.Failed)
	}
	line("dashboards", fmt.Sprint(p.Count), p.All)
	for _, name := range slices.Sorted(maps.Keys(p.Endpoints)) {
		line("", name, p.Endpoints[name])
	}
	if p.LastError != "" {
		row("", "%s", p.LastError)
	}
}
