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

// Bounds of the queries that are asked together.
const (
	mostTogether    = 16
	longestResponse = 4 << 20  // bytes, of one of them: it is kept until it is written
	longestTogether = 16 << 20 // bytes, of all of them: a kilobyte of queries would have sixty megabytes of responses
	leastAtOnce     = 4        // even on one processor: some wait for a bucket
)

// together are the queries that can be asked together: those with short responses, which
// need no more rights than each other.
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
				if out.full() { // its result would not be written
					out.write(i, tooLong("all of them", longestTogether))
				} else {
					out.write(i, out.responseOf(h, q))
				}
				<-turns
			})
		}
		all.Wait()
		if out.panicked != nil {
			panic(out.panicked) // here, where the server knows what to do with it
		}
	}))
}

// queriesOf returns the requests that a request is made of.
func queriesOf(r *http.Request) ([]*http.Request, error) {
	parameters, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, fmt.Errorf("parse parameters: %w", err)
	}
	asked := parameters["ask"]
	delete(parameters, "ask")
	for name := range parameters {
		return nil, fmt.Errorf("there is no parameter %.50q: there is ask", name)
	}
	if len(asked) == 0 || len(asked) > mostTogether {
		return nil, fmt.Errorf("%d questions: ask from 1 to %d", len(asked), mostTogether)
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

// responseOf returns what h answers to a query.
func (l *lines) responseOf(h http.Handler, r *http.Request) (a *buffered) {
	a = &buffered{header: http.Header{}, status: http.StatusOK}
	defer func() {
		if v := recover(); v != nil {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.panicked = v
			a = &buffered{status: http.StatusInternalServerError}
			a.body.WriteString(`{"error":"it could not be answered; the log says more"}`)
		}
	}()
	h.ServeHTTP(a, r)
	if a.long {
		a = tooLong("the answer", longestResponse)
	}
	return a
}

// tooLong returns the response to a query that would be too long.
func tooLong(what string, most int) *buffered {
	a := &buffered{status: http.StatusRequestEntityTooLarge}
	fmt.Fprintf(&a.body, `{"error":"%s would have more than %d bytes: ask for it alone"}`, what, most)
	return a
}

// buffered keeps a response.
type buffered struct {
	header http.Header
	status int
	body   bytes.Buffer
	long   bool // more than is kept
}

func (k *buffered) Header() http.Header    { return k.header }
func (k *buffered) WriteHeader(status int) { k.status = status }

func (k *buffered) Write(p []byte) (int, error) {
	if k.long = k.long || k.body.Len()+len(p) > longestResponse; !k.long {
		k.body.Write(p)
	}
	return len(p), nil
}

// lines writes answers, each as two lines.
type lines struct {
	mu       sync.Mutex
	w        http.ResponseWriter
	c        *http.ResponseController
	written  int // bytes of responses
	panicked any
}

// full reports whether no other response would be written.
func (l *lines) full() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.written >= longestTogether
}

// toldHeaders are the headers of a response that its line of JSON includes.
var toldHeaders = []string{"ETag", "Age", "Retry-After"}

func (l *lines) write(i int, a *buffered) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.written += a.body.Len(); l.written > longestTogether && a.status < http.StatusBadRequest {
		a = tooLong("all of them", longestTogether)
	}
	header := map[string]string{}
	for _, name := range toldHeaders {
		if value := a.header.Get(name); value != "" {
			header[name] = value
		}
	}
	body := bytes.TrimSpace(a.body.Bytes())
	if bytes.IndexByte(body, '\n') >= 0 { // which no JSON of this package has
		body, a.status = []byte(`{"error":"the answer has several lines"}`), http.StatusInternalServerError
	}
	head, err := json.Marshal(struct {
		Ask    int               `json:"ask"`
		Status int               `json:"status"`
		Header map[string]string `json:"header,omitempty"`
	}{i, a.status, header})
	if err != nil {
		panic(err) // texts and numbers can always be written
	}
	for _, line := range [][]byte{head, body} { // the client may have gone
		_, _ = l.w.Write(line)
		_, _ = l.w.Write([]byte{'\n'})
	}
	_ = l.c.Flush()
}
