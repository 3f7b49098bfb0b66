// Package uploads accepts symbols over HTTP: tables of functions of scripts, and uploads that list
// the scripts of builds. It serves the private address; docs/symbols.md describes the requests.
package uploads

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/fieldtrie/fieldtrie/symbols"
	"github.com/fieldtrie/fieldtrie/symbols/tables"
)

// Handler serves a store of tables below /v1/symbols. Errors are JSON objects with the key error.
type Handler struct {
	store   *tables.Store
	mux     *http.ServeMux
	bodies  chan struct{} // holds one for each body in memory
	stall   time.Duration // timeout without a byte of a body
	refused atomic.Int64
}

// maxBodies is the maximum number of bodies in memory.
const maxBodies = 4

// New returns a Handler that reads and writes store. It does not check who sends a request.
func New(store *tables.Store) *Handler {
	h := &Handler{store: store, mux: http.NewServeMux(), bodies: make(chan struct{}, maxBodies), stall: bodyStall}
	h.mux.HandleFunc("HEAD /v1/symbols/{sha256}", h.head)
	h.mux.HandleFunc("PUT /v1/symbols/{sha256}", h.put)
	h.mux.HandleFunc("POST /v1/symbols/uploads", h.add)
	h.mux.HandleFunc("GET /v1/symbols", h.list)
	h.mux.HandleFunc("/v1/symbols/", func(w http.ResponseWriter, r *http.Request) {
		h.refuse(w, http.StatusNotFound,
			fmt.Errorf("%s %s not found; use HEAD and PUT /v1/symbols/SHA256, POST /v1/symbols/uploads and GET "+
				"/v1/symbols", r.Method, r.URL.Path))
	})
	return h
}

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.mux.ServeHTTP(w, r) }

// Refused returns the number of refused requests.
func (h *Handler) Refused() int64 { return h.refused.Load() }

func (h *Handler) head(w http.ResponseWriter, r *http.Request) {
	if err := tables.CheckHash(r.PathValue("sha256")); err != nil {
		h.refuse(w, http.StatusBadRequest, err)
		return
	}
	if !h.store.Has(r.PathValue("sha256")) {
		w.WriteHeader(http.StatusNotFound)
	}
}

func (h *Handler) put(w http.ResponseWriter, r *http.Request) {
	hash := r.PathValue("sha256")
	if err := tables.CheckHash(hash); err != nil {
		h.refuse(w, http.StatusBadRequest, err)
		return
	}
	body, ok := h.body(w, r, symbols.MaxTable)
	if !ok {
		return
	}
	stored, err := h.store.Put(hash, body)
	<-h.bodies
	switch {
	case err != nil:
		h.fail(w, err)
	case stored:
		write(w, http.StatusCreated, struct{}{})
	default:
		write(w, http.StatusOK, struct{}{})
	}
}

func (h *Handler) add(w http.ResponseWriter, r *http.Request) {
	body, ok := h.body(w, r, tables.MaxUpload)
	if !ok {
		return
	}
	defer func() { <-h.bodies }()
	// Fields set by the store are ignored.
	var u struct {
		symbols.Upload
		ID   *struct{} `json:"id"`
		Time *struct{} `json:"time"`
	}
	if err := json.Unmarshal(body, &u); err != nil {
		h.refuse(w, http.StatusUnprocessableEntity, fmt.Errorf("read upload: %w", err))
		return
	}
	id, created, err := h.store.AddUpload(u.Upload)
	if err != nil {
		h.fail(w, err)
		return
	}
	status := http.StatusOK
	if created {
		status = http.StatusCreated
	}
	write(w, status, map[string]string{"id": id})
}

// Timeouts of clients: tables may be large, and CI far away.
const (
	bodyStall = 10 * time.Second // without a byte
	bodyTime  = 2 * time.Minute  // in total
)

// patientReader reads a body as long as data keeps arriving.
type patientReader struct {
	io.ReadCloser
	control *http.ResponseController
	stall   time.Duration
	until   time.Time
}

func (p *patientReader) Read(b []byte) (int, error) {
	deadline := time.Now().Add(p.stall)
	if deadline.After(p.until) {
		deadline = p.until
	}
	_ = p.control.SetReadDeadline(deadline) // httptest.ResponseRecorder does not support it
	return p.ReadCloser.Read(b)
}

// body reads a body of at most most bytes. If ok, it holds a slot of h.bodies, which the caller
// must free.
func (h *Handler) body(w http.ResponseWriter, r *http.Request, most int64) (b []byte, ok bool) {
	select {
	case h.bodies <- struct{}{}:
	case <-r.Context().Done():
		return nil, false
	}
	body := &patientReader{r.Body, http.NewResponseController(w), h.stall, time.Now().Add(bodyTime)}
	b, err := io.ReadAll(http.MaxBytesReader(w, body, most))
	if err == nil {
		return b, true
	}
	<-h.bodies
	_, large := errors.AsType[*http.MaxBytesError](err)
	switch {
	case large:
		h.refuse(w, http.StatusRequestEntityTooLarge, fmt.Errorf("over %d bytes", most))
	case errors.Is(err, os.ErrDeadlineExceeded):
		h.refuse(w, http.StatusRequestTimeout, errors.New("the body arrived too slowly"))
	default:
		h.refuse(w, http.StatusBadRequest, fmt.Errorf("read body: %w", err))
	}
	return nil, false
}

// fail responds with an error of the store.
func (h *Handler) fail(w http.ResponseWriter, err error) {
	if missing, ok := errors.AsType[*tables.MissingError](err); ok {
		h.refused.Add(1)
		write(w, http.StatusConflict, map[string]any{"error": err.Error(), "missing": missing.Missing})
		return
	}
	_, invalid := errors.AsType[*tables.InvalidError](err)
	_, full := errors.AsType[*tables.FullError](err)
	switch {
	case invalid:
		h.refuse(w, http.StatusUnprocessableEntity, err)
	case full:
		h.refuse(w, http.StatusInsufficientStorage, fmt.Errorf("%w; see ingest --max-symbols", err))
	case errors.Is(err, tables.ErrNoSpace), errors.Is(err, syscall.ENOSPC):
		w.Header().Set("Retry-After", "60")
		h.refuse(w, http.StatusServiceUnavailable, err)
	default:
		h.refuse(w, http.StatusInternalServerError, err)
	}
}

func (h *Handler) refuse(w http.ResponseWriter, status int, err error) {
	h.refused.Add(1)
	write(w, status, map[string]string{"error": err.Error()})
}

func write(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}
