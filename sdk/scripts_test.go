package sdk

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
)

var (
	classic = strings.Repeat("console.log('classic');\n", 100)
	core    = "core()"
	rest    = "export default rest"
)

// testScripts serves a build without modules.
func testScripts() (h http.Handler, classicPath, corePath string) {
	scripts := load(fstest.MapFS{
		"dist/sdk.js":       {Data: []byte(classic)},
		"dist/sdk-core.js":  {Data: []byte(core)},
		"dist/sdk-rest.mjs": {Data: []byte(rest)},
		"dist/loader.mjs":   {Data: []byte("for bundlers")},
		"dist/sdk.d.ts":     {Data: []byte("types")},
	})
	sum := func(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s)))[:12] }
	return newScripts(scripts), "/sdk." + sum(classic) + ".js", "/sdk-core." + sum(core) + ".js"
}

// get sends a request to h. headers alternates keys and values.
func get(h http.Handler, method, path string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestScripts(t *testing.T) {
	h, classicPath, corePath := testScripts()
	const ask, keep, year = "no-cache", "", "public, max-age=31536000, immutable"
	for _, c := range []struct {
		request string
		status  int
		body    string // or a part of it
		cache   string
	}{
		{"GET /sdk.js", 200, classic, ask},
		{"HEAD /sdk.js", 200, "", ask},
		{"GET /sdk.js?x=1", 200, classic, ask},
		{"GET " + classicPath, 200, classic, year},
		{"GET /sdk-core.js", 200, core, ask},
		{"GET " + corePath, 200, core, year},
		{"GET /sdk-rest.mjs", 200, rest, ask},
		{"GET /sdk-rest.mjs?" + Integrity([]byte(rest)), 200, rest, year},
		{"GET /sdk-rest.mjs?" + Integrity([]byte(core)), 404, "is not the current version; that is /sdk-rest.mjs?" +
			Integrity([]byte(rest)), ask},
		{"GET /load.js", 200, classic, ask},
		{"GET " + plain(classicPath), 200, classic, year},
		{"GET /core.js", 200, core, ask},
		{"GET /rest.mjs", 200, rest, ask},
		{"GET /rest.mjs?" + Integrity([]byte(rest)), 200, rest, year},
		{"GET /sdk.json", 200, `"path": "` + classicPath + `"`, ask},

		{"GET /sdk.0123456789ab.js", 404, "/sdk.0123456789ab.js is not the current version; that is " + classicPath +
			", also at /sdk.js", ask},
		{"GET /sdk-core.x.js", 404, "that is " + corePath + ", also at /sdk-core.js", ask},
		{"GET /sdk.mjs", 404, "there is nothing here; /sdk.json lists the scripts", ask},
		{"GET /loader.mjs", 404, "there is nothing here", ask},
		{"GET /sdk.d.ts", 404, "there is nothing here", ask},
		{"GET /", 404, "there is nothing here", ask},
		{"POST /sdk.js", 405, "use GET", keep},
		{"POST /", 404, "there is nothing here", ask},
	} {
		method, path, _ := strings.Cut(c.request, " ")
		w := get(h, method, path)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.body) || c.body == "" && w.Body.Len() > 0 {
			t.Errorf("%s: got %d %.100q, want %d %.100q", c.request, w.Code, w.Body, c.status, c.body)
		}
		media := "text/javascript; charset=utf-8"
		switch {
		case c.status != 200:
			media = "text/plain; charset=utf-8"
		case path == "/sdk.json":
			media = "application/json"
		}
		for k, v := range map[string]string{
			"Cache-Control": c.cache, "Content-Type": media, "X-Content-Type-Options": "nosniff",
			"Access-Control-Allow-Origin": "*", "Cross-Origin-Resource-Policy": "cross-origin",
			"Timing-Allow-Origin": "*",
		} {
			if got := w.Header().Get(k); got != v {
				t.Errorf("%s: %s is %q, want %q", c.request, k, got, v)
			}
		}
		if c.status == 200 && (w.Header().Get("ETag") == "" || w.Header().Get("Vary") != "Accept-Encoding") {
			t.Errorf("%s: headers %v", c.request, w.Header())
		}
	}
	if n := get(h, "HEAD", "/sdk.js").Header().Get("Content-Length"); n != fmt.Sprint(len(classic)) {
		t.Errorf("HEAD: Content-Length is %s", n)
	}
	if allow := get(h, "PUT", "/sdk.js").Header().Get("Allow"); allow != "GET, HEAD" {
		t.Errorf("PUT: Allow is %q", allow)
	}
}

