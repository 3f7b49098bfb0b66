package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/fieldtrie/fieldtrie/query/changes"
	"github.com/fieldtrie/fieldtrie/query/selection"
)

// changesPath is the path of the list of changes. A change is one level below it.
const changesPath = "/api/v1/changes"

// Bounds of requests about changes.
const (
	defaultChanges = 100
	mostChanges    = 5000
	maxHandling    = 16 << 10 // bytes of a request body
)

// Changes serves GET /api/v1/changes, and GET and POST /api/v1/changes/{id}, as openapi.yaml
// describes them. by returns the name of the user or token that sent a request.
func Changes(src changes.Source, by func(*http.Request) string, o Options) http.Handler {
	h := &changesHandler{src, by, o.WithDefaults()}
	mux := http.NewServeMux()
	mux.Handle(changesPath, h.of(changesPath, map[string]changesAnswer{http.MethodGet: h.list}))
	mux.Handle(changesPath+"/{id}", h.of(changesPath+"/{id}", map[string]changesAnswer{http.MethodGet: h.one,
		http.MethodPost: h.handle}))
	return h.o.withDeadline(compressed()(mux))
}

type changesHandler struct {
	src changes.Source
	by  func(*http.Request) string
	o   Options
}

// changesAnswer returns a value to be written as JSON.
type changesAnswer func(ctx context.Context, r *http.Request) (any, error)

// of returns a handler that selects a function by the method of the request.
func (h *changesHandler) of(path string, methods map[string]changesAnswer) http.Handler {
	return h.o.Gate.Measure(path, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		method := r.Method
		if method == http.MethodHead {
			method = http.MethodGet
		}
		answer := methods[method]
		if answer == nil {
			allowed := "GET, HEAD"
			if methods[http.MethodPost] != nil {
				allowed += ", POST"
			}
			w.Header().Set("Allow", allowed)
			WriteError(w, http.StatusMethodNotAllowed, fmt.Errorf("%s answers %s", r.URL.Path, allowed))
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), h.o.Timeout)
		defer cancel()
		var out any
		err := h.o.Gate.Do(ctx, func() (err error) {
			out, err = answer(ctx, r)
			return err
		})
		if err == nil {
			err = ctx.Err()
		}
		w.Header().Set("Cache-Control", "no-store") // users change the state of changes
		if err != nil {
			(&handler{opts: h.o}).refuse(w, err)
			return
		}
		writeJSON(w, http.StatusOK, out)
	}))
}

func (h *changesHandler) list(ctx context.Context, r *http.Request) (any, error) {
	p, err := parametersOf(r, []string{"page", "since", "state", "owner", "limit"}, h.o.Now())
	if err != nil {
		return nil, err
	}
	q := changes.Query{Page: p.Get("page"), Owner: p.Get("owner"), Limit: p.number("limit", defaultChanges, 1,
		mostChanges)}
	if q.Since, _, err = parseTimes(p.Values, "", p.now); err != nil {
		p.fail(err)
	}
	if q.States, err = changes.ParseStates(p.Get("state")); err != nil {
		p.fail(fmt.Errorf("parameter state: %w", err))
	}
	if p.err != nil {
		return nil, p.err
	}
	return h.src.Changes(ctx, q)
}

// idOf returns the id in the path.
func idOf(r *http.Request) (string, error) {
	if _, err := parametersOf(r, nil, time.Time{}); err != nil {
		return "", err
	}
	id := r.PathValue("id")
	if !changes.IsID(id) {
		return "", selection.Refuse("%.40q is not the id of a change, which has 16 hexadecimal digits", id)
	}
	return id, nil
}

func (h *changesHandler) one(ctx context.Context, r *http.Request) (any, error) {
	id, err := idOf(r)
	if err != nil {
		return nil, err
	}
	return h.src.Change(ctx, id)
}

func (h *changesHandler) handle(ctx context.Context, r *http.Request) (any, error) {
	id, err := idOf(r)
	if err != nil {
		return nil, err
	}
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		return nil, selection.Refuse("body: send JSON, with Content-Type: application/json")
	}
	d := json.NewDecoder(io.LimitReader(r.Body, maxHandling))
	d.DisallowUnknownFields()
	var x changes.Handling
	if err := d.Decode(&x); err != nil {
		return nil, selection.Refuse(`body: send {"state": …, "note": …, "until": …}, up to %d bytes: %w`,
			maxHandling, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, selection.Refuse("body: unexpected data after the object")
	}
	return h.src.Handle(ctx, id, x, h.by(r))
}
