package api

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/test/fixture"
)

// togetherAnswer is one response of /api/v1/answers: a line that identifies the query, and the
// body.
type togetherAnswer struct {
	Ask    int               `json:"ask"`
	Status int               `json:"status"`
	Header map[string]string `json:"header"`
	Body   string            `json:"-"`
}

// askTogether sends several queries in one request and returns their responses in the order of the
// queries.
func askTogether(t *testing.T, h http.Handler, questions ...string) []togetherAnswer {
	t.Helper()
	w := recorded(h, "/api/v1/answers?"+url.Values{"ask": questions}.Encode())
	if w.Code != http.StatusOK {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	all := make([]togetherAnswer, len(questions))
	lines := bufio.NewScanner(w.Body)
	lines.Buffer(nil, 10<<20)
	n := 0
	for ; lines.Scan(); n++ {
		var a togetherAnswer
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			t.Fatalf("%v: %s", err, lines.Text())
		}
		if !lines.Scan() {
			t.Fatalf("query %d has no body", a.Ask)
		}
		a.Body = lines.Text()
		all[a.Ask] = a
	}
	if n != len(questions) {
		t.Fatalf("got %d responses to %d queries", n, len(questions))
	}
	return all
}

// Responses to combined queries equal the responses to single queries, errors included.
func TestTogether(t *testing.T) {
	l, _ := rolledField(t, 300)
	alone := Handler(l, Options{Now: fixture.Now})
	h := Together(alone)
	questions := []string{
		"series?since=7d&step=all", "series?since=7d&page=%2Ffeed", "pages?since=7d", "catalog",
		"coverage?since=7d&limit=2",
		"top?since=7d&limit=3", "labels?since=7d", "series?sinc=7d", "budgets",
		"compare?since=7d&release=a&compare_release=b",
	}
	for i, got := range askTogether(t, h, questions...) {
		want := recorded(alone, "/api/v1/"+questions[i])
		if got.Status != want.Code || got.Body != strings.TrimSpace(want.Body.String()) {
			t.Errorf("%s: got %d %.200s, alone %d %.200s", questions[i], got.Status, got.Body,
				want.Code, want.Body)
		}
		if got.Header["ETag"] != want.Header().Get("ETag") {
			t.Errorf("%s: the ETag is %q, alone %q", questions[i], got.Header["ETag"], want.Header().Get("ETag"))
		}
	}
}

// An invalid combination is refused before any query runs.
func TestTogetherRefuses(t *testing.T) {
	h := Together(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a query ran") }))
	for name, c := range map[string]struct{ query, want string }{
		"nothing":           {"", "0 queries"},
		"too much":          {strings.Repeat("ask=catalog&", mostTogether+1), "17 queries"},
		"another parameter": {"ask=catalog&since=7d", `no parameter "since"`},
		"single views":      {"ask=view?id=x", `"view" cannot be combined`},
		"their list":        {"ask=catalog&ask=views", `"views" cannot be combined`},
		"itself":            {"ask=answers?ask=catalog", `"answers" cannot`},
		"another way":       {"ask=catalog/../view", `cannot be combined`},
		"metrics":           {"ask=../../metrics", `cannot be combined`},
		"no query":          {"ask=%zz", "parse parameters"},
	} {
		w := recorded(h, "/api/v1/answers?"+c.query)
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), strings.ReplaceAll(c.want,
			`"`, `\"`)) {
			t.Errorf("%s: got %d %s, want %s", name, w.Code, w.Body, c.want)
		}
	}
}

