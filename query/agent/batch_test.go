package agent

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// Batches with too many calls are refused before any call runs, because a call of a few bytes can
// return many kilobytes.
func TestBatches(t *testing.T) {
	srv := httptest.NewServer(Handler(Options{Open: Fixed(newSource(t))}))
	defer srv.Close()
	post := func(body string) (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(text)
	}
	batch := func(n int) string {
		var calls []string
		for i := range n {
			calls = append(calls, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`, i+1))
		}
		return "[" + strings.Join(calls, ",") + "]"
	}
	if status, text := post(batch(1)[1 : len(batch(1))-1]); status != http.StatusOK ||
		!strings.Contains(text, `"top_functions"`) {
		t.Errorf("one call: %d %.200s", status, text)
	}
	for _, n := range []int{mostCalls + 1, 5000} {
		if status, text := post(batch(n)); status != http.StatusBadRequest ||
			!strings.Contains(text, "a batch of more than 16 calls: send them one by one") {
			t.Errorf("%d calls: %d %.200s", n, status, text)
		}
	}
	if status, text := post(batch(mostCalls)); status == http.StatusOK && len(text) > 4<<20 {
		t.Errorf("%d calls return %d bytes", mostCalls, len(text))
	}
	if status, _ := post(" " + strings.Repeat(" ", maxRequest)); status != http.StatusRequestEntityTooLarge {
		t.Errorf("a long request: %d", status)
	}
	for _, bad := range []string{"[{", "[1,", "[" + strings.Repeat("[", 20000), "", "["} {
		if status, text := post(bad); status < 400 || status >= 500 {
			t.Errorf("%.20q: %d %.100s", bad, status, text)
		}
	}
	if !slices.Contains([]int{http.StatusBadRequest, http.StatusOK}, func() int { s, _ := post("[]"); return s }()) {
		t.Error("an empty batch")
	}
}
