package uploads

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/symbols"
	"github.com/fieldtrie/fieldtrie/symbols/tables"
	"github.com/fieldtrie/fieldtrie/test/storetest"
)

// table returns the table of a script, with a hash that is its key.
func table(t *testing.T, script string, functions int) (hash string, body []byte) {
	t.Helper()
	x := &symbols.Table{Script: sha256.Sum256([]byte(script)), Sources: []symbols.Source{{Name: "src/a.ts"}}}
	for i := range functions {
		x.Functions = append(x.Functions, symbols.Function{Line: 1, Column: uint32(i + 1), Name: "f",
			Way: symbols.Start})
	}
	var b bytes.Buffer
	if err := symbols.Encode(&b, x); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", x.Script), b.Bytes()
}

func TestHandler(t *testing.T) {
	store, err := tables.Open(storetest.Open(t, storetest.Options{}).Symbols(), tables.Options{})
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
		{"PUT", other, string(body), 422, "it belongs to script"},
		{"PUT", hash, "<!doctype html>", 422, "does not begin with"},
		{"PUT", hash, string(body[:len(body)-3]), 422, "malformed"},
		{"PUT", "nonsense", string(body), 400, "is not a SHA-256"},
		{"PUT", hash, strings.Repeat("x", symbols.MaxTable+1), 413, "over 16777216 bytes"},
		{"POST", "uploads", upload("app.js", hash), 201, `"id":"2`},
		{"POST", "uploads", upload("app.js", hash), 200, `"id":"2`},
		{"POST", "uploads", upload("../app.js", hash), 422, "is not a relative path"},
		{"POST", "uploads", upload("a\x00.js", hash), 422, "control characters"},
		{"POST", "uploads", `{"release":7}`, 422, "read upload"},
		{"POST", "uploads", `{"release":"B","scripts":[]}`, 422, "scripts: none"},
		{"POST", "uploads", `{"release":"` + strings.Repeat("B", 300) + `","scripts":[{"path":"a.js","sha256":"` +
			hash + `"}]}`, 422, "300 bytes"},
		{"DELETE", hash, "", 404, "not found"},
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
			t.Errorf("%s %.80s %.60s: %d %.200s, not %d %s", step.method, step.path, step.body, w.Code, w.Body,
				step.status, step.want)
		}
	}
	if h.Refused() == 0 {
		t.Error("nothing was counted")
	}
}

// A client that disconnects while others send frees its slot.
func TestGone(t *testing.T) {
	store, err := tables.Open(storetest.Open(t, storetest.Options{}).Symbols(), tables.Options{})
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
		t.Errorf("%d slots are in use", n)
	}
}

// An upload is rejected with Retry-After if the disk is full.
func TestFull(t *testing.T) {
	hash, body := table(t, "app", 3)
	var room error
	store, err := tables.Open(storetest.Open(t, storetest.Options{}).Symbols(),
		tables.Options{MaxSize: int64(len(body)) + 1, Room: func(int64) error {
			return room
		}})
	if err != nil {
		t.Fatal(err)
	}
	h := New(store)
	other, more := table(t, "other", 3)
	put := func(hash string, body []byte) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodPut, "/v1/symbols/"+hash, bytes.NewReader(body)))
		return w
	}
	room = tables.ErrNoSpace
	if w := put(hash, body); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("a full disk: %d %v", w.Code, w.Header())
	}
	room = nil
	if w := put(hash, body); w.Code != http.StatusCreated {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := put(other, more); w.Code != http.StatusInsufficientStorage || !strings.Contains(w.Body.String(),
		"--max-symbols") {
		t.Errorf("over the total limit: %d %s", w.Code, w.Body)
	}
}

// A table damaged on disk counts as missing until it is sent again.
func TestDamaged(t *testing.T) {
	files := storetest.Open(t, storetest.Options{}).Symbols()
	store, err := tables.Open(files, tables.Options{})
	if err != nil {
		t.Fatal(err)
	}
	hash, body := table(t, "app", 3)
	if _, err := store.Put(hash, body); err != nil {
		t.Fatal(err)
	}
	upload := symbols.Upload{Release: "A", Scripts: []symbols.Script{{Path: "a.js", SHA256: hash}}}
	if _, _, err := store.AddUpload(upload); err != nil {
		t.Fatal(err)
	}
	if err := files.Write("tables/"+hash[:2]+"/"+hash, body[:20]); err != nil {
		t.Fatal(err)
	}
	if store, err = tables.Open(files, tables.Options{}); err != nil {
		t.Fatal(err)
	}
	h := New(store)
	for _, step := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"GET", "", "", 200, `"damaged":1`},
		{"HEAD", "/" + hash, "", 404, ""},
		{"POST", "/uploads", `{"release":"B","scripts":[{"path":"a.js","sha256":"` + hash + `"}]}`, 409, hash},
		{"PUT", "/" + hash, string(body), 201, ""},
		{"HEAD", "/" + hash, "", 200, ""},
		{"GET", "", "", 200, `"functions":3,"named":3}]`},
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(step.method, "/v1/symbols"+step.path, strings.NewReader(step.body)))
		if w.Code != step.status || !strings.Contains(w.Body.String(), step.want) {
			t.Errorf("%s %s: %d %s, not %d %s", step.method, step.path, w.Code, w.Body, step.status, step.want)
		}
	}
}

// A body may take longer than other requests, but must not stall.
func TestSlowBody(t *testing.T) {
	store, err := tables.Open(storetest.Open(t, storetest.Options{}).Symbols(), tables.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h := New(store)
	server := httptest.NewUnstartedServer(h)
	server.Config.ReadTimeout = 300 * time.Millisecond
	server.Start()
	defer server.Close()
	hash, body := table(t, "app", 3)
	send := func(pause time.Duration) int {
		from, to := io.Pipe()
		go func() {
			for i := range body {
				if i%(len(body)/3) == 0 {
					time.Sleep(pause)
				}
				if _, err := to.Write(body[i : i+1]); err != nil {
					return
				}
			}
			_ = to.Close()
		}()
		r, err := http.NewRequest(http.MethodPut, server.URL+"/v1/symbols/"+hash, from)
		if err != nil {
			t.Fatal(err)
		}
		res, err := server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		return res.StatusCode
	}
	h.stall = time.Minute
	if status := send(200 * time.Millisecond); status != http.StatusCreated {
		t.Errorf("a slow body: %d", status)
	}
	h.stall = 10 * time.Millisecond
	if status := send(time.Second); status != http.StatusRequestTimeout {
		t.Errorf("a stalled body: %d", status)
	}
}

// broken is a body whose connection fails.
type broken struct{ left []byte }

func (b *broken) Read(p []byte) (int, error) {
	if len(b.left) == 0 {
		return 0, fmt.Errorf("connection reset")
	}
	n := copy(p, b.left)
	b.left = b.left[n:]
	return n, nil
}
