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
	"testing"
	"unicode/utf8"

	"github.com/fieldtrie/fieldtrie/test/programs"
)

// Symbols of a site only name functions on pages of that site. A user with
// access to one site cannot learn or remove the names of another site, or whether a script is known
// there, even with a trace that imitates its scripts.
func TestSymbolsOfSites(t *testing.T) {
	upload := programs.Path(t, "upload")
	d := launchSites(t, map[string]string{
		"alpha": "sites: [alpha]", "beta": "sites: [beta]", "all": "scopes: [admin]",
		"alpha-ci": "scopes: [symbols], sites: [alpha]", "beta-ci": "scopes: [symbols], sites: [beta]",
		"both-ci": "scopes: [symbols], sites: [alpha, beta]",
	}, "alpha", "beta")
	defer d.end()
	answer := func(method, url, token, body string, headers ...string) (*http.Response, string) {
		req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Cache-Control", "no-cache")
		for i := 0; i < len(headers); i += 2 {
			req.Header.Set(headers[i], headers[i+1])
		}
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token+"-token")
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		text, _ := io.ReadAll(res.Body)
		return res, string(text)
	}
	do := func(method, url, token, body string) (int, string) {
		res, text := answer(method, url, token, body)
		return res.StatusCode, text
	}
	send := func(token, dir string, more ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), upload, append(more, "--addr", d.private, "--release", "1", dir)...)
		cmd.Env = append(os.Environ(), "FIELDTRIE_TOKEN="+token+"-token")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	dir := t.TempDir()
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
	place := func(before string) int { // offset of the parameters, in characters
		return utf8.RuneCount(script[:bytes.Index(script, []byte(before))]) + len(before) + 1
	}
	for key, n := range map[string]int{"a": 1, "b": 2} {
		body := fmt.Sprintf(`{"page":"/feed","viewId":"%032x","release":"1","interval":10,`+
			`"trace":{"resources":["https://attacker.example/main.js"],
			"frames":[{"name":"o","resourceId":0,"line":1,"column":%d},{"name":"a","resourceId":0,"line":1,`+
			`"column":%d}],
			"stacks":[{"frameId":1},{"frameId":0,"parentId":0}],"samples":[{"timestamp":0,"stackId":1},`+
			`{"timestamp":10,"stackId":1}]}}`, n, place("function o"), place("function a"))
		if status, text := do(http.MethodPost, d.public+"/v1/traces?key="+key, "",
			body); status != http.StatusAccepted {
			t.Fatalf("%d %s", status, text)
		}
	}
	const secret = "formatPrice"
	knows := func(token, query string) bool {
		t.Helper()
		for _, what := range []string{"top", "tree"} {
			status, text := do(http.MethodGet, d.private+"/api/v1/"+what+"?since=1h&"+query, token, "")
			if status != http.StatusOK || !strings.Contains(text, "main.js") && !strings.Contains(text, "main.ts") {
				t.Fatalf("%s %s: %d %.300s", what, query, status, text)
			}
			if strings.Contains(text, secret) || strings.Contains(text, "main.ts") ||
				strings.Contains(text, "cart.ts") {
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
		}{{"beta", "page=beta:/feed", true}, {"beta", "page=", true}, {"all", "page=beta:/feed", true},
			{"alpha", "page=alpha:/feed", false}, {"alpha", "page=", false}, {"all", "page=alpha:/feed", false},
			{"all", "site=alpha", false}} {
			if knows(x.token, x.query) != x.named {
				t.Errorf("%s: %s queried %s, names in the response: %t", when, x.token, x.query, !x.named)
			}
		}
	}
	check("beta has sent symbols")

	hash := sha256.Sum256(script)
	for token, want := range map[string]int{"beta-ci": http.StatusOK, "alpha-ci": http.StatusNotFound,
		"both-ci": http.StatusBadRequest, "all": http.StatusNotFound} {
		if status, _ := do(http.MethodHead, d.private+"/v1/symbols/"+hex.EncodeToString(hash[:]), token,
			""); status != want {
			t.Errorf("%s requests a table: %d, not %d", token, status, want)
		}
	}
	if status, text := do(http.MethodGet, d.private+"/v1/symbols?limit=10", "alpha",
		""); status != http.StatusForbidden {
		t.Errorf("alpha lists %d %s", status, text)
	}
	if status, text := do(http.MethodGet, d.private+"/v1/symbols?site=beta", "alpha",
		""); status != http.StatusForbidden {
		t.Errorf("alpha lists symbols of beta: %d %s", status, text)
	}
	if status, text := do(http.MethodGet, d.private+"/v1/symbols?site=gamma", "all",
		""); status != http.StatusNotFound || !strings.Contains(text, "is not in the file of --sites") {
		t.Errorf("an unknown site: %d %s", status, text)
	}
	if status, text := do(http.MethodGet, d.private+"/api/v1/edits?release=1&compare_release=0&page=alpha:/feed",
		"alpha", ""); strings.Contains(text, secret) || strings.Contains(text, "main.js") {
		t.Errorf("alpha sees edits of beta: %d %s", status, text)
	}

	// A tag that depended on the data of other sites would reveal when they have visitors. *
	// matches any tag of a response.
	for token, want := range map[string]int{"all": http.StatusNotModified, "alpha": http.StatusOK} {
		res, _ := answer(http.MethodGet, d.private+"/api/v1/top?since=30d", token, "", "If-None-Match", "*",
			"Cache-Control", "max-age=0")
		if tag := res.Header.Get("ETag"); res.StatusCode != want || tag != "" && token == "alpha" {
			t.Errorf("%s revalidates: %d, not %d, with the tag %q", token, res.StatusCode, want, tag)
		}
	}

	// Another build with beta's path and release would conflict with beta's build if both were in
	// one store.
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
		t.Error("another site's upload removed beta's names")
	}
	if out, err := send("both-ci", shop); err == nil || !strings.Contains(out, "with upload it is --site") &&
		!strings.Contains(out, "400") {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := send("both-ci", shop, "--site", "beta"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := send("all", shop, "--site", "alpha"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if !knows("alpha", "page=alpha:/feed") {
		t.Error("alpha lacks the names that were uploaded for it")
	}
}
