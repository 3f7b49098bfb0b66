package pyroscope

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// token is the token for the private address.
const token = "a-token-of-the-tests-which-is-no-secret"

// daemon is a running ingest.
type daemon struct {
	public, private string // URLs
	client          *http.Client
}

// withToken sends a token, like Grafana with a custom header of a data source.
type withToken struct{}

func (withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+token)
	return http.DefaultTransport.RoundTrip(r)
}

// startDaemon builds ingest and starts it, with traces of several pages and releases.
func startDaemon(t *testing.T) *daemon {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(os.Getenv("PROGRAMS"), "ingest") // set by make test
	if os.Getenv("PROGRAMS") == "" {
		program = filepath.Join(dir, "ingest")
		build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./cmd/ingest")
		build.Dir = filepath.FromSlash("../../..")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("build ingest: %v\n%s", err, out)
		}
	}
	rules := filepath.Join(dir, "access.yaml")
	text := fmt.Sprintf("tokens:\n  - name: grafana\n    sha256: %x\n    scopes: [query]\n",
		sha256.Sum256([]byte(token)))
	if err := os.WriteFile(rules, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	public, private := freeAddr(t), freeAddr(t)
	// The context of the test would kill the daemon instead of stopping it.
	cmd := exec.CommandContext(context.Background(), program, "--data", filepath.Join(dir, "data"),
		"--listen", public, "--query-listen", private, "--access", rules, "--site", "shop")
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil || t.Failed() {
			t.Errorf("ingest ended with %v\n%s", err, log.String())
		}
	})
	d := &daemon{public: "http://" + public, private: "http://" + private, client: &http.Client{Transport: withToken{}}}
	d.waitReady(t)
	for i, name := range []string{"jquery", "vue", "backbone", "react-redux"} {
		d.send(t, name, i)
	}
	return d
}

func freeAddr(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	return ln.Addr().String()
}

func (d *daemon) waitReady(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		resp, err := http.Get(d.private + "/readyz")
		if err != nil {
			continue
		}
		_ = resp.Body.Close()
		if resp.StatusCode == http.StatusOK {
			return
		}
	}
	t.Fatal("ingest is not ready")
}

// send sends a sample trace; its number determines page and release.
func (d *daemon) send(t *testing.T, name string, number int) {
	t.Helper()
	file, err := os.Open(filepath.FromSlash("../../../testdata/traces/" + name + ".json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var trace map[string]any
	if err := json.NewDecoder(z).Decode(&trace); err != nil {
		t.Fatal(err)
	}
	trace["page"] = []string{"/feed", "/shop"}[number%2]
	trace["release"] = []string{"2026.11.1", "2026.11.2"}[number/2]
	body, err := json.Marshal(trace)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post(d.public+"/v1/traces", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if answer, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusAccepted {
		t.Fatalf("%s: %s %s", name, resp.Status, answer)
	}
}

// get queries the private address for a response that covers all traces sent before.
func (d *daemon) get(t *testing.T, path string) []byte {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.private+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Cache-Control", "no-cache")
	resp, err := d.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s %s %v", path, resp.Status, body, err)
	}
	return body
}
