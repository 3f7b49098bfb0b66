package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// Bounds of combined queries.
const (
	mostTogether    = 16
	longestResponse = 4 << 20  // bytes of one response, which is buffered
	longestTogether = 16 << 20 // bytes of all responses: a kilobyte of queries could return 60 MB
	leastAtOnce     = 4        // even on one processor, because queries wait for a bucket
)

// together lists the queries that can be combined: queries with short responses that need no extra
// permissions.
var together = []string{
	"pages", "features", "releases", "labels", "series", "coverage", "catalog", "newest", "stats", "vitals", "top",
	"compare", "budgets", "changes",
}

// Together answers GET /api/v1/answers: several queries by one request. Each parameter ask is a
// query as its path below /api/v1/ with its parameters, such as series?since=24h&page=/feed. h must
// serve requests for /api/v1/series. Each response is written as soon as it is ready: a line of
// JSON that identifies it, and the response in the next line. Queries start in the order of the
// parameters, a few at the same time, so that the first response does not wait for all of them.
func Together(h http.Handler) http.Handler {
	return compressed()(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		queries, err := queriesOf(r)
		if err != nil {
			WriteError(w, http.StatusBadRequest, err)
			return
		}
		out := lines{w: w, c: http.NewResponseController(w)}
		w.Header().Set("Content-Type", "application/x-ndjson")
		w.Header().Set("Cache-Control", "no-store")
		var all sync.WaitGroup
		turns := make(chan struct{}, max(leastAtOnce, runtime.GOMAXPROCS(0)))
		for i, q := range queries {
			turns <- struct{}{}
			_ = out.c.SetWriteDeadline(time.Now().Add(30*time.Second + readTime))
			all.Go(func() {
				if out.full() { // its response would not be written
					out.write(i, tooLong("all of them", longestTogether))
				} else {
					out.write(i, out.responseOf(h, q))
				}
				<-turns
			})
		}
		all.Wait()
		if out.panicked != nil {
			panic(out.panicked) // the server recovers only this goroutine
		}
	}))
}

// queriesOf returns a request for each parameter ask of r, in their order. There must be 1 to
// mostTogether of them.
func queriesOf(r *http.Request) ([]*http.Request, error) {
	parameters, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, fmt.Errorf("parse parameters: %w", err)
	}
	asked := parameters["ask"]
	delete(parameters, "ask")
	for name := range parameters {
		return nil, fmt.Errorf("there is no parameter %.50q; the only parameter is ask", name)
	}
	if len(asked) == 0 || len(asked) > mostTogether {
		return nil, fmt.Errorf("%d queries; send 1 to %d", len(asked), mostTogether)
	}
	var queries []*http.Request
	for _, text := range asked {
		path, query, _ := strings.Cut(text, "?")
		if !slices.Contains(together, path) {
			return nil, fmt.Errorf("%.50q cannot be combined with other queries; the paths that can are %s", path,
				strings.Join(together, ", "))
		}
		q := r.Clone(r.Context())
		q.URL.Path, q.URL.RawPath, q.URL.RawQuery = "/api/v1/"+path, "", query
		q.RequestURI = q.URL.RequestURI()
		for _, name := range []string{"Accept-Encoding", "If-None-Match", "Range"} {
			q.Header.Del(name)
		}
		queries = append(queries, q)
	}
	return queries, nil
}

// responseOf returns the response of h to a query.
func (l *lines) responseOf(h http.Handler, r *http.Request) (a *buffered) {
	a = &buffered{header: http.Header{}, status: http.StatusOK}
	defer func() {
		if v := recover(); v != nil {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.panicked = v
			a = &buffered{status: http.StatusInternalServerError}
			a.body.WriteString(`{"error":"internal error; see the log of the daemon"}`)
		}
	}()
	h.ServeHTTP(a, r)
	if a.long {
		a = tooLong("the response", longestResponse)
	}
	return a
}

// tooLong returns the error for a response that is too long.
func tooLong(what string, most int) *buffered {
	a := &buffered{status: http.StatusRequestEntityTooLarge}
	fmt.Fprintf(&a.body, `{"error":"%s would have more than %d bytes; send the query alone"}`, what, most)
	return a
}

// buffered keeps a response in memory.
type buffered struct {
	header http.Header
	status int
	body   bytes.Buffer
	long   bool // longer than longestResponse
}

func (k *buffered) Header() http.Header    { return k.header }
func (k *buffered) WriteHeader(status int) { k.status = status }

func (k *buffered) Write(p []byte) (int, error) {
	if k.long = k.long || k.body.Len()+len(p) > longestResponse; !k.long {
		k.body.Write(p)
	}
	return len(p), nil
}

// lines writes responses, each as two lines.
type lines struct {
	mu       sync.Mutex
	w        http.ResponseWriter
	c        *http.ResponseController
	written  int // bytes of response bodies
	panicked any
}

// full reports whether the bound of all responses is reached.
func (l *lines) full() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.written >= longestTogether
}

// passedHeaders lists the response headers that are passed on.
var passedHeaders = []string{"ETag", "Age", "Retry-After"}

func (l *lines) write(i int, a *buffered) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.written += a.body.Len(); l.written > longestTogether && a.status < http.StatusBadRequest {
		a = tooLong("all of them", longestTogether)
	}
	header := map[string]string{}
	for _, name := range passedHeaders {
		if value := a.header.Get(name); value != "" {
			header[name] = value
		}
	}
	body := bytes.TrimSpace(a.body.Bytes())
	if bytes.IndexByte(body, '\n') >= 0 { // JSON of this package has no newlines
		body, a.status = []byte(`{"error":"the answer has several lines"}`), http.StatusInternalServerError
	}
	head, err := json.Marshal(struct {
		Ask    int               `json:"ask"`
		Status int               `json:"status"`
		Header map[string]string `json:"header,omitempty"`
	}{i, a.status, header})
	if err != nil {
		panic(err) // strings and numbers always encode
	}
	for _, line := range [][]byte{head, body} { // the client may have disconnected
		_, _ = l.w.Write(line)
		_, _ = l.w.Write([]byte{'\n'})
	}
	_ = l.c.Flush()
}
