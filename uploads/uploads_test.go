package uploads

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/store/tables"
	"github.com/fieldtrie/fieldtrie/symbols"
)

// table returns the table of a script, with a hash that is its key.
func table(t *testing.T, script string, functions int) (hash string, body []byte) {
	t.Helper()
	x := &symbols.Table{Script: sha256.Sum256([]byte(script)), Sources: []symbols.Source{{Name: "src/a.ts"}}}
	for i := range functions {
		x.Functions = append(x.Functions, symbols.Function{Line: 1, Column: uint32(i + 1), Name: "f", Way: symbols.Start})
	}
	var b bytes.Buffer
	if err := symbols.Encode(&b, x); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", x.Script), b.Bytes()
}

func TestHandler(t *testing.T) {
	store, err := tables.Open(filepath.Join(t.TempDir(), "symbols"), tables.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h := New(store)
	hash, body := table(t, "app", 3)
	better, more := table(t, "app", 5)
	other, _ := table(t, "other", 1)
	upload := func(path, hash string) string {
		text, err := json.Marshal(symbols.Upload{Release: "A", Scripts: []symbols.Script{{Path: path, SHA256: hash}}})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if better != hash {
		t.Fatal("one script has two hashes")
	}
	for _, step := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"HEAD", hash, "", 404, ""},
		{"HEAD", "x", "", 400, ""},
		{"POST", "uploads", upload("app.js", hash), 409, `"missing":["` + hash + `"]`},
		{"PUT", hash, string(body), 201, "{}"},
		{"PUT", hash, string(body), 200, "{}"},
		{"HEAD", hash, "", 200, ""},
		{"PUT", hash, string(more), 201, ""},
		{"PUT", hash, string(body), 200, ""},
		{"PUT", other, string(body), 422, "it is that of script"},
		{"PUT", hash, "<!doctype html>", 422, "does not begin with"},
		{"PUT", hash, string(body[:len(body)-3]), 422, "malformed"},
		{"PUT", "nonsense", string(body), 400, "is not a SHA-256"},
		{"PUT", hash, strings.Repeat("x", symbols.MaxTable+1), 413, "over 16777216 bytes"},
		{"POST", "uploads", upload("app.js", hash), 201, `"id":"2`},
		{"POST", "uploads", upload("app.js", hash), 200, `"id":"2`},
		{"POST", "uploads", upload("../app.js", hash), 422, "is not one in a folder"},
		{"POST", "uploads", upload("a\x00.js", hash), 422, "control characters"},
		{"POST", "uploads", `{"release":7}`, 422, "read upload"},
		{"POST", "uploads", `{"release":"B","scripts":[]}`, 422, "there are none"},
		{"POST", "uploads", `{"release":"` + strings.Repeat("B", 300) + `","scripts":[{"path":"a.js","sha256":"` + hash + `"}]}`, 422, "300 bytes"},
		{"DELETE", hash, "", 404, "is not there"},
		{"GET", "", "", 200, `"release":"A","scripts":1,"functions":5,"named":5}],"tables":1`},
		{"GET", "?limit=0", "", 400, "parameter limit"},
	} {
		path := "/v1/symbols"
		if step.path != "" && step.path[0] != '?' {
			path += "/"
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(step.method, path+step.path, strings.NewReader(step.body)))
		if w.Code != step.status || !strings.Contains(w.Body.String(), step.want) {
			t.Errorf("%s %.80s %.60s: %d %.200s, not %d %s", step.method, step.path, step.body, w.Code, w.Body, step.status, step.want)
		}
	}
	if h.Refused() == 0 {
		t.Error("nothing was counted")
	}
}

// A client that goes away while others send keeps no place.
func TestGone(t *testing.T) {
	store, err := tables.Open(filepath.Join(t.TempDir(), "symbols"), tables.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h := New(store)
	hash, body := table(t, "app", 3)
	for range 3 * maxBodies {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodPut, "/v1/symbols/"+hash, &broken{body[:5]})
		h.ServeHTTP(w, r)
		if w.Code != http.StatusBadRequest {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	if n := len(h.bodies); n > 0 {
		t.Errorf("%d places are taken", n)
	}
}

// broken is a body whose connection breaks.
type broken struct{ left []byte }

func (b *broken) Read(p []byte) (int, error) {
	if len(b.left) == 0 {
		return 0, fmt.Errorf("connection reset")
	}
	n := copy(p, b.left)
	b.left = b.left[n:]
	return n, nil
}
