package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fieldtrie/fieldtrie/internal/requests"
	"github.com/fieldtrie/fieldtrie/rules/access"
)

// The detail of a refusal is logged as printable text of bounded length, whatever a provider or a
// client put into it.
func TestRefusalDetail(t *testing.T) {
	var out bytes.Buffer
	refused := countRefused(prometheus.NewRegistry(), requests.NewRefusals(slog.New(slog.NewJSONHandler(&out, nil))))
	r := httptest.NewRequest(http.MethodGet, "/login/start", nil)
	refused(r, access.ReasonProvider, errors.New("503 \u202e\x1b[31m\n"+strings.Repeat("ä", 1<<20)))
	refused(r, access.ReasonScope, nil)
	refused(r, access.ReasonAnonymous, errors.New("not logged"))
	var lines []map[string]any
	for d := json.NewDecoder(&out); d.More(); {
		line := map[string]any{}
		if err := d.Decode(&line); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
	if len(lines) != 2 {
		t.Fatalf("got %d lines, want 2", len(lines))
	}
	got, _ := lines[0]["err"].(string)
	if !strings.HasPrefix(got, "503 \ufffd\ufffd[31m\ufffdä") || len([]rune(got)) != maxDetail {
		t.Errorf("got %.40q of %d characters, want %d", got, len([]rune(got)), maxDetail)
	}
	if err, ok := lines[1]["err"]; ok {
		t.Errorf("got %v, want no detail", err)
	}
}
