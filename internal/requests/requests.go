// Package requests assigns ids to requests and logs refused requests. The log is sampled: it shows
// every kind of failure, but a client cannot fill the disk with refused requests.
package requests

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"
)

// Header is the header with the id of a request, in the response and in requests from proxies.
const Header = "X-Request-Id"

// WithIDs assigns an id to each request and its response: the id in the request header, if that has
// at most 64 letters, digits, dots, hyphens and underscores, or a random one.
func WithIDs(h http.Handler) http.Handler {
	proper := regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get(Header)
		if !proper.MatchString(id) {
			id = rand.Text()
			r.Header.Set(Header, id)
		}
		w.Header().Set(Header, id)
		h.ServeHTTP(w, r)
	})
}

// ID returns the id of a request, or "" if it did not pass [WithIDs].
func ID(r *http.Request) string { return r.Header.Get(Header) }

// For each reason, the log has the first refusals and then one per interval. Further reasons are
// combined.
const (
	firstOfReason = 10
	interval      = 10 * time.Second
	maxReasons    = 128
	otherReasons  = "others"
)

// Refusals logs refused requests. It is safe for concurrent use by multiple goroutines.
type Refusals struct {
	log *slog.Logger
	now func() time.Time

	mu      sync.Mutex
	reasons map[string]*sampled
}

// sampled is the state of the refusals for one reason.
type sampled struct {
	logged int
	last   time.Time // of the last log line
	silent int       // refusals since then
}

// NewRefusals returns a Refusals that writes to log.
func NewRefusals(log *slog.Logger) *Refusals {
	return &Refusals{log: log, now: time.Now, reasons: map[string]*sampled{}}
}

// Note logs a refused request, unless many were logged recently for the same reason. There must be
// few different reasons. The log line contains the id of the request, the number of refusals for
// this reason that were not logged before, and the attributes from more, which is called only for a
// log line.
func (f *Refusals) Note(r *http.Request, level slog.Level, reason string, more func() []any) {
	if done, ok := r.Context().Value(noted{}).(*bool); ok {
		*done = true
	}
	silent, ok := f.next(reason)
	if !ok {
		return
	}
	args := []any{"reason", reason, "id", ID(r), "method", r.Method, "path", r.URL.Path}
	if silent > 0 {
		args = append(args, "not_logged", silent)
	}
	f.log.Log(context.WithoutCancel(r.Context()), level, "refused", append(args, more()...)...)
}

// noted is a context key: whether a request was noted already.
type noted struct{}

// next reports whether the next refusal for a reason is logged, and how many before it were not.
func (f *Refusals) next(reason string) (silent int, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.reasons[reason] == nil && len(f.reasons) >= maxReasons {
		reason = otherReasons
	}
	s := f.reasons[reason]
	if s == nil {
		s = &sampled{}
		f.reasons[reason] = s
	}
	now := f.now()
	if s.logged >= firstOfReason && now.Sub(s.last) < interval {
		s.silent++
		return 0, false
	}
	silent = s.silent
	s.logged, s.last, s.silent = s.logged+1, now, 0
	return silent, true
}

// IsProbe reports whether a request is a health check. A 503 for it is not a refusal, and
// supervisors send probes continuously.
func IsProbe(r *http.Request) bool { return r.URL.Path == "/healthz" || r.URL.Path == "/readyz" }

// isAnswer reports whether an error status is the expected response to an existence check, such as
// from upload for each of its tables.
func isAnswer(r *http.Request, status int) bool {
	return r.Method == http.MethodHead && status == http.StatusNotFound
}

// Of notes the error responses of a handler, unless the handler has noted the request itself. It
// skips 401 and 403, since browsers first send requests without a login, and probes. The reason is
// the status; the log line has the error of the response.
func (f *Refusals) Of(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen, done := Watch(w), false
		h.ServeHTTP(seen, r.WithContext(context.WithValue(r.Context(), noted{}, &done)))
		switch status := seen.Status(); {
		case status < 400, done, IsProbe(r), isAnswer(r, status), status == http.StatusUnauthorized,
			status == http.StatusForbidden:
		default:
			level := slog.LevelInfo
			if status >= 500 || status == http.StatusTooManyRequests {
				level = slog.LevelWarn
			}
			f.Note(r, level, http.StatusText(status), func() []any {
				return []any{"status", status, "err", errorOf(seen.start), "from", r.RemoteAddr}
			})
		}
	})
}

// Response is a [http.ResponseWriter] that records the status and the beginning of an error
// response.
type Response struct {
	http.ResponseWriter
	status int
	start  []byte
}

// Watch returns a Response that passes the response on to w unchanged.
func Watch(w http.ResponseWriter) *Response { return &Response{ResponseWriter: w} }

// Status returns the status, 200 before one is written.
func (w *Response) Status() int { return cmp.Or(w.status, http.StatusOK) }

// maxStart is how many bytes of a body are kept.
const maxStart = 512

// WriteHeader implements [http.ResponseWriter].
func (w *Response) WriteHeader(status int) {
	if w.status < 200 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (w *Response) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	if w.status >= 400 {
		w.start = append(w.start, p[:min(len(p), maxStart-len(w.start))]...)
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap returns the underlying writer for [http.ResponseController].
func (w *Response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// errorOf returns the error in the beginning of a body: from its JSON, or its first line.
func errorOf(start []byte) string {
	var said struct{ Error string }
	if json.Unmarshal(start, &said) == nil && said.Error != "" {
		return said.Error
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(start)), "\n")
	return line
}
