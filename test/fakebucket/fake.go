// Package fakebucket is an in-memory object store with fault injection, for tests: it rejects
// requests, drops responses, adds latency, truncates writes, and ignores conditions.
package fakebucket

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/fieldtrie/fieldtrie/store/bucket"
)

// Name is the bucket of a [Server].
const Name = "traces"

// Server is an object store. Set its fields before the first request.
type Server struct {
	// Now is the clock of the store.
	Now func() time.Time

	// Faults is the share of requests that fail. Which selects the requests that may fail, nil
	// means all.
	Faults float64
	Which  func(*http.Request) bool

	// Blind makes the store ignore conditions.
	Blind bool

	// Unquoted makes the store compare only tags without quotes, as Ceph does.
	Unquoted bool

	// Denied are kinds of requests, as in [Server.Requests], that the key may not make.
	Denied []string

	// Took is the duration of each request.
	Took time.Duration

	mu      sync.Mutex
	rand    *rand.Rand
	handler http.Handler
	late    []func() // delayed requests
	counts  map[string]int
	bytes   int64
}

// New returns an empty store with faults drawn from a seed.
func New(seed uint64) *Server {
	backend := s3mem.New()
	if err := backend.CreateBucket(Name); err != nil {
		panic(err) // impossible in an empty store
	}
	return &Server{Now: time.Now, rand: rand.New(rand.NewPCG(seed, 0)), counts: map[string]int{},
		handler: gofakes3.New(backend, gofakes3.WithTimeSkewLimit(0)).Server()}
}

// Client is a connection to a [Server] that can be cut.
type Client struct {
	// Before is called before each request, unless it is nil.
	Before func(*http.Request)

	s *Server

	mu   sync.Mutex
	left int // requests until the cut, below 0 for no cut
}

// Client returns a connection to the store.
func (s *Server) Client() *Client { return &Client{s: s, left: -1} }

// CutAfter cuts the connection after n requests, as if the client lost power. The last request is
// executed, but its response is lost.
func (c *Client) CutAfter(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left = n
}

// ErrCut is the error of requests after a cut.
var ErrCut = errors.New("the connection to the store is cut")

// Bucket returns the bucket on this connection.
func (c *Client) Bucket(now func() time.Time) *bucket.Bucket {
	b, err := bucket.Open(context.Background(), bucket.Location{Bucket: Name, Prefix: "p/",
		Endpoint: "http://store.test", Region: "r"},
		bucket.Options{Transport: c, Now: now, Attempts: 3, Pause: time.Millisecond})
	if err != nil {
		panic(err)
	}
	return b
}

// Env sets the environment variables that the client library needs.
func Env(set func(key, value string)) {
	set("AWS_ACCESS_KEY_ID", "k")
	set("AWS_SECRET_ACCESS_KEY", "s")
	set("AWS_CONFIG_FILE", "/nonexistent")
	set("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent")
	set("AWS_EC2_METADATA_DISABLED", "true")
}

// RoundTrip executes a request in process.
func (c *Client) RoundTrip(r *http.Request) (*http.Response, error) {
	if c.Before != nil {
		c.Before(r)
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	c.mu.Lock()
	left := c.left
	if c.left > 0 {
		c.left--
	}
	c.mu.Unlock()
	if left == 0 {
		return nil, ErrCut
	}
	answer, err := c.s.roundTrip(r)
	if left == 1 && err == nil {
		return nil, ErrCut
	}
	return answer, err
}

// ServeHTTP executes a request of another process.
func (c *Client) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.URL.Scheme, r.URL.Host = "http", r.Host
	res, err := c.RoundTrip(r)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer func() { _ = res.Body.Close() }()
	for k, v := range res.Header {
		w.Header()[k] = v
	}
	w.WriteHeader(res.StatusCode)
	_, _ = io.Copy(w, res.Body) // the client notices a short body
}

// The injected faults.
const (
	refused   = iota // the request is not executed
	lost             // the request is executed without a response
	torn             // the request is executed, and a part of the response arrives
	late             // the request is executed much later, without a response
	ambiguous        // the request is executed, and the response is an error
	faults
)

