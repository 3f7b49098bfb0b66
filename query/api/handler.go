package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/fresh"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/changes"
	"github.com/fieldtrie/fieldtrie/query/memory"
	"github.com/fieldtrie/fieldtrie/query/selection"

	"github.com/klauspost/compress/gzhttp"
)

// Options configures a [Handler]. Zero fields mean the defaults in the comments.
type Options struct {
	Now     func() time.Time // time.Now
	Timeout time.Duration    // 30 s: for one response, waiting for its turn included
	Gate    *Gate            // one of its own
	// Memory bounds the memory of responses that are being written; nil means no bound.
	Memory *memory.Bound
	// Lag is [selection.Selection.Lag], unless the query has Cache-Control: no-cache.
	Lag time.Duration
	// ProfileFile returns the template of HTML profiles. If it is nil, HTML profiles are refused.
	ProfileFile func() ([]byte, error)
	// Demo describes the demo data in catalogs. It is empty without --demo.
	Demo string
}

// WithDefaults returns o with defaults instead of zero fields.
func (o Options) WithDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Timeout == 0 {
		o.Timeout = 30 * time.Second
	}
	if o.Gate == nil {
		o.Gate = NewGate(GateOptions{})
	}
	if o.ProfileFile == nil {
		o.ProfileFile = func() ([]byte, error) { return nil, errors.New("not offered here") }
	}
	return o
}

// Handler serves a source over HTTP, below /api/v1/ and /pprof/, as openapi.yaml describes it. It
// also serves openapi.yaml. It has no authentication of its own: use it for the private address and
// the Unix socket. Errors are JSON objects with one key, error.
func Handler(src query.Source, o Options) http.Handler {
	o = o.WithDefaults()
	h := &handler{src: src, opts: o}
	mux := http.NewServeMux()
	for path, e := range endpoints() {
		serve := func(w http.ResponseWriter, r *http.Request) { h.serve(w, r, e) }
		mux.Handle("GET "+path, o.Gate.Measure(strings.TrimSuffix(path, "{$}"), http.HandlerFunc(serve)))
	}
	mux.HandleFunc("GET /api/v1/openapi.yaml", serveOpenAPI)
	for _, prefix := range []string{"/api/", "/pprof/"} {
		mux.Handle(prefix, o.Gate.Measure("unknown", http.HandlerFunc(unknownPath)))
	}
	return o.withDeadline(compressed()(mux))
}

// compressed wraps a handler to compress responses, except small ones and pprof files, which are
// compressed already. A compressed response is another representation, so it gets its own ETag.
func compressed() func(http.Handler) http.HandlerFunc {
	compress, err := gzhttp.NewWrapper(gzhttp.MinSize(1400), gzhttp.EnableZstd(true), gzhttp.PreferZstd(true),
		gzhttp.SuffixETag("-gzip"),
		gzhttp.ExceptContentTypes([]string{"application/octet-stream"}))
	if err != nil {
		panic(err) // the options above contradict each other
	}
	return compress
}

// withDeadline disconnects clients that do not read their response in time.
func (o Options) withDeadline(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := http.NewResponseController(w)
		_ = c.SetWriteDeadline(time.Now().Add(o.Timeout + readTime)) // httptest.ResponseRecorder does not support it
		h.ServeHTTP(w, r)
		_ = c.SetWriteDeadline(time.Time{}) // the connection may be reused
	})
}

// readTime is how long a client may take to read a response.
const readTime = 2 * time.Minute

// unknownPath serves paths without an endpoint.
func unknownPath(w http.ResponseWriter, r *http.Request) {
	path := r.URL.Path
	if path == "/pprof/" {
		path += "{$}"
	}
	if _, known := endpoints()[path]; known {
		w.Header().Set("Allow", "GET, HEAD")
		WriteError(w, http.StatusMethodNotAllowed, fmt.Errorf("%s answers GET", r.URL.Path))
		return
	}
	WriteError(w, http.StatusNotFound,
		fmt.Errorf("no such path: %s; /api/v1/openapi.yaml describes those that there are", r.URL.Path))
}

// endpoint serves one kind of query.
type endpoint struct {
	parameters []string
	// respond returns the response. All names of its parameters are known. It checks p.err before
	// it queries the source.
	respond func(ctx context.Context, h *handler, p *parameters) (response, error)
	// resolve, if not nil, sets parameters whose defaults depend on the current time, so that the
	// ETag includes them.
	resolve func(p *parameters)
}

// response is written once it is complete, so that an error has its own status.
type response struct {
	json   any                               // the body, unless write is set
	media  string                            // media type of the body that write writes
	header map[string]string                 // more headers
	age    fresh.Age                         // [query.Stats.Age]
	size   int                               // bytes of memory that it holds until it is written, if large
	write  func(w http.ResponseWriter) error // writes the body piece by piece
}

type handler struct {
	src  query.Source
	opts Options
}

// versioned is a source that can report whether its data has changed.
type versioned interface {
	Version(since, until time.Time) string // "": unknown
}

