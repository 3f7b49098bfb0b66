package collect

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// view is a report of the SDK about a page view: why there is no profile, its Web Vitals, or both.
// Additional fields are ignored.
type view struct {
	Page        string             `json:"page"`
	Outcome     string             `json:"outcome"`
	Weight      int                `json:"weight"` // page views that it stands for
	Release     string             `json:"release"`
	Environment string             `json:"environment"`
	Profiled    bool               `json:"profiled"` // it sends a profile
	Labels      map[string]any     `json:"labels"`
	Vitals      map[string]float64 `json:"vitals"` // ms, except for the score of cls
	// Elements are the elements of Web Vitals, see [rollup.KeyElement]. Parts are their parts in
	// ms, see [rollup.VitalKind].
	Elements map[string]string    `json:"elements"`
	Parts    map[string][]float64 `json:"parts"`
}

// outcomes are the reasons why a page view has no profile.
var outcomes = []string{
	"unsupported", // the browser lacks the API
	"header",      // the response of the page lacked the header Document-Policy
	"unsampled",   // not selected by the sampling rate
	"quota",       // the browser runs too many profilers
	"refused",     // the visitor enabled Global Privacy Control
	"stopped",     // the server set the rate to 0, see SamplingRules
	"cost",        // profiling exceeded its cost limit
	"error",
}

// Limits of reports.
const (
	maxView   = 4 << 10 // bytes per report, on average
	maxViews  = 20      // reports per request
	maxWeight = rollup.MaxVitalWeight
)

func (c *Collector) postView(w http.ResponseWriter, r *http.Request) {
	status := http.StatusNoContent
	if views, who, err := c.receiveViews(w, r); err != nil {
		status = c.writeError(w, r, err, &answer{IDs: []string{}})
	} else {
		for i := range views {
			v := &views[i]
			page := c.viewPage(c.sites.page(who, c.opts.Pages.Page(v.Page)), who)
			if v.Outcome != "" {
				c.countView(page, v.Outcome, v.Weight)
			}
			if len(v.Vitals) > 0 {
				c.countVitals(page, v, who)
			}
			if v.Profiled {
				c.opts.Store.CountViews(page, rollup.OutcomeReported, 1)
			}
		}
		w.WriteHeader(status)
	}
	c.countAnswer(r, status)
}

// receiveViews reads the reports of a request. If one is refused, none counts.
func (c *Collector) receiveViews(w http.ResponseWriter, r *http.Request) (views []view, who client, err error) {
	if who, err = c.admit(w, r); err != nil {
		return nil, who, err
	}
	if err := checkViewHeaders(r.Header); err != nil {
		return nil, who, err
	}
	mem := memory{of: c.inFlight, from: who.Network}
	defer mem.release()
	lim := c.bounds.Load().Limits
	lim.Body = min(lim.Body, maxViews*maxView)
	body, err := readBody(w, r, lim, &mem)
	if err != nil {
		return nil, who, err
	}
	c.metrics.bytes.Add(float64(len(body)))
	views, err = parseViews(body)
	return views, who, err
}

func checkViewHeaders(h http.Header) error {
	f, err := formOf(h)
	switch {
	case err != nil:
		return err
	case f.binary:
		return refuse(http.StatusUnsupportedMediaType, "content_type",
			"header Content-Type: a report is JSON; use application/json or text/plain")
	case f.encoding != "":
		return refuse(http.StatusUnsupportedMediaType, "encoding",
			"header Content-Encoding: %q; send a report as it is", f.encoding)
	}
	return nil
}

// parseViews parses and checks reports, one after another.
func parseViews(body []byte) (views []view, err error) {
	dec := json.NewDecoder(bytes.NewReader(body))
	for {
		v, err := parseView(dec)
		if err == io.EOF && len(views) > 0 {
			return views, nil
		}
		if err != nil {
			return nil, err
		}
		if len(views) == maxViews {
			return nil, refuse(http.StatusRequestEntityTooLarge, "body_size",
				"body: over %d reports; send several requests", maxViews)
		}
		views = append(views, v)
	}
}

// parseView parses and checks the next report. It returns io.EOF after the last one.
func parseView(dec *json.Decoder) (view, error) {
	v := view{Weight: 1}
	err := dec.Decode(&v)
	if err == io.EOF {
		return v, err
	}
	if x, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if x.Field == "" {
			return v, refuse(http.StatusBadRequest, "malformed", "body: unexpected %s; send an object", x.Value)
		}
		return v, refuse(http.StatusBadRequest, "malformed", "body: %s: unexpected %s", x.Field, x.Value)
	}
	switch {
	case err != nil:
		return v, refuse(http.StatusBadRequest, "malformed", "body: %w", err)
	case v.Outcome == "" && v.Vitals == nil:
		return v, refuse(http.StatusUnprocessableEntity, "invalid",
			"body: it has neither an outcome nor vitals; send one of them")
	case v.Outcome != "" && !slices.Contains(outcomes, v.Outcome):
		return v, refuse(http.StatusUnprocessableEntity, "invalid", "body: outcome: %.40q is not one of %s", v.Outcome,
			strings.Join(outcomes, ", "))
	case v.Weight < 1 || v.Weight > maxWeight:
		return v, refuse(http.StatusUnprocessableEntity, "invalid", "body: weight: %d is not from 1 to %d",
			v.Weight, maxWeight)
	}
	return v, checkVitals(&v)
}

// viewPage returns the name under which page views of a page are counted. There are about a hundred
// times as many page views as traces, on more pages, and each page needs time series for the life
// of the process. So the counter has its own budget, whose hour never ends, and takes no places
// from traces.
func (c *Collector) viewPage(page string, who client) string {
	if isPlaceholder(page) {
		return page
	}
	who.Request = nil // a page with a counter keeps it
	ok, news := c.viewPages.Take(kindPage, page, who.Sender, time.Time{})
	if news {
		c.opts.Logger.Warn("too many distinct pages since the start, the page views of further ones are counted as "+
			PageOther, "most", c.bounds.Load().Pages, "page", logged(page), "from", who)
	}
	if !ok {
		return c.sites.page(who, PageOther)
	}
	return page
}

// countView counts page views of a page named by [Collector.viewPage].
func (c *Collector) countView(page, outcome string, weight int) {
	c.metrics.views.WithLabelValues(page, outcome).Add(float64(weight))
	if outcome != rollup.OutcomeProfiled { // those are counted by their traces
		c.arrivals.unprofiled(outcome, weight, c.opts.Now().UTC())
	}
	c.opts.Store.CountViews(page, outcome, int64(weight))
}
