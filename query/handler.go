package query

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/encode"
)

// statsHeader carries the [Stats] of a profile as JSON.
const statsHeader = "Fieldtrie-Stats"

// Handler serves a source over HTTP:
//
//	GET /api/v1/profile?page=&feature=&label=K=V&since=&until=&grouped=&format=
//	GET /api/v1/catalog?since=&until=
//
// It is for the private address and the Unix socket: it asks nobody who they are. Errors
// are JSON objects with one key, error.
func Handler(src Source, now func() time.Time) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/profile", func(w http.ResponseWriter, r *http.Request) {
		sel, err := parseSelection(r.URL.Query(), now())
		if err != nil {
			writeError(w, http.StatusBadRequest, err)
			return
		}
		name := r.URL.Query().Get("format")
		if name == "" {
			name = "pprof"
		}
		format, err := encode.Writer(name)
		if err != nil {
			writeError(w, http.StatusBadRequest, err)
			return
		}
		result, err := src.Profile(r.Context(), sel, nil)
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
	})
	mux.HandleFunc("GET /api/v1/catalog", func(w http.ResponseWriter, r *http.Request) {
		since, until, err := parseTimes(r.URL.Query(), now())
		if err != nil {
			writeError(w, http.StatusBadRequest, err)
			return
		}
		catalog, err := src.Catalog(r.Context(), since, until)
		if err != nil {
			writeError(w, http.StatusInternalServerError, err)
			return
		}
		writeJSON(w, http.StatusOK, catalog)
	})
	return mux
}

func contentType(f encode.Format) string {
	switch {
	case f.Binary:
		return "application/octet-stream"
	case f.Name == "json":
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
	return errors.New(strings.TrimSpace("unexpected answer: " + status))
}
