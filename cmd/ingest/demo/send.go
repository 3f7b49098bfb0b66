package demo

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strings"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// keyBrowser is the label that the daemon derives from the User-Agent header.
const keyBrowser = "browser"

const (
	share         = 0.1 // share of page views that are profiled, among browsers with a profiler
	otherBrowsers = 0.4 // page views in browsers without a profiler, per page view in a browser with one
)

// otherViews is the number of unprofiled page views per profiled one, in browsers with a profiler.
// One of them reports for all.
const otherViews = 1/share - 1

// send sends page views to the collector: traces of profiled page views, and the reports of all.
func (f *filling) send(views []view) error {
	var body bytes.Buffer
	count := map[string]int{}
	for i := range views {
		v := &views[i]
		of := f.pool.pages[v.page]
		r := newReplay(f.pool, of[v.pick%len(of)], v, f.random)
		if v.profiled {
			if err := f.trace(&body, v, r); err != nil {
				return err
			}
			count[v.page]++
		}
		if err := f.report(v, r); err != nil {
			return err
		}
	}
	if body.Len() > 0 {
		if err := f.post("v1/traces", "application/x-protobuf", "", body.Bytes()); err != nil {
			return err
		}
	}
	for page, profiled := range count {
		for outcome, each := range map[string]float64{"unsampled": otherViews, "unsupported": otherBrowsers / share} {
			weight := int(math.Round(each * float64(profiled)))
			if err := f.view("", map[string]any{"page": page, "outcome": outcome, "weight": weight}); err != nil {
				return err
			}
		}
	}
	return nil
}

// trace writes the traces of a page view as the browser script sends them.
func (f *filling) trace(to *bytes.Buffer, v *view, r *replay) error {
	var id [16]byte
	binary.LittleEndian.PutUint64(id[:], f.random.Uint64())
	binary.LittleEndian.PutUint64(id[8:], f.random.Uint64())
	labels := trie.MakeLabels(rollup.KeyDevice, v.device.name, rollup.KeyConnection, v.connection,
		keyBrowser, encode.BrowserOf(v.agent))
	phase := f.random.Int64N(1 << 30)
	for i := range r.of.traces {
		t := r.trace(i, v.stretch, phase)
		t.Context.ViewID = string(id[:])
		last := int64(0)
		if n := len(t.Samples); n > 0 {
			last = t.Samples[n-1].Time
		}
		t.Context.TimeOrigin = v.at.UnixMicro() - last
		t.Context.SamplingShare = share
		t.Context.Labels = withLabels(t.Context.Labels, labels)
		data, err := encode.EncodeTrace(t)
		if err != nil {
			return err
		}
		to.Write(binary.AppendUvarint(nil, uint64(len(data))))
		to.Write(data)
	}
	return nil
}

// report sends the Web Vitals of a page view to the collector.
func (f *filling) report(v *view, r *replay) error {
	arm, weight := rollup.ArmProfiled, 1
	if !v.profiled {
		arm, weight = rollup.ArmNone, int(math.Round(otherViews))
	}
	vitals := r.vitals()
	return f.view(v.agent, map[string]any{
		"page": v.page, "weight": weight, "profiled": v.profiled, "release": v.release, "environment": "production",
		"labels": map[string]string{
			rollup.KeyDevice: v.device.name, rollup.KeyConnection: v.connection, rollup.KeyArm: arm,
		},
		"vitals": vitals.values, "elements": vitals.elements, "parts": vitals.parts,
	})
}

// view sends the report of a page view to the collector.
func (f *filling) view(agent string, report map[string]any) error {
	data, err := json.Marshal(report)
	if err != nil {
		return err
	}
	return f.post("v1/views", "application/json", agent, data)
}

// post calls the collector with a request.
func (f *filling) post(path, media, agent string, body []byte) error {
	r, err := http.NewRequest(http.MethodPost, profiler+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", media)
	r.Header.Set("User-Agent", agent)
	r.RemoteAddr = "127.0.0.1:1"
	w := answer{header: http.Header{}}
	f.collector.ServeHTTP(&w, r)
	if w.status >= 300 || strings.Contains(w.body.String(), `"rejected":[{`) {
		return fmt.Errorf("the collector responded to %s with %d: %.300s", path, w.status, w.body.String())
	}
	return nil
}

// answer records the response of a handler.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements [http.ResponseWriter].
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements [http.ResponseWriter].
func (a *answer) WriteHeader(status int) { a.status = status }

// Write implements [io.Writer].
func (a *answer) Write(p []byte) (int, error) { return a.body.Write(p) }
