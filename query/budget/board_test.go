package budget

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
)

func parse(t *testing.T, file string) *File {
	t.Helper()
	f, err := Parse(strings.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func now() time.Time { return noon }

// Responses match the description of the API.
func TestBoardAnswers(t *testing.T) {
	doc, err := openapi3.NewLoader().LoadFromFile("../api/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	l := field(t)
	fresh, board := NewBoard(l, parse(t, "budgets:"+fieldBudgets), now),
		NewBoard(l, parse(t, "budgets:"+fieldBudgets), now)
	if _, err := board.Evaluate(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		board          *Board
		method, target string
		status         int
		want           string
	}{
		{board, "GET", "/api/v1/budgets", 200,
			`{"evaluated":"2026-11-21T12:30:00Z","budgets":[{"name":"p75","page":"/feed","metric":"p75","of":"time",` +
				`"unit":"ms","since":"24h","limit":10,`},
		{board, "GET", "/api/v1/budgets?page=/x", 400, `{"error":"unknown parameter \"page\"; this path has none"}`},
		{board, "GET", "/api/v1/budgets?%", 400, `query string: `},
		{board, "POST", "/api/v1/budgets", 405, "answers GET"},
		{fresh, "GET", "/api/v1/budgets", 503, "not evaluated yet"},
		{NewBoard(nil, nil, time.Now), "GET", "/api/v1/budgets", 404, "give ingest --budgets FILE"},
	} {
		w := httptest.NewRecorder()
		test.board.ServeHTTP(w, httptest.NewRequest(test.method, test.target, nil))
		if w.Code != test.status || !strings.Contains(w.Body.String(), test.want) {
			t.Errorf("%s %s: %d %.300s", test.method, test.target, w.Code, w.Body)
		}
		response := doc.Paths.Value("/api/v1/budgets").Get.Responses.Status(w.Code)
		if response == nil {
			t.Errorf("%s %s: status %d is not described", test.method, test.target, w.Code)
			continue
		}
		var v any
		if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
			t.Errorf("%s: %v", test.target, err)
		} else if err := response.Value.Content.Get("application/json").Schema.Value.VisitJSON(v,
			openapi3.MultiErrors()); err != nil {
			t.Errorf("%s: %v", test.target, err)
		}
	}
	if w := httptest.NewRecorder(); true {
		board.ServeHTTP(w, httptest.NewRequest(http.MethodHead, "/api/v1/budgets", nil))
		if w.Code != http.StatusOK {
			t.Errorf("HEAD: %d", w.Code)
		}
	}
}

// A board evaluates after the first delay, then every minute, and immediately when its file
// changes. An evaluation uses the state of the one before.
func TestBoardRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &counting{err: errors.New("broken")}
		b := NewBoard(src, parse(t, "budgets: [{name: a, metric: p75, limit: 1ms}]"), time.Now)
		b.state.blown = map[string]bool{"a": true}
		ended := make(chan struct{})
		var evaluations atomic.Int64
		ctx, stop := context.WithCancel(t.Context())
		go func() {
			defer close(ended)
			b.Run(ctx, 5*time.Second, time.Minute, func(e *Evaluation) {
				if evaluations.Add(1); len(e.Budgets) != 1 || e.Budgets[0].Verdict != Failed || !e.Budgets[0].Blown {
					t.Errorf("evaluation %d: %+v", evaluations.Load(), e)
				}
			})
		}()
		for i, wait := range []time.Duration{4 * time.Second, 2 * time.Second, time.Minute, 50 * time.Second} {
			time.Sleep(wait)
			synctest.Wait()
			if want := []int64{0, 1, 2, 2}[i]; evaluations.Load() != want {
				t.Errorf("step %d: %d evaluations, want %d", i, evaluations.Load(), want)
			}
		}
		b.SetFile(parse(t, "budgets: [{name: a, metric: p50, limit: 1ms}]"))
		b.SetFile(parse(t, "budgets: [{name: a, metric: p95, limit: 1ms}]"))
		synctest.Wait()
		if evaluations.Load() < 3 || b.Last().Budgets[0].Metric != P95 {
			t.Errorf("after a change: %d evaluations, %+v", evaluations.Load(), b.Last())
		}
		stop()
		<-ended
	})
}
