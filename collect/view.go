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

// view is what the SDK says about a page view: why there is no profile, how it was for the
// visitor, or both. A report may have more fields; they are not counted.
type view struct {
	Page        string             `json:"page"`
	Outcome     string             `json:"outcome"`
	Weight      int                `json:"weight"` // page views that it stands for
	Release     string             `json:"release"`
	Environment string             `json:"environment"`
	Profiled    bool               `json:"profiled"` // it sends a profile
	Labels      map[string]any     `json:"labels"`
	Vitals      map[string]float64 `json:"vitals"` // ms, and the score of cls
	// Elements are what these are of, see [rollup.KeyElement], and Parts, in ms, what they are made up of, see [rollup.VitalKind].
	Elements map[string]string    `json:"elements"`
	Parts    map[string][]float64 `json:"parts"`
}

// outcomes are the reasons for which a page view has no profile.
var outcomes = []string{
	"unsupported", // the browser has no such API
	"header",      // the page came without the header Document-Policy
	"unsampled",   // it was not chosen
	"quota",       // the browser runs too many profilers
	"refused",     // the visitor's Global Privacy Control says no
	"stopped",     // the server said so, see SamplingRules
	"cost",        // profiling cost more than it may
	"error",
}

// Limits of reports.
const (
	maxView   = 4 << 10 // bytes of a report, on average
	maxViews  = 20      // reports of a request
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

// receiveViews reads the reports of a request. None counts if one of them is refused.
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
		return refuse(http.StatusUnsupportedMediaType, "content_type", "header Content-Type: a report is JSON; use application/json or text/plain")
	case f.encoding != "":
		return refuse(http.StatusUnsupportedMediaType, "encoding", "header Content-Encoding: %q; send a report as it is", f.encoding)
	}
	return nil
}

// parseViews reads reports, one after the other, and checks them.
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
			return nil, refuse(http.StatusRequestEntityTooLarge, "body_size", "body: over %d reports; send several requests", maxViews)
		}
		views = append(views, v)
	}
}

// parseView reads the next report and checks it. It returns io.EOF after the last one.
func parseView(dec *json.Decoder) (view, error) {
	v := view{Weight: 1}
	err := dec.Decode(&v)
	if err == io.EOF {
		return v, err
	}
	if x, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if x.Field == "" {
			return v, refuse(http.StatusBadRequest, "malformed", "body: it can not be %s; send an object", x.Value)
		}
		return v, refuse(http.StatusBadRequest, "malformed", "body: %s: it can not be %s", x.Field, x.Value)
	}
	switch {
	case err != nil:
		return v, refuse(http.StatusBadRequest, "malformed", "body: %w", err)
	case v.Outcome == "" && v.Vitals == nil:
		return v, refuse(http.StatusUnprocessableEntity, "invalid", "body: it has neither an outcome nor vitals; send one of them")
	case v.Outcome != "" && !slices.Contains(outcomes, v.Outcome):
		return v, refuse(http.StatusUnprocessableEntity, "invalid", "body: outcome: %.40q is not one of %s", v.Outcome, strings.Join(outcomes, ", "))
	case v.Weight < 1 || v.Weight > maxWeight:
		return v, refuse(http.StatusUnprocessableEntity, "invalid", "body: weight: %d is not from 1 to %d", v.Weight, maxWeight)
	}
	return v, checkVitals(&v)
}

// viewPage returns the name under which page views of a page are counted. They are a hundred times
// as many as the traces, on more pages, and what each page takes is time series that stay for
// the life of the process. So the counter has a budget of its own, whose hour never ends, and
// takes no page away from the traces.
func (c *Collector) viewPage(page string, who client) string {
	if isPlaceholder(page) {
		return page
	}
	who.Request = nil // a page that has a counter keeps it
	ok, news := c.viewPages.Take(kindPage, page, who.Sender, time.Time{})
	if news {
		c.opts.Logger.Warn("too many distinct pages since the start, the page views of further ones are counted as "+PageOther, "most", c.bounds.Load().Pages, "page", logged(page), "from", who)
	}
	if !ok {
		return c.sites.page(who, PageOther)
	}
	return page
}

// countView counts page views of a page, as [Collector.viewPage] names it.
func (c *Collector) countView(page, outcome string, weight int) {
	c.metrics.views.WithLabelValues(page, outcome).Add(float64(weight))
	if outcome != rollup.OutcomeProfiled { // those are known by their traces
		c.arrivals.unprofiled(outcome, weight, c.opts.Now().UTC())
	}
	c.opts.Store.CountViews(page, outcome, int64(weight))
}
