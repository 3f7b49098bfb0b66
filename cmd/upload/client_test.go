package main

import (
	"bytes"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/symbols"
)

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"":                              -1,
		"soon":                          -1,
		"-5":                            -1,
		"0":                             0,
		"90":                            90 * time.Second,
		"99999999999999999999":          -1,
		"Sat, 21 Nov 2026 12:00:30 GMT": 30 * time.Second,
		"Sat, 21 Nov 2026 11:00:00 GMT": 0,
	} {
		got, ok := retryAfter(value, now)
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("%q: got %v, %v, want %v", value, got, ok, want)
		}
	}
}

// TestTLS checks which servers the client trusts, and that it does not retry with other servers.
func TestTLS(t *testing.T) {
	d := &fakeDaemon{tables: map[string]*symbols.Table{}, counts: map[string]int{}, seen: map[string]int{}}
	server := httptest.NewUnstartedServer(d)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(ca, certificate, 0o600); err != nil {
		t.Fatal(err)
	}
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	for _, c := range []struct {
		name string
		args []string
		want string // error; "" for none
	}{
		{"a configured authority", []string{"--addr", server.URL, "--ca", ca}, ""},
		{"an unknown authority", []string{"--addr", server.URL}, "certificate"},
		{"no TLS to a TLS server", []string{"--addr", strings.Replace(server.URL, "https", "http", 1)},
			"400 Bad Request; if it speaks TLS, give its address with https://"},
		{"TLS to a server without it", []string{"--addr", strings.Replace(plain.URL, "http", "https", 1)},
			"HTTP response to HTTPS client"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv(tokenVariable, "")
			var stdout, stderr bytes.Buffer
			args := append([]string{"--release", "1", "testdata/shop"}, c.args...)
			err := run(t.Context(), time.Millisecond, args, strings.NewReader(""), &stdout, &stderr)
			switch {
			case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got %v, want %q", err, c.want)
			case strings.Contains(stderr.String(), "once more"):
				t.Errorf("retried: %s", &stderr)
			}
		})
	}
}
