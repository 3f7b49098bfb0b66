package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/test/programs"
)

// siteTrace returns a trace as JSON, on one of five pages, with the view id n in hexadecimal.
func siteTrace(n int64) string {
	return fmt.Sprintf(`{"page":"/feed/%c","viewId":"%032x","interval":10,`+
		`"trace":{"resources":["https://x.example/app.js"],`+
		`"frames":[{"name":"f%d","resourceId":0,"line":1,"column":%d}],"stacks":[{"frameId":0}],`+
		`"samples":[{"timestamp":0,"stackId":0},{"timestamp":10,"stackId":0}]}}`, 'a'+rune(n%5), n, n%500, n%1000+1)
}

// launchSites starts a daemon with sites and tokens. The key of a site is its first letter. tokens
// has the permissions of each token in the access file, by name; the secret is the name followed by
// "-token".
func launchSites(t *testing.T, tokens map[string]string, names ...string) *running {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	sites, keys, access := "", "", "tokens:\n"
	for _, name := range names {
		sites += fmt.Sprintf("- name: %s\n", name)
		keys += fmt.Sprintf("- {key: %c, site: %s}\n", name[0], name)
	}
	for name, may := range tokens {
		access += fmt.Sprintf("  - {name: %s, sha256: %x, %s}\n", name, sha256.Sum256([]byte(name+"-token")), may)
	}
	return launch(t, programs.Path(t, "ingest"), filepath.Join(dir, "data"),
		"--sites", write("sites.yaml", sites), "--keys", write("keys.yaml", keys), "--access",
		write("access.yaml", access))
}

// TestSitesUnderLoad lets one site send and query as much as it can, and another one a little. All
// traces of the quiet site are accepted and counted, and all its queries are answered.
func TestSitesUnderLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("it uses the whole machine")
	}
	d := launchSites(t, map[string]string{"loud": "sites: [loud]", "quiet": "sites: [quiet]"}, "loud", "quiet")
	defer d.end()
	client := &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 100}}
	do := func(req *http.Request) (status int, body []byte) {
		res, err := client.Do(req)
		if err != nil {
			return 0, []byte(err.Error())
		}
		defer func() { _ = res.Body.Close() }()
		body, _ = io.ReadAll(res.Body)
		return res.StatusCode, body
	}
	send := func(key, body string) (int, []byte) {
		req, err := http.NewRequest(http.MethodPost, d.public+"/v1/traces?key="+key, strings.NewReader(body))
		if err != nil {
			return 0, []byte(err.Error())
		}
		req.Header.Set("Content-Type", "application/json")
		return do(req)
	}
	ask := func(site, path string) (int, []byte) {
		req, err := http.NewRequest(http.MethodGet, d.private+path, nil)
		if err != nil {
			return 0, []byte(err.Error())
		}
		req.Header.Set("Authorization", "Bearer "+site+"-token")
		req.Header.Set("Cache-Control", "no-cache")
		return do(req)
	}

	var number, loudTaken, loudAnswered atomic.Int64
	done := make(chan struct{})
	var loud sync.WaitGroup
	forever := func(n int, f func()) {
		for range n {
			loud.Go(func() {
				for {
					select {
					case <-done:
						return
					default:
						f()
					}
				}
			})
		}
	}
	forever(48, func() {
		traces := make([]string, 200)
		for i := range traces {
			traces[i] = siteTrace(1<<40 + number.Add(1))
		}
		if status, _ := send("l", "["+strings.Join(traces, ",")+"]"); status == http.StatusAccepted {
			loudTaken.Add(int64(len(traces)))
		}
	})
	forever(48, func() {
		if status, _ := ask("loud", "/api/v1/top?since=1h"); status == http.StatusOK {
			loudAnswered.Add(1)
		}
	})

	var sent, answered int64
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		sent++
		if status, said := send("q", siteTrace(sent)); status != http.StatusAccepted {
			t.Fatalf("trace %d of the quiet site: %d %s", sent, status, said)
		}
		if sent%5 == 0 {
			answered++
			if status, said := ask("quiet", "/api/v1/top?since=1h"); status != http.StatusOK ||
				strings.Contains(string(said), "loud") {
				t.Fatalf("query %d of the quiet site: %d %s", answered, status, said)
			}
		}
	}
	close(done)
	loud.Wait()
	if loudTaken.Load() == 0 || sent < 2 {
		t.Errorf("loud: %d traces accepted, %d answers; quiet: %d traces, %d answers", loudTaken.Load(),
			loudAnswered.Load(), sent, answered)
	}
	_, said := ask("quiet", "/api/v1/catalog")
	var catalog struct {
		Entries []struct {
			Page, Kind string
			Traces     int64
		}
	}
	if err := json.Unmarshal(said, &catalog); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	stored := int64(0)
	for _, e := range catalog.Entries {
		if !strings.HasPrefix(e.Page, "quiet:") {
			t.Errorf("the quiet site sees %s", e.Page)
		}
		if e.Kind == "page" {
			stored += e.Traces
		}
	}
	if stored != sent {
		t.Errorf("%d traces of the quiet site are stored, %d were sent", stored, sent)
	}
	t.Logf("loud: %d traces accepted, %d answers; quiet: %d traces, %d answers, all stored", loudTaken.Load(),
		loudAnswered.Load(), sent, answered)
}
