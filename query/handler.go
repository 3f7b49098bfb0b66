package query

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/encode"
)

// statsHeader carries the [Stats] of a profile as JSON.
const statsHeader = "Fieldtrie-Stats"

// Handler serves a source over HTTP:
//
//	GET /api/v1/profile?page=&feature=&label=K=V&since=&until=&group_by=&format=
//	GET /api/v1/stats?page=&feature=&label=K=V&since=&until=
//	GET /api/v1/catalog?since=&until=
//
// Only label may stand more than once. The handler is for the private address and the
// Unix socket: it asks nobody who they are. Errors are JSON objects with one key, error.
func Handler(src Source, now func() time.Time) http.Handler {
	h := handler{src, now}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/profile", h.profile)
	mux.HandleFunc("GET /api/v1/stats", h.report)
	mux.HandleFunc("GET /api/v1/catalog", h.catalog)
	return mux
}

type handler struct {
	src Source
	now func() time.Time
}

func (h handler) profile(w http.ResponseWriter, r *http.Request) {
	v, err := parameters(r, "page", "feature", "release", "label", "since", "until", "group_by", "format")
	if err != nil {
		writeError(w, http.StatusBadRequest, err)
		return
	}
	sel, err := parseSelection(v, h.now())
	if err != nil {
		writeError(w, http.StatusBadRequest, err)
		return
	}
	name := v.Get("format")
	if name == "" {
		name = "pprof"
	}
	format, err := encode.Writer(name)
	if err == nil && format.Encode == nil {
		err = fmt.Errorf("%s is written in time order, which a merge has not", name)
	}
	if err != nil {
		writeError(w, http.StatusBadRequest, fmt.Errorf("parameter format: %w", err))
		return
	}
	result, err := h.src.Profile(r.Context(), sel, nil)
	if err != nil {
		writeError(w, http.StatusInternalServerError, err)
		return
	}
	var body bytes.Buffer
	if err := format.Encode(&body, result.Profile, encode.Output{Since: sel.Since, Until: sel.Until}); err != nil {
		writeError(w, http.StatusInternalServerError, err)
		return
	}
	stats, err := json.Marshal(result.Stats)
	if err != nil {
		writeError(w, http.StatusInternalServerError, err)
		return
	}
	w.Header().Set(statsHeader, string(stats))
	w.Header().Set("Content-Type", contentType(format))
	_, _ = w.Write(body.Bytes()) // the client may have gone
}

func (h handler) report(w http.ResponseWriter, r *http.Request) {
	v, err := parameters(r, "page", "feature", "release", "label", "since", "until")
	if err != nil {
		writeError(w, http.StatusBadRequest, err)
		return
	}
	sel, err := parseSelection(v, h.now())
	if err == nil {
		_, err = newReporting(sel)
	}
	if err != nil {
		writeError(w, http.StatusBadRequest, err)
		return
	}
	report, err := h.src.Report(r.Context(), sel)
	if err != nil {
		writeError(w, http.StatusInternalServerError, err)
		return
	}
	writeJSON(w, http.StatusOK, report)
}

func (h handler) catalog(w http.ResponseWriter, r *http.Request) {
	v, err := parameters(r, "since", "until")
	if err != nil {
		writeError(w, http.StatusBadRequest, err)
		return
	}
	since, until, err := parseTimes(v, h.now())
	if err != nil {
		writeError(w, http.StatusBadRequest, err)
		return
	}
	catalog, err := h.src.Catalog(r.Context(), since, until)
	if err != nil {
		writeError(w, http.StatusInternalServerError, err)
		return
	}
	writeJSON(w, http.StatusOK, catalog)
}

// parameters returns the query parameters of r. A mistyped one must not widen what is
// asked for, so those that are not known are errors.
func parameters(r *http.Request, known ...string) (url.Values, error) {
	v, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, fmt.Errorf("query string: %w", err)
	}
	for k, values := range v {
		if !slices.Contains(known, k) {
			return nil, fmt.Errorf("unknown parameter %q; known are %s", k, strings.Join(known, ", "))
		}
		if k != "label" && len(values) > 1 {
			return nil, fmt.Errorf("parameter %s stands %d times", k, len(values))
		}
	}
	return v, nil
}

func contentType(f encode.Format) string {
	switch {
	case f.Binary:
		return "application/octet-stream"
	case f.Name == "svg":
		return "image/svg+xml"
	case f.Name == "csv":
		return "text/csv; charset=utf-8"
	case slices.Contains([]string{"json", "d3", "speedscope", "cpuprofile"}, f.Name):
		return "application/json"
	}
	return "text/plain; charset=utf-8"
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may have gone
}

func writeError(w http.ResponseWriter, status int, err error) {
	writeJSON(w, status, map[string]string{"error": err.Error()})
}

// readError turns an error answer of a Handler back into an error.
func readError(status string, body []byte) error {
	var e struct{ Error string }
	if json.Unmarshal(body, &e) == nil && e.Error != "" {
		return errors.New(e.Error)
	}
	return fmt.Errorf("unexpected answer: %s", status)
}