func TestScriptEncodings(t *testing.T) {
	h, path, _ := testScripts()
	for accept, want := range map[string]bool{
		"": false, "gzip": true, "gzip, deflate, br, zstd": true, "br;q=1.0, gzip;q=0.8": true, "GZIP": true,
		"x-gzip":   true,
		"gzip;q=0": false, "gzip; q=0.0": false, "gzip;q=x": false, "identity": false, "br": false, "notgzip": false,
	} {
		w := get(h, "GET", path, "Accept-Encoding", accept)
		if got := w.Header().Get("Content-Encoding") == "gzip"; got != want {
			t.Errorf("%q: in gzip: %v, want %v", accept, got, want)
			continue
		}
		body := w.Body.Bytes()
		if w.Header().Get("Content-Length") != fmt.Sprint(len(body)) {
			t.Errorf("%q: Content-Length is %s for %d bytes", accept, w.Header().Get("Content-Length"), len(body))
		}
		if want {
			z, err := gzip.NewReader(bytes.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			if body, err = io.ReadAll(z); err != nil {
				t.Fatal(err)
			}
		}
		if string(body) != classic {
			t.Errorf("%q: got %.40q", accept, body)
		}
	}
	// Brotli is shorter, so it has precedence; test/served.test.js checks its content.
	small := load(fstest.MapFS{"dist/sdk.js": {Data: []byte(classic)}, "brotli/" + fmt.Sprintf("%x",
		sha256.Sum256([]byte(classic)))[:12] + ".br": {Data: []byte("brotli")},
		"brotli/000000000000.br": {Data: []byte("of another build")}})
	for accept, want := range map[string]string{"": "", "gzip, deflate, br, zstd": "br", "br": "br", "BR;q=0.5": "br",
		"br;q=0, gzip": "gzip", "gzip": "gzip", "brotli": "", "br;q=0": ""} {
		w := get(newScripts(small), "GET", "/sdk.js", "Accept-Encoding", accept)
		tag := strings.Trim(w.Header().Get("ETag"), `"`)
		if got := w.Header().Get("Content-Encoding"); got != want || (want == "br") != (w.Body.String() == "brotli") ||
			w.Header().Get("Vary") != "Accept-Encoding" || want != "" && !strings.HasSuffix(tag, "-"+want) {
			t.Errorf("%q: in %q with tag %s, want %q", accept, got, tag, want)
		}
		if w := get(newScripts(small), "GET", "/sdk.js", "Accept-Encoding", accept, "If-None-Match",
			`"`+tag+`"`); w.Code != 304 || w.Header().Get("Content-Encoding") != "" {
			t.Errorf("%q: with the tag, got %d in %q", accept, w.Code, w.Header().Get("Content-Encoding"))
		}
	}
	// Responses are not compressed if that would not make them shorter.
	if w := get(h, "GET", "/sdk-core.js", "Accept-Encoding", "gzip"); w.Header().Get("Content-Encoding") != "" ||
		w.Body.String() != core {
		t.Errorf("short: got %v %q", w.Header(), w.Body)
	}
}

func TestNotModified(t *testing.T) {
	h, path, _ := testScripts()
	plain := get(h, "GET", "/sdk.js").Header().Get("ETag")
	zipped := get(h, "GET", "/sdk.js", "Accept-Encoding", "gzip").Header().Get("ETag")
	if plain == zipped || plain != get(h, "GET", path).Header().Get("ETag") {
		t.Errorf("tags %s and %s", plain, zipped)
	}
	for _, c := range []struct {
		tags   string
		status int
	}{
		{plain, 304}, {zipped, 304}, {"W/" + plain, 304}, {`"x", ` + zipped, 304}, {"*", 304},
		{`"x"`, 200}, {"", 200}, {`""`, 200}, {strings.Trim(plain, `"`)[:6], 200},
	} {
		for _, method := range []string{"GET", "HEAD"} {
			w := get(h, method, "/sdk.js", "If-None-Match", c.tags, "Accept-Encoding", "gzip")
			if w.Code != c.status || (w.Body.Len() == 0) != (c.status == 304 || method == "HEAD") {
				t.Errorf("%s %s: got %d with %d bytes, want %d", method, c.tags, w.Code, w.Body.Len(), c.status)
			}
			if h := w.Header(); h.Get("ETag") != zipped || h.Get("Cache-Control") != "no-cache" ||
				h.Get("Vary") != "Accept-Encoding" ||
				c.status == 304 && h.Get("Content-Encoding") != "" {
				t.Errorf("%s %s: headers %v", method, c.tags, h)
			}
		}
	}
}

// TestBuild checks the scripts in the package.
func TestBuild(t *testing.T) {
	h := Scripts()
	var list map[string]struct{ Path, Integrity string }
	w := get(h, "GET", "/sdk.json")
	if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil {
		t.Fatalf("%v: %s", err, w.Body)
	}
	for _, source := range sources {
		key, name := source.key, source.file
		path, integrity := Script(name)
		if list[key].Path != path || list[key].Integrity != integrity {
			t.Errorf("%s is %v in the list, and at %s with %s", name, list[key], path, integrity)
		}
		if path == "" {
			t.Errorf("%s is missing", name)
		}
		body := get(h, "GET", path).Body.Bytes()
		sum := sha256.Sum256(body)
		if want := "sha256-" + base64.StdEncoding.EncodeToString(sum[:]); len(body) == 0 || integrity != want {
			t.Errorf("%s: integrity of %d bytes is %s, want %s", name, len(body), integrity, want)
		}
		if w := get(h, "GET", path, "Accept-Encoding", "gzip, br"); w.Header().Get("Content-Encoding") != "br" ||
			w.Body.Len() >= len(body) {
			t.Errorf("%s is in %q: make sdk", name, w.Header().Get("Content-Encoding"))
		}
		if latest := get(h, "GET", "/"+name).Body.Bytes(); !bytes.Equal(latest, body) {
			t.Errorf("/%s differs from %s", name, path)
		}
	}
	if path, integrity := Script("sdk.css"); path != "" || integrity != "" {
		t.Errorf("sdk.css is at %q with %q", path, integrity)
	}
}