// A response that is too long is an error of its query alone, and so is an invalid one.
func TestTogetherBounds(t *testing.T) {
	h := Together(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("If-None-Match") != "" || r.Header.Get("Accept-Encoding") != "":
			t.Error("the query allows 304 or compression")
		case r.URL.Path == "/api/v1/top":
			for range longestResponse/1000 + 1 {
				_, _ = w.Write(make([]byte, 1000))
			}
		case r.URL.Path == "/api/v1/stats":
			_, _ = w.Write([]byte("two\nlines"))
		default:
			_, _ = w.Write([]byte(`{"fine":true}`))
		}
	}))
	got := askTogether(t, h, "top", "catalog", "stats")
	for i, want := range []int{http.StatusRequestEntityTooLarge, http.StatusOK, http.StatusInternalServerError} {
		if got[i].Status != want {
			t.Errorf("query %d: got %d %s, want %d", i, got[i].Status, got[i].Body, want)
		}
	}
	if got[1].Body != `{"fine":true}` {
		t.Errorf("got %s", got[1].Body)
	}
}

// Combined queries start in order, a few at the same time.
func TestTogetherTurns(t *testing.T) {
	var mu sync.Mutex
	begun, running, most := []string{}, 0, 0
	h := Together(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		begun = append(begun, r.URL.Query().Get("n"))
		running++
		most = max(most, running)
		mu.Unlock()
		time.Sleep(2 * time.Millisecond)
		mu.Lock()
		running--
		mu.Unlock()
		_, _ = w.Write([]byte(`{}`))
	}))
	questions := make([]string, mostTogether)
	for i := range questions {
		questions[i] = fmt.Sprintf("series?n=%d", i)
	}
	askTogether(t, h, questions...)
	atOnce := max(leastAtOnce, runtime.GOMAXPROCS(0))
	if most > atOnce {
		t.Errorf("%d ran concurrently, want at most %d", most, atOnce)
	}
	// A query gets its slot in order, but may be overtaken before it starts, on a busy machine by
	// many. It holds its slot meanwhile, so the number of late queries is less than the number of
	// slots.
	seen := map[int]bool{}
	for _, n := range begun {
		at, err := strconv.Atoi(n)
		late := 0
		for before := range at {
			if !seen[before] {
				late++
			}
		}
		if seen[at] = true; err != nil || late >= atOnce {
			t.Errorf("the queries began in the order %v", begun)
			break
		}
	}
}

// A panic in one query does not affect the other queries, and is passed on to the server.
func TestTogetherPanics(t *testing.T) {
	h := Together(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/v1/top" {
			panic("top")
		}
		_, _ = w.Write([]byte(`{}`))
	}))
	w := httptest.NewRecorder()
	func() {
		defer func() {
			if v := recover(); v != "top" {
				t.Errorf("got %v", v)
			}
		}()
		h.ServeHTTP(w, httptest.NewRequest("GET", "/api/v1/answers?ask=top&ask=catalog", nil))
	}()
	for _, want := range []string{`"ask":0,"status":500`, `"ask":1,"status":200`} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("got %s, want %s", w.Body, want)
		}
	}
}

func recorded(h http.Handler, target string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", target, nil))
	return w
}

// The total size of combined responses is bounded, and queries beyond the bound do not run.
func TestTogetherIsBounded(t *testing.T) {
	var asked atomic.Int64
	large := append(append([]byte{'"'}, bytes.Repeat([]byte{'x'}, longestResponse-2)...), '"')
	h := Together(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		_, _ = w.Write(large)
	}))
	questions := make([]string, mostTogether)
	for i := range questions {
		questions[i] = "top"
	}
	whole, refused := 0, 0
	for i, got := range askTogether(t, h, questions...) {
		switch {
		case got.Status == http.StatusOK && len(got.Body) == len(large):
			whole++
		case got.Status == http.StatusRequestEntityTooLarge && strings.Contains(got.Body, "send the query alone"):
			refused++
		default:
			t.Errorf("query %d: got %d %.100s", i, got.Status, got.Body)
		}
	}
	atOnce := max(leastAtOnce, runtime.GOMAXPROCS(0))
	if whole != longestTogether/longestResponse || refused != mostTogether-whole || int(asked.Load()) > whole+2*atOnce {
		t.Errorf("%d complete responses, %d refused, %d queries ran", whole, refused, asked.Load())
	}
}
