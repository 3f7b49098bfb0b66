package requests

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// A valid id from a proxy is kept, otherwise a request gets its own; the response has the same id.
func TestIDs(t *testing.T) {
	for sent, kept := range map[string]bool{
		"": false, "a": true, "7f3-A_b.9": true, strings.Repeat("x", 64): true, strings.Repeat("x", 65): false,
		"a b": false, "a\"b": false, "ä": false,
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set(Header, sent)
		w, seen := httptest.NewRecorder(), ""
		WithIDs(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen = ID(r) })).ServeHTTP(w, r)
		if seen == "" || seen != w.Header().Get(Header) || (seen == sent) != kept {
			t.Errorf("%q: the handler has %q, the response %q", sent, seen, w.Header().Get(Header))
		}
	}
}

// For any sequence of refusals, the log has the first of each reason, then one in ten seconds, and
// log lines plus skipped refusals add up to the total.
func TestRefusals(t *testing.T) {
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		var out bytes.Buffer
		f := NewRefusals(slog.New(slog.NewJSONHandler(&out, nil)))
		now := time.Unix(1e9, 0)
		f.now = func() time.Time { return now }
		sent, last := map[string]int{}, map[string]time.Time{}
		for range 5000 {
			reason := fmt.Sprint("reason ", rnd.IntN(4))
			sent[reason]++
			before := out.Len()
			f.Note(httptest.NewRequest(http.MethodPost, "/", nil), slog.LevelWarn, reason, func() []any { return nil })
			switch logged := out.Len() > before; {
			case !logged && (sent[reason] <= firstOfReason || now.Sub(last[reason]) >= interval):
				t.Fatalf("seed %d: a refusal is missing", seed)
			case logged && sent[reason] > firstOfReason && now.Sub(last[reason]) < interval:
				t.Fatalf("seed %d: a refusal too many", seed)
			case logged:
				last[reason] = now
			}
			now = now.Add(time.Duration(rnd.IntN(100)) * time.Millisecond)
		}
		now = now.Add(time.Hour)
		counted := map[string]int{}
		for reason := range sent {
			sent[reason]++
			f.Note(httptest.NewRequest(http.MethodPost, "/", nil), slog.LevelWarn, reason, func() []any { return nil })
		}
		for line := range bytes.Lines(out.Bytes()) {
			var l struct {
				Reason    string
				NotLogged int `json:"not_logged"`
			}
			if err := json.Unmarshal(line, &l); err != nil {
				t.Fatal(err)
			}
			counted[l.Reason] += 1 + l.NotLogged
		}
		for reason, n := range sent {
			if counted[reason] != n {
				t.Errorf("seed %d: %s: %d in the log of %d", seed, reason, counted[reason], n)
			}
		}
	}
}

// Many different reasons are combined, so that memory is bounded.
func TestManyReasons(t *testing.T) {
	f := NewRefusals(slog.New(slog.DiscardHandler))
	for i := range 10 * maxReasons {
		f.Note(httptest.NewRequest(http.MethodGet, "/", nil), slog.LevelInfo, fmt.Sprint(i), func() []any {
			return nil
		})
	}
	if len(f.reasons) > maxReasons+1 {
		t.Errorf("%d reasons", len(f.reasons))
	}
}

// A refusal that the handler noted with its own reason is one log line.
func TestNotedOnce(t *testing.T) {
	var out bytes.Buffer
	f := NewRefusals(slog.New(slog.NewJSONHandler(&out, nil)))
	f.Of(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.Note(r.Clone(r.Context()), slog.LevelWarn, "busy", func() []any { return nil })
		w.WriteHeader(http.StatusTooManyRequests)
	})).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/login", nil))
	if n := bytes.Count(out.Bytes(), []byte("\n")); n != 1 || !strings.Contains(out.String(), `"reason":"busy"`) {
		t.Errorf("the log has %s", &out)
	}
}

// A probe never counts as refused.
func TestProbe(t *testing.T) {
	var out bytes.Buffer
	f := NewRefusals(slog.New(slog.NewJSONHandler(&out, nil)))
	for _, path := range []string{"/healthz", "/readyz"} {
		f.Of(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusServiceUnavailable)
		})).
			ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, path, nil))
	}
	if out.Len() > 0 {
		t.Errorf("the log has %s", &out)
	}
}

// An existence check does not count as refused.
func TestHead(t *testing.T) {
	for method, lines := range map[string]int{http.MethodHead: 0, http.MethodGet: 1} {
		var out bytes.Buffer
		f := NewRefusals(slog.New(slog.NewJSONHandler(&out, nil)))
		f.Of(http.NotFoundHandler()).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(method,
			"/v1/symbols/ab", nil))
		if n := bytes.Count(out.Bytes(), []byte("\n")); n != lines {
			t.Errorf("%s: the log has %d lines, not %d", method, n, lines)
		}
	}
}

// The log contains the error of a response in any format.
func TestOf(t *testing.T) {
	for _, c := range []struct {
		status    int
		body, err string // "": nothing is logged
	}{
		{200, "fine", ""},
		{304, "", ""},
		{401, "who?", ""},
		{403, "no", ""},
		{404, "404 page not found\n", "404 page not found"},
		{422, `{"error": "the query takes 300 MB"}`, "the query takes 300 MB"},
		{503, "busy\nmore", "busy"},
		{500, strings.Repeat("x", 3000), strings.Repeat("x", maxStart)},
	} {
		var out bytes.Buffer
		f := NewRefusals(slog.New(slog.NewJSONHandler(&out, nil)))
		h := WithIDs(f.Of(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.status)
			_, _ = w.Write([]byte(c.body))
		})))
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/v1/x?secret=1", nil))
		if w.Code != c.status || w.Body.String() != c.body {
			t.Errorf("%d: the response is %d %q", c.status, w.Code, w.Body)
		}
		var l struct {
			ID, Err, Path string
			Status        int
		}
		if c.err == "" {
			if out.Len() > 0 {
				t.Errorf("%d: the log has %s", c.status, &out)
			}
			continue
		}
		if err := json.Unmarshal(out.Bytes(), &l); err != nil || l.Err != c.err || l.Status != c.status ||
			l.Path != "/api/v1/x" || l.ID != w.Header().Get(Header) {
			t.Errorf("%d: the log has %s: %v", c.status, &out, err)
		}
	}
}
