// Package requests gives requests ids, and logs some of those that are refused: enough to see what goes wrong, and never so
// many that somebody who is refused could fill the disk.
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

// Header has the id of a request, in the request if a proxy gave one, and in the response.
const Header = "X-Request-Id"

// WithIDs gives each request an id, which its response has too: that of its header, if that is up to 64 letters, digits,
// dots, hyphens and underscores, or a random one.
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

// ID returns the id of a request, "" if it did not come through [WithIDs].
func ID(r *http.Request) string { return r.Header.Get(Header) }

// The log has all refusals up to a number of one reason, then one each interval. Further reasons count as one.
const (
	firstOfReason = 10
	interval      = 10 * time.Second
	maxReasons    = 128
	otherReasons  = "others"
)

// Refusals logs requests that are refused. It is safe for concurrent use.
type Refusals struct {
	log *slog.Logger
	now func() time.Time

	mu      sync.Mutex
	reasons map[string]*sampled
}

// sampled is what is known of the refusals for one reason.
type sampled struct {
	logged int
	last   time.Time // logged
	silent int       // refusals since then
}

// NewRefusals returns a log of refusals that goes to log.
func NewRefusals(log *slog.Logger) *Refusals {
	return &Refusals{log: log, now: time.Now, reasons: map[string]*sampled{}}
}

// Note logs that a request was refused for a reason, of which there are few, unless there were many of them lately. With it
// stand the id of the request, how many refusals for this reason were not logged before it, and what more returns,
// which is called for a line of the log only.
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

// noted is the key of what says, in the context of a request, whether that was noted.
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

// IsProbe reports whether a request asks how the daemon is. An answer of 503 refuses nothing, and supervisors ask all the time.
func IsProbe(r *http.Request) bool { return r.URL.Path == "/healthz" || r.URL.Path == "/readyz" }

// isAnswer reports whether a response is the answer to the question whether something exists, such as
// by upload for each of its tables.
func isAnswer(r *http.Request, status int) bool {
	return r.Method == http.MethodHead && status == http.StatusNotFound
}

// Of notes the responses of a handler that say an error, unless the handler noted the request itself. Those with 401 and 403
// are left to it, since browsers ask without a login first, and probes are no refusals. The reason is the status; what the
// response says stands with it.
func (f *Refusals) Of(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen, done := Watch(w), false
		h.ServeHTTP(seen, r.WithContext(context.WithValue(r.Context(), noted{}, &done)))
		switch status := seen.Status(); {
		case status < 400, done, IsProbe(r), isAnswer(r, status), status == http.StatusUnauthorized, status == http.StatusForbidden:
		default:
			level := slog.LevelInfo
			if status >= 500 || status == http.StatusTooManyRequests {
				level = slog.LevelWarn
			}
			f.Note(r, level, http.StatusText(status), func() []any { return []any{"status", status, "err", errorOf(seen.start), "from", r.RemoteAddr} })
		}
	})
}

// Response is the writer of a response of which the status is known, and of one with an error how its body begins.
type Response struct {
	http.ResponseWriter
	status int
	start  []byte
}

// Watch returns a writer of a response.
func Watch(w http.ResponseWriter) *Response { return &Response{ResponseWriter: w} }

// Status returns the status: 200 as long as there is none.
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

// Unwrap lets [http.ResponseController] find what is below.
func (w *Response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// errorOf returns the error that a body begins with: that of its JSON, or its first line.
func errorOf(start []byte) string {
	var said struct{ Error string }
	if json.Unmarshal(start, &said) == nil && said.Error != "" {
		return said.Error
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(start)), "\n")
	return line
}
