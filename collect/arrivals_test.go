package collect

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestArrivals sends the requests of an incomplete setup.
func TestArrivals(t *testing.T) {
	now := time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC)
	col, _ := newCollector(Options{Origins: []string{"https://www.example.com"}, Now: func() time.Time { return now }})
	if text, _ := json.Marshal(col.Arrivals()); string(
		text) != `{"since":"2026-11-03T12:00:00Z","traces":0,"unprofiled":[],"refused":[]}` {
		t.Fatalf("before any request: %s", text)
	}
	for _, report := range []string{`{"page":"/a","outcome":"header"}`, `{"page":"/b","outcome":"header","weight":11}`,
		`{"page":"/","outcome":"unsupported"}`} {
		now = now.Add(time.Second)
		postView(t, col, report, "Origin", "https://www.example.com")
	}
	for _, origin := range []string{"https://shop.example", "https://www.example.com", "https://shop.example"} {
		now = now.Add(time.Second)
		post(t, col, traceJSON("f", ""), "Origin", origin)
	}
	now = now.Add(time.Second)
	post(t, col, "{", "Origin", "https://www.example.com")

	got := col.Arrivals()
	if got.Traces != 1 {
		t.Errorf("%d traces, want 1", got.Traces)
	}
	at := func(seconds int) time.Time { return got.Since.Add(time.Duration(seconds) * time.Second) }
	if want := []Unprofiled{{"unsupported", 1, at(3)},
		{"header", 12, at(2)}}; fmt.Sprint(got.Unprofiled) != fmt.Sprint(want) {
		t.Errorf("page views without a profile: %v, want %v", got.Unprofiled, want)
	}
	if len(got.Refused) != 2 || got.Refused[0].Reason != "malformed" || got.Refused[0].Requests != 1 {
		t.Fatalf("refused: %+v", got.Refused)
	}
	want := Refused{"origin", "https://shop.example",
		`header Origin: "https://shop.example" may not send traces here; allow it with --allow-origin ` +
			`https://shop.example`, 2, at(6)}
	if got.Refused[1] != want {
		t.Errorf("refused: %+v, want %+v", got.Refused[1], want)
	}
}

// TestArrivalsAreBounded sends more origins than are kept, one of them repeatedly, and one that is
// too long.
func TestArrivalsAreBounded(t *testing.T) {
	now := time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC)
	col, _ := newCollector(Options{Origins: []string{"https://www.example.com"}, Now: func() time.Time { return now }})
	for i := range 5 * mostRefused {
		now = now.Add(time.Second)
		post(t, col, traceJSON("f", ""), "Origin", fmt.Sprintf("https://%d.example", i))
		now = now.Add(time.Second)
		post(t, col, traceJSON("f", ""), "Origin", "https://shop.example")
	}
	now = now.Add(time.Second)
	post(t, col, traceJSON("f", ""), "Origin", "https://"+strings.Repeat("long.", 10_000))
	got := col.Arrivals().Refused
	if len(got) != mostRefused || got[1].Origin != "https://shop.example" || got[1].Requests != 5*mostRefused {
		t.Fatalf("%d origins are kept, the second is %+v", len(got), got[1])
	}
	for i, r := range got {
		if n := len(r.Origin) + len(r.Error); n > 2*mostRefusedMessage+10 {
			t.Errorf("%d bytes of an origin are kept", n)
		}
		if i > 0 && r.Last.After(got[i-1].Last) {
			t.Errorf("%+v is listed after %+v", r, got[i-1])
		}
	}
}
