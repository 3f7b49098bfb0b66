package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/fieldtrie/fieldtrie/test/freeaddr"
	"github.com/fieldtrie/fieldtrie/test/programs"
)

// Symbols of a site name the functions of its pages alone. Who may see and send those of another site learns none of its names by a
// trace that looks like one of its script, nor whether a script is known, and takes none of its names away.
func TestSymbolsOfSites(t *testing.T) {
	dir := t.TempDir()
	ingest, upload := programs.Path(t, "ingest"), programs.Path(t, "upload")
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	token := func(name, rest string) string {
		return fmt.Sprintf("  - {name: %s, sha256: %x, %s}\n", name, sha256.Sum256([]byte(name+"-token")), rest)
	}
	public, private := freeaddr.Of(t), freeaddr.Of(t)
	cmd := exec.CommandContext(t.Context(), ingest, "--data", filepath.Join(dir, "data"), "--listen", public, "--query-listen", private,
		"--sites", write("sites.yaml", "- name: alpha\n- name: beta\n"),
		"--keys", write("keys.yaml", "- {key: a, site: alpha}\n- {key: b, site: beta}\n"),
		"--access", write("access.yaml", "tokens:\n"+token("alpha", "sites: [alpha]")+token("beta", "sites: [beta]")+token("all", "scopes: [admin]")+
			token("alpha-ci", "scopes: [symbols], sites: [alpha]")+token("beta-ci", "scopes: [symbols], sites: [beta]")+token("both-ci", "scopes: [symbols], sites: [alpha, beta]")))
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	}()
	for end := time.Now().Add(30 * time.Second); exec.CommandContext(t.Context(), ingest, "--healthy", "--query-listen", private).Run() != nil; {
		if time.Now().After(end) {
			t.Fatal("the daemon does not get ready")
		}
	}
	do := func(method, url, token, body string) (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Cache-Control", "no-cache")
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token+"-token")
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		text, _ := io.ReadAll(res.Body)
		return res.StatusCode, string(text)
	}
	send := func(token, dir string, more ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), upload, append(more, "--addr", private, "--release", "1", dir)...)
		cmd.Env = append(os.Environ(), "FIELDTRIE_TOKEN="+token+"-token")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	shop := filepath.Join(dir, "shop")
	if err := os.CopyFS(shop, os.DirFS("../upload/testdata/shop")); err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile(filepath.Join(shop, "main.js"))
	if err != nil {
		t.Fatal(err)
	}
	if out, err := send("beta-ci", shop); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	place := func(before string) int { // of the parameters, in characters
		return utf8.RuneCount(script[:bytes.Index(script, []byte(before))]) + len(before) + 1
	}
	for key, n := range map[string]int{"a": 1, "b": 2} {
		body := fmt.Sprintf(`{"page":"/feed","viewId":"%032x","release":"1","interval":10,"trace":{"resources":["https://attacker.example/main.js"],
			"frames":[{"name":"o","resourceId":0,"line":1,"column":%d},{"name":"a","resourceId":0,"line":1,"column":%d}],
			"stacks":[{"frameId":1},{"frameId":0,"parentId":0}],"samples":[{"timestamp":0,"stackId":1},{"timestamp":10,"stackId":1}]}}`, n, place("function o"), place("function a"))
		if status, text := do(http.MethodPost, "http://"+public+"/v1/traces?key="+key, "", body); status != http.StatusAccepted {
			t.Fatalf("%d %s", status, text)
		}
	}
	const secret = "formatPrice"
	knows := func(token, query string) bool {
		t.Helper()
		for _, what := range []string{"top", "tree"} {
			status, text := do(http.MethodGet, "http://"+private+"/api/v1/"+what+"?since=1h&"+query, token, "")
			if status != http.StatusOK || !strings.Contains(text, "main.js") && !strings.Contains(text, "main.ts") {
				t.Fatalf("%s %s: %d %.300s", what, query, status, text)
			}
			if strings.Contains(text, secret) || strings.Contains(text, "main.ts") || strings.Contains(text, "cart.ts") {
				return true
			}
		}
		return false
	}
	check := func(when string) {
		t.Helper()
		for _, x := range []struct {
			token, query string
			named        bool
		}{{"beta", "page=beta:/feed", true}, {"beta", "page=", true}, {"all", "page=beta:/feed", true}, {"alpha", "page=alpha:/feed", false}, {"alpha", "page=", false}, {"all", "page=alpha:/feed", false}, {"all", "site=alpha", false}} {
			if knows(x.token, x.query) != x.named {
				t.Errorf("%s: %s asks %s, and names are there: %t", when, x.token, x.query, !x.named)
			}
		}
	}
	check("beta has sent symbols")

	hash := sha256.Sum256(script)
	for token, want := range map[string]int{"beta-ci": http.StatusOK, "alpha-ci": http.StatusNotFound, "both-ci": http.StatusBadRequest, "all": http.StatusNotFound} {
		if status, _ := do(http.MethodHead, "http://"+private+"/v1/symbols/"+hex.EncodeToString(hash[:]), token, ""); status != want {
			t.Errorf("%s asks for a table: %d, not %d", token, status, want)
		}
	}
	if status, text := do(http.MethodGet, "http://"+private+"/v1/symbols?limit=10", "alpha", ""); status != http.StatusForbidden {
		t.Errorf("alpha lists %d %s", status, text)
	}
	if status, text := do(http.MethodGet, "http://"+private+"/v1/symbols?site=beta", "alpha", ""); status != http.StatusForbidden {
		t.Errorf("alpha lists symbols of beta: %d %s", status, text)
	}
	if status, text := do(http.MethodGet, "http://"+private+"/v1/symbols?site=gamma", "all", ""); status != http.StatusNotFound || !strings.Contains(text, "is not in the file of --sites") {
		t.Errorf("a site that is none: %d %s", status, text)
	}
	if status, text := do(http.MethodGet, "http://"+private+"/api/v1/edits?release=1&compare_release=0&page=alpha:/feed", "alpha", ""); strings.Contains(text, secret) || strings.Contains(text, "main.js") {
		t.Errorf("alpha sees edits of beta: %d %s", status, text)
	}

	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+private+"/api/v1/top?since=30d", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer alpha-token")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if tag := res.Header.Get("ETag"); tag != "" { // it would change with what is stored of others, and so tell when they have visitors
		t.Errorf("alpha gets the tag %s", tag)
	}

	// Another build under beta's path and release: were it in one store, the two would disagree.
	other := filepath.Join(dir, "other")
	if err := os.CopyFS(other, os.DirFS("../upload/testdata/shop")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(other, "main.js"), append([]byte("/*x*/"), script...), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := send("alpha-ci", other); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !knows("beta", "page=beta:/feed") || !knows("all", "page=beta:/feed") {
		t.Error("another site's upload has taken beta's names")
	}
	if out, err := send("both-ci", shop); err == nil || !strings.Contains(out, "with upload it is --site") && !strings.Contains(out, "400") {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := send("both-ci", shop, "--site", "beta"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := send("all", shop, "--site", "alpha"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if !knows("alpha", "page=alpha:/feed") {
		t.Error("alpha does not know the names that were sent for it")
	}
}
