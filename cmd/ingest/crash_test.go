package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/test/freeaddr"
	"github.com/fieldtrie/fieldtrie/test/programs"
	"github.com/fieldtrie/fieldtrie/test/storetest"
)

// crashTrace returns trace n as JSON, on one of three pages. Its view id is n+1 in hexadecimal.
func crashTrace(n int) string {
	return fmt.Sprintf(`{"page":"/crash/%c","viewId":"%032x","interval":10,`+
		`"trace":{"resources":["https://x.example/app.js"],`+
		`"frames":[{"name":"f%d","resourceId":0,"line":1,"column":%d}],"stacks":[{"frameId":0}],`+
		`"samples":[{"timestamp":0,"stackId":0},{"timestamp":10,"stackId":0}]}}`, 'a'+rune(n%3), n+1, n%50, n%1000+1)
}

// load sends traces from several clients until the daemon is gone, each trace up to twice, and
// returns the numbers of the acknowledged ones. It calls begun after the first acknowledgment.
func load(url string, next func() int, begun func()) map[int]bool {
	var first sync.Once
	acked := map[int]bool{}
	var mu sync.Mutex
	var clients sync.WaitGroup
	for range 16 {
		clients.Go(func() {
			for {
				n := next()
				for range 1 + n%2 { // every other trace is sent twice
					res, err := http.Post(url+"/v1/traces", "application/json", strings.NewReader(crashTrace(n)))
					if err != nil {
						return
					}
					_, err = io.Copy(io.Discard, res.Body)
					_ = res.Body.Close()
					if err == nil && res.StatusCode == http.StatusAccepted {
						mu.Lock()
						acked[n] = true
						mu.Unlock()
						first.Do(begun)
					}
				}
			}
		})
	}
	clients.Wait()
	return acked
}

// start starts a daemon and waits until it is ready.
func start(t *testing.T, ingest, dir string) (*exec.Cmd, string) {
	t.Helper()
	public, private := freeaddr.Of(t), freeaddr.Of(t)
	cmd := exec.Command(ingest, "--data", dir, "--listen", public, "--query-listen", private)
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		if res, err := http.Get("http://" + private + "/readyz"); err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return cmd, "http://" + public
			}
		}
		time.Sleep(25 * time.Millisecond)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	t.Fatalf("the daemon did not become ready:\n%s", log.String())
	return nil, ""
}

// viewsIn returns how often a directory contains each view. No daemon is running to roll up the
// latest traces, so viewsIn does that first.
func viewsIn(t *testing.T, dir string) map[string]int {
	t.Helper()
	n, end := storetest.OpenDirectory(t, dir, nil)
	defer end()
	n.RollUp(t.Context())
	found := map[string]int{}
	stats, err := n.Scan(t.Context(), store.Query{}, func(rec store.Record) error {
		doc, err := encode.DecodeBinary(rec.Payload, encode.Limits{})
		if err != nil {
			return err
		}
		found[fmt.Sprintf("%x", doc.Trace.Context.ViewID)]++
		return nil
	})
	if err != nil || !stats.Complete() {
		t.Errorf("scan: %+v, %v", stats, err)
	}
	return found
}

// TestKill kills the daemon under load, again and again, and then looks for every acknowledged
// trace: each must be stored exactly once.
func TestKill(t *testing.T) {
	rounds := 5
	if testing.Short() {
		rounds = 2
	}
	bin := programs.Path(t, "ingest")
	dir := filepath.Join(t.TempDir(), "data")
	acked := map[int]bool{}
	sent := 0
	var mu sync.Mutex
	for round := range rounds {
		cmd, url := start(t, bin, dir)
		kill := func() {
			time.AfterFunc(rand.N(800*time.Millisecond), func() { _ = cmd.Process.Signal(syscall.SIGKILL) })
		}
		before := len(acked)
		for n := range load(url, func() int { mu.Lock(); defer mu.Unlock(); sent++; return sent }, kill) {
			acked[n] = true
		}
		if err := cmd.Wait(); err == nil {
			t.Fatalf("round %d: the daemon was not killed", round)
		}
		if len(acked) == before {
			t.Fatalf("round %d: no trace was acknowledged", round)
		}
	}

	found := viewsIn(t, dir)
	for n := range acked {
		if c := found[fmt.Sprintf("%032x", n+1)]; c != 1 {
			t.Errorf("acknowledged trace %d is stored %d times", n, c)
		}
	}
	for id, c := range found {
		if c != 1 {
			t.Errorf("trace %s is stored %d times", id, c)
		}
	}
	t.Logf("%d traces acknowledged, %d found after %d kills", len(acked), len(found), rounds)
}

// TestTerminate stops the daemon under load: it answers requests in flight and exits with status 0.
func TestTerminate(t *testing.T) {
	bin := programs.Path(t, "ingest")
	dir := filepath.Join(t.TempDir(), "data")
	cmd, url := start(t, bin, dir)
	stop := func() {
		time.AfterFunc(300*time.Millisecond, func() { _ = cmd.Process.Signal(syscall.SIGTERM) })
	}
	var mu sync.Mutex
	sent := 0
	acked := load(url, func() int { mu.Lock(); defer mu.Unlock(); sent++; return sent }, stop)
	if err := cmd.Wait(); err != nil {
		t.Errorf("the daemon ended with %v", err)
	}
	if len(acked) == 0 {
		t.Fatal("no trace was acknowledged")
	}
	out, err := exec.Command(programs.Path(t, "aggregate"), "--data", dir, "--list", "pages", "--format",
		"json").Output()
	if err != nil {
		if x, ok := errors.AsType[*exec.ExitError](err); ok {
			t.Fatalf("aggregate: %v\n%s", err, x.Stderr)
		}
		t.Fatal(err)
	}
	var pages struct{ Values []struct{ Traces int } }
	if err := json.Unmarshal(out, &pages); err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, p := range pages.Values {
		total += p.Traces
	}
	if total < len(acked) {
		t.Errorf("%d traces acknowledged, %d found", len(acked), total)
	}
	if _, err := os.Stat(filepath.Join(dir, "FORMAT")); err != nil {
		t.Error(err)
	}
}
