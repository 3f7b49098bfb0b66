package deletions

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/store/shared/deletion"
)

// failing is a [Store] that accepts deletions unless err is set.
type failing struct {
	Store
	err error
}

func (f failing) Delete(_ context.Context, s deletion.Selection, by string, dryRun bool) (*deletion.Request, error) {
	return &deletion.Request{ID: "ID", By: by, DryRun: dryRun, Selection: s}, f.err
}

// post sends a request and returns the status and whether changes of pages were forgotten.
func post(t *testing.T, s Store, body string) (status int, forgotten bool) {
	t.Helper()
	mux := http.NewServeMux()
	Add(mux, s, Options{
		Who:    func(*http.Request) string { return "test" },
		Note:   func(*http.Request, *deletion.Request) {},
		Forget: func(context.Context, func(string) bool) error { forgotten = true; return nil },
	})
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/deletions",
		strings.NewReader(body)))
	return w.Code, forgotten
}

// Changes of pages are forgotten only once the deletion is stored.
func TestForgetAfterDelete(t *testing.T) {
	for _, tt := range []struct {
		err       error
		body      string
		status    int
		forgotten bool
	}{
		{nil, `{"page": "/a"}`, http.StatusOK, true},
		{nil, `{"page": "/a", "dry_run": true}`, http.StatusOK, false},
		{errors.New("no room"), `{"page": "/a"}`, http.StatusServiceUnavailable, false},
		{&deletion.TooManyError{}, `{"page": "/a"}`, http.StatusTooManyRequests, false},
	} {
		status, forgotten := post(t, failing{err: tt.err}, tt.body)
		if status != tt.status || forgotten != tt.forgotten {
			t.Errorf("%s, %v: got %d, forgotten %t, want %d, %t", tt.body, tt.err, status, forgotten, tt.status,
				tt.forgotten)
		}
	}
}

// A request is rejected if its sender could have meant a smaller selection.
func TestAmbiguousRequests(t *testing.T) {
	for _, body := range []string{
		`{"page": "/a", "dry_run": true, "dry_run": false}`,
		`{"page": "/a", "page": "/b"}`,
		`{"labels": {"tenant": "a", "tenant": "b"}}`,
		`{"site": "shop", "PAGE": "/a"}`,
		`{"page": "/a", "Dry_Run": true}`,
		`{"page": "/a", "ſince": "2026-11-20T08:00:00Z"}`,
		`{"site": "shop", "page": null}`,
		`{"site": "shop", "page": ""}`,
		`{"site": "shop", "views": []}`,
		`{"site": "shop", "labels": {}}`,
		`{"page": "/a"}}`,
		`{"page": "/a"}]`,
		`{"page": "/a"} {}`,
		`{"page": "/a"`,
		`[{"page": "/a"}]`,
		`"page"`,
		`{}`,
		``,
	} {
		if status, _ := post(t, failing{}, body); status != http.StatusBadRequest {
			t.Errorf("%s: got %d, want %d", body, status, http.StatusBadRequest)
		}
	}
	const ok = ` {"site": "shop", "views": ["5f0c1d0000000000000000000000feed"], "labels": {"tenant": "a"}, ` +
		`"dry_run": false} `
	if status, _ := post(t, failing{}, ok); status != http.StatusOK {
		t.Errorf("%s: got %d", ok, status)
	}
}