func (h *handler) serve(w http.ResponseWriter, r *http.Request, e endpoint) {
	p, err := parametersOf(r, e.parameters, h.opts.Now())
	if err != nil {
		WriteError(w, statusOf(err), err)
		return
	}
	if e.resolve != nil {
		e.resolve(p)
	}
	if !strings.Contains(r.Header.Get("Cache-Control"), "no-cache") {
		p.lag = h.opts.Lag
		if h.unchanged(w, r, p) {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	ctx, cancel := context.WithTimeout(r.Context(), h.opts.Timeout)
	defer cancel()
	var a response
	release := func() {}
	err = h.opts.Gate.Do(ctx, func() (err error) {
		if a, err = e.respond(ctx, h, p); err == nil {
			release, err = h.opts.Memory.Hold(a.size)
		}
		return err
	})
	if err == nil {
		defer release()
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		w.Header().Del("ETag")
		h.refuse(w, err)
		return
	}
	if a.age.Kept {
		w.Header().Del("ETag") // the tag covers current data, which this response may lack
	}
	if seconds := int(a.age.Behind.Round(time.Second).Seconds()); seconds > 0 {
		w.Header().Set("Age", strconv.Itoa(seconds))
	}
	a.writeTo(w)
}

// unchanged reports whether the client has the current response, and sets the headers for
// conditional requests. Requests for all acknowledged traces wait for them, and a tag does not
// cover traces to come.
func (h *handler) unchanged(w http.ResponseWriter, r *http.Request, p *parameters) bool {
	tag := h.tag(r.URL.Path, p)
	if tag == "" {
		return false
	}
	w.Header().Set("ETag", tag)
	w.Header().Set("Cache-Control", "private, no-cache") // clients must revalidate
	return hasTag(r.Header.Get("If-None-Match"), tag)
}

// refuse writes the error of a query.
func (h *handler) refuse(w http.ResponseWriter, err error) {
	status := statusOf(err)
	switch status {
	case http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "5")
	case http.StatusGatewayTimeout:
		err = fmt.Errorf("it took longer than %s and was given up: ask for less time, one page, or fewer labels",
			h.opts.Timeout)
	}
	WriteError(w, status, err)
}

// tag returns the ETag of a response, or "" if it is unknown whether the response changes. It is
// computed from absolute times: "24h" is another time each hour.
func (h *handler) tag(path string, p *parameters) string {
	src, ok := h.src.(versioned)
	if !ok {
		return ""
	}
	hash := fnv.New128a()
	meant := p.clone()
	for _, prefix := range []string{"", "compare_"} {
		since, until, err := parseTimes(p.Values, prefix, p.now)
		if err != nil {
			return ""
		}
		meant.Del(prefix + "since")
		meant.Del(prefix + "until")
		setTimes(meant.Values, prefix, since, until)
		if prefix == "" || since != until {
			version := src.Version(since, until)
			if version == "" {
				return ""
			}
			fmt.Fprintln(hash, version)
		}
	}
	fmt.Fprintln(hash, path, meant.Encode())
	_, _ = hash.Write(openAPI) // new versions may change the form of responses
	return fmt.Sprintf(`"%x"`, hash.Sum(nil))
}

// hasTag reports whether a list of ETags contains one. A compressed response has the ETag of the
// response with a suffix.
func hasTag(list, tag string) bool {
	for text := range strings.SplitSeq(list, ",") {
		text = strings.TrimPrefix(strings.TrimSpace(text), "W/")
		for _, suffix := range []string{"-gzip", "-zstd"} {
			text = strings.Replace(text, suffix+`"`, `"`, 1)
		}
		if text == tag || text == "*" {
			return true
		}
	}
	return false
}

// statusClientGone is the status that nginx and Connect use for a client that disconnected. The
// client does not read it, but it separates these requests from failures in metrics.
const statusClientGone = 499

// statusOf returns the HTTP status for an error, 500 for an unknown one.
func statusOf(err error) int {
	if _, refused := errors.AsType[*selection.RefusedError](err); refused {
		return http.StatusBadRequest
	}
	if _, absent := errors.AsType[*query.NotFoundError](err); absent {
		return http.StatusNotFound
	}
	if _, forbidden := errors.AsType[*changes.ForbiddenError](err); forbidden {
		return http.StatusForbidden
	}
	if _, large := errors.AsType[*memory.TooLargeError](err); large {
		return http.StatusUnprocessableEntity
	}
	if _, busy := errors.AsType[*BusyError](err); busy {
		return http.StatusServiceUnavailable
	}
	if _, crowded := errors.AsType[*memory.CrowdedError](err); crowded {
		return http.StatusServiceUnavailable
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return http.StatusGatewayTimeout
	}
	if errors.Is(err, context.Canceled) {
		return statusClientGone
	}
	return http.StatusInternalServerError
}

func (a response) writeTo(w http.ResponseWriter) {
	for k, v := range a.header {
		w.Header().Set(k, v)
	}
	if a.write == nil {
		writeJSON(w, http.StatusOK, a.json)
		return
	}
	w.Header().Set("Content-Type", a.media)
	if err := a.write(w); err != nil {
		// The status is sent: only a broken connection tells the client that the response is
		// incomplete.
		panic(http.ErrAbortHandler)
	}
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may have disconnected
}

// WriteError writes an error like a Handler: a JSON object with the key error.
func WriteError(w http.ResponseWriter, status int, err error) {
	writeJSON(w, status, map[string]string{"error": err.Error()})
}

// readError parses an error response of a Handler.
func readError(status string, body []byte) error {
	var e struct{ Error string }
	if json.Unmarshal(body, &e) == nil && e.Error != "" {
		return errors.New(e.Error)
	}
	return fmt.Errorf("unexpected answer: %s", status)
}
