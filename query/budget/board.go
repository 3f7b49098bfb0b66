package budget

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/fieldtrie/fieldtrie/query"
)

// Evaluation is the status of all budgets at one time.
type Evaluation struct {
	Evaluated time.Time `json:"evaluated"`
	Budgets   []Status  `json:"budgets"` // in the order of the file
}

// Board evaluates budgets periodically and keeps the last evaluation, which it serves as an
// [http.Handler]. Without a file there are no budgets.
type Board struct {
	src     query.Source
	now     func() time.Time
	changed chan struct{} // holds one value after SetFile

	mu    sync.Mutex
	file  *File // nil if there are no budgets
	state State
	last  *Evaluation // nil before the first evaluation; immutable
}

// NewBoard returns a Board for the budgets of f, which may be nil. It uses the clock of the source.
func NewBoard(src query.Source, f *File, now func() time.Time) *Board {
	return &Board{src: src, file: f, now: now, changed: make(chan struct{}, 1)}
}

// SetFile replaces the budgets. Run then evaluates them immediately.
func (b *Board) SetFile(f *File) {
	b.mu.Lock()
	b.file = f
	b.mu.Unlock()
	select {
	case b.changed <- struct{}{}:
	default:
	}
}

// Has reports whether there is a file with budgets.
func (b *Board) Has() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.file != nil
}

// Last returns the last evaluation, or nil before the first.
func (b *Board) Last() *Evaluation {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.last
}

// Run evaluates the budgets after first, and then at intervals of every, until ctx is done. It
// calls done after each evaluation.
func (b *Board) Run(ctx context.Context, first, every time.Duration, done func(*Evaluation)) {
	timer := time.NewTimer(first)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-b.changed:
		}
		if !b.Has() {
			continue
		}
		e, err := b.Evaluate(ctx)
		if err != nil { // ctx is done
			return
		}
		done(e)
		timer.Reset(every)
	}
}

// Evaluate evaluates the budgets now. It must not be called concurrently.
func (b *Board) Evaluate(ctx context.Context) (*Evaluation, error) {
	b.mu.Lock()
	file := b.file
	b.mu.Unlock()
	now := b.now()
	all, err := Evaluate(ctx, b.src, file, now)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.state.Apply(all)
	b.last = &Evaluation{now.UTC(), all}
	return b.last, nil
}

// Only returns a handler that serves only the budgets of pages for which takes returns true, or all
// budgets if takes is nil. Budgets of all pages require access to all pages.
func (b *Board) Only(takes func(page string) bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { b.serve(w, r, takes) })
}

// ServeHTTP serves the last evaluation. Errors are JSON objects with one key, error, like those of
// [query.Handler].
func (b *Board) ServeHTTP(w http.ResponseWriter, r *http.Request) { b.serve(w, r, nil) }

func (b *Board) serve(w http.ResponseWriter, r *http.Request, takes func(page string) bool) {
	refuse := func(status int, text string) { writeJSON(w, status, map[string]string{"error": text}) }
	parameters, err := url.ParseQuery(r.URL.RawQuery)
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		refuse(http.StatusMethodNotAllowed, r.URL.Path+" answers GET")
	case err != nil:
		refuse(http.StatusBadRequest, "query string: "+err.Error())
	case len(parameters) > 0:
		refuse(http.StatusBadRequest, fmt.Sprintf("unknown parameter %q; this path has none",
			slices.Min(slices.Collect(maps.Keys(parameters)))))
	case !b.Has():
		refuse(http.StatusNotFound, "there are no budgets: give ingest --budgets FILE")
	default:
		if e := b.Last(); e != nil {
			w.Header().Set("Cache-Control", "private, no-cache")
			if takes != nil {
				some := *e
				some.Budgets = slices.DeleteFunc(slices.Clone(e.Budgets), func(s Status) bool { return !takes(s.Page) })
				e = &some
			}
			writeJSON(w, http.StatusOK, e)
			return
		}
		w.Header().Set("Retry-After", "5")
		refuse(http.StatusServiceUnavailable, "the budgets are not evaluated yet: try again")
	}
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may have disconnected
}