func (s *Server) roundTrip(r *http.Request) (*http.Response, error) {
	if s.Took > 0 {
		select {
		case <-time.After(s.Took):
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
	body, err := readBody(r)
	if err != nil {
		return nil, err
	}
	if slices.Contains(s.Denied, kindOf(r)) {
		return errorAnswer(r, http.StatusForbidden, "AccessDenied"), nil
	}
	fault := faults
	s.mu.Lock()
	s.counts[kindOf(r)]++
	if s.rand.Float64() < s.Faults && (s.Which == nil || s.Which(r)) {
		fault = s.rand.IntN(faults)
	}
	var due func()
	if n := len(s.late); n > 0 && s.rand.IntN(4) == 0 {
		i := s.rand.IntN(n)
		due = s.late[i]
		s.late = append(s.late[:i], s.late[i+1:]...)
	}
	s.mu.Unlock()
	if due != nil {
		due()
	}
	switch fault {
	case refused:
		return errorAnswer(r, http.StatusServiceUnavailable, "SlowDown"), nil
	case lost:
		s.do(r, body)
		return nil, fmt.Errorf("read the answer: %w", io.ErrUnexpectedEOF)
	case torn:
		if r.Method != http.MethodPut {
			answer := s.do(r, body)
			whole, _ := io.ReadAll(answer.Body) // a bytes.Reader
			answer.Body = io.NopCloser(io.MultiReader(bytes.NewReader(whole[:len(whole)/2]), failing{}))
			return answer, nil
		}
		return nil, fmt.Errorf("write the body: %w", io.ErrClosedPipe) // stores check the length
	case late:
		if r.Method == http.MethodPut {
			s.mu.Lock()
			r := r.Clone(context.Background())
			s.late = append(s.late, func() { s.do(r, body) })
			s.mu.Unlock()
		}
		return nil, context.DeadlineExceeded
	case ambiguous:
		s.do(r, body)
		return errorAnswer(r, http.StatusInternalServerError, "InternalError"), nil
	}
	return s.do(r, body), nil
}

// failing is a body whose reads fail at the end.
type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func readBody(r *http.Request) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	body, err := io.ReadAll(r.Body)
	return body, errors.Join(err, r.Body.Close())
}

// do executes a request.
func (s *Server) do(r *http.Request, body []byte) *http.Response {
	r = r.Clone(context.Background())
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.RequestURI = r.URL.RequestURI()
	if r.Method != http.MethodGet {
		r.Header.Set("Content-Length", strconv.Itoa(len(body)))
	}
	if s.Blind {
		r.Header.Del("If-Match")
		r.Header.Del("If-None-Match")
	}
	if tag := r.Header.Get("If-Match"); tag != "" && s.Unquoted {
		if strings.HasPrefix(tag, `"`) {
			return errorAnswer(r, http.StatusPreconditionFailed, "PreconditionFailed")
		}
		r.Header.Set("If-Match", `"`+tag+`"`)
	}
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	answer := w.Result()
	answer.Header.Set("Date", s.Now().UTC().Format(http.TimeFormat))
	answer.Request = r
	s.mu.Lock()
	s.bytes += int64(w.Body.Len() + len(body))
	s.mu.Unlock()
	return answer
}

func errorAnswer(r *http.Request, status int, code string) *http.Response {
	text := "<Error><Code>" + code + "</Code><Message>by a test</Message></Error>"
	return &http.Response{StatusCode: status, Status: http.StatusText(status), ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"application/xml"}}, Body: io.NopCloser(strings.NewReader(text)),
		ContentLength: int64(len(text))}
}

// kindOf returns LIST for listings, DELETE also for a POST that deletes several objects, and
// otherwise the method.
func kindOf(r *http.Request) string {
	switch q := r.URL.Query(); {
	case q.Has("list-type"):
		return "LIST"
	case q.Has("delete"):
		return "DELETE"
	}
	return r.Method
}

// Requests returns the number of requests of each kind: GET, PUT, LIST, DELETE.
func (s *Server) Requests() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]int{}
	for k, n := range s.counts {
		out[k] = n
	}
	return out
}

// Deliver executes delayed requests.
func (s *Server) Deliver() {
	s.mu.Lock()
	due := s.late
	s.late = nil
	s.mu.Unlock()
	for _, f := range due {
		f()
	}
}
