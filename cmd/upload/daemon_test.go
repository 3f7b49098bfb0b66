package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fieldtrie/fieldtrie/symbols"
)

// fakeDaemon keeps symbols in memory and responds like ingest.
type fakeDaemon struct {
	mode   map[string]string
	server *httptest.Server
	asked  string // file to create for a request, "" if requests are answered

	lock    sync.Mutex
	tables  map[string]*symbols.Table
	uploads []symbols.Upload
	counts  map[string]int // answers, by method and status
	seen    map[string]int // requests, by method
}

// daemonKey is the key of a script's daemon among the values of its environment.
const daemonKey = "daemon"

// startDaemon starts a daemon, or changes the behaviour of the running one. ADDR is its
// address. Its arguments are
//
//	token=T     only the bearer of T is authorized; T2 is a known token without permission
//	old         it does not know symbols
//	fail=S,…    the first requests get these statuses
//	after=S     Retry-After of these responses
//	cut=METHOD  the first request of a method loses its connection after half of the response
//	lose        all tables are lost before the first upload
//	forget      tables are accepted and not stored
//	METHOD=S    all requests of a method get a status
//	redirect    all requests are redirected
//	hang        no request is answered, and the first one creates the file asked
//	down        the daemon is stopped
func startDaemon(ts *testscript.TestScript, _ bool, args []string) {
	d := ts.Value(daemonKey).(*fakeDaemon)
	// Each behaviour has its own server, because a request of an ended program may still be in
	// flight.
	if d.server != nil {
		d.server.Close()
	} else {
		d.tables = map[string]*symbols.Table{}
		ts.Defer(func() { d.server.Close() })
	}
	d.server = httptest.NewServer(d)
	ts.Setenv("ADDR", d.server.URL)
	d.lock.Lock()
	defer d.lock.Unlock()
	d.mode, d.counts, d.seen = map[string]string{}, map[string]int{}, map[string]int{}
	for _, arg := range args {
		key, value, _ := strings.Cut(arg, "=")
		d.mode[key] = value
	}
	if _, hang := d.mode["hang"]; hang {
		d.asked = ts.MkAbs("asked")
	}
	if _, down := d.mode["down"]; down {
		d.server.Close()
	}
}

// writeRequests writes the requests since the last start or change of behaviour to the file
// requests, and all uploads to uploads.json.
func writeRequests(ts *testscript.TestScript, _ bool, _ []string) {
	d := ts.Value(daemonKey).(*fakeDaemon)
	d.lock.Lock()
	defer d.lock.Unlock()
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(d.counts)) {
		fmt.Fprintln(&b, key, d.counts[key])
	}
	d.counts = map[string]int{}
	ts.Check(os.WriteFile(ts.MkAbs("requests"), []byte(b.String()), 0o600))
	uploads, err := json.MarshalIndent(d.uploads, "", "  ")
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs("uploads.json"), append(uploads, '\n'), 0o600))
}

// ServeHTTP implements [http.Handler].
func (d *fakeDaemon) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	d.lock.Lock()
	asked := d.asked
	d.lock.Unlock()
	if asked != "" {
		_ = os.WriteFile(asked, nil, 0o600)
		<-r.Context().Done()
		return
	}
	d.lock.Lock()
	defer d.lock.Unlock()
	d.seen[r.Method]++
	status, answer := http.StatusBadRequest, any(map[string]any{"error": "incomplete body"})
	if err == nil {
		status, answer = d.answer(w, r, body)
	}
	if d.mode["cut"] == r.Method && d.seen[r.Method] == 1 {
		d.counts[r.Method+" cut"]++
		w.Header().Set("Content-Length", "100")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(`{"id": "ha`))
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	d.counts[fmt.Sprint(r.Method, " ", status)]++
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_ = json.NewEncoder(w).Encode(answer)
	}
}

func failed(format string, args ...any) map[string]any {
	return map[string]any{"error": fmt.Sprintf(format, args...)}
}

// answer returns the status and the value to encode as JSON. The modes of d can
// replace both.
func (d *fakeDaemon) answer(w http.ResponseWriter, r *http.Request, body []byte) (int, any) {
	if failures, ok := d.mode["fail"]; ok {
		first, rest, more := strings.Cut(failures, ",")
		if d.mode["fail"] = rest; !more {
			delete(d.mode, "fail")
		}
		if after := d.mode["after"]; after != "" {
			w.Header().Set("Retry-After", after)
		}
		status, _ := strconv.Atoi(first)
		return status, failed("not now")
	}
	if _, ok := d.mode["redirect"]; ok {
		w.Header().Set("Location", "https://elsewhere.example/login")
		return http.StatusFound, nil
	}
	if token := d.mode["token"]; token != "" {
		switch r.Header.Get("Authorization") {
		case "Bearer " + token:
		case "Bearer " + token + "2":
			return http.StatusForbidden,
				failed("the scope symbols is missing; add it to the scopes of this token or user in the file of " +
					"--access")
		default:
			return http.StatusUnauthorized, failed("authorization is needed")
		}
	}
	if status, _ := strconv.Atoi(d.mode[r.Method]); status > 0 {
		return status, failed("configured failure")
	}
	if _, old := d.mode["old"]; old {
		return http.StatusNotFound, failed("nothing here")
	}
	name, ok := strings.CutPrefix(r.URL.Path, "/v1/symbols/")
	switch {
	case !ok:
		return http.StatusNotFound, failed("nothing here")
	case r.Method == http.MethodPost && name == "uploads":
		return d.post(body)
	case r.Method == http.MethodPut:
		return d.put(name, body)
	case r.Method == http.MethodHead && d.tables[name] != nil:
		return http.StatusOK, nil
	}
	return http.StatusNotFound, failed("nothing here")
}

func (d *fakeDaemon) put(hash string, body []byte) (int, any) {
	t, err := symbols.Decode(bytes.NewReader(body))
	if err != nil {
		return http.StatusUnprocessableEntity, failed("%v", err)
	}
	if hex.EncodeToString(t.Script[:]) != hash {
		return http.StatusUnprocessableEntity, failed("the table of another script")
	}
	status := http.StatusCreated
	if d.tables[hash] != nil {
		status = http.StatusOK
	}
	if _, forgets := d.mode["forget"]; !forgets {
		d.tables[hash] = t
	}
	return status, map[string]any{}
}

func (d *fakeDaemon) post(body []byte) (int, any) {
	var u symbols.Upload
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&u); err != nil || u.ID != "" || !u.Time.IsZero() {
		return http.StatusBadRequest, failed("no upload: %v", err)
	}
	if _, lose := d.mode["lose"]; lose {
		clear(d.tables)
		delete(d.mode, "lose")
	}
	var missing []string
	for _, s := range u.Scripts {
		if d.tables[s.SHA256] == nil && !slices.Contains(missing, s.SHA256) {
			missing = append(missing, s.SHA256)
		}
	}
	if missing != nil {
		return http.StatusConflict, map[string]any{"error": "tables are missing", "missing": missing}
	}
	for _, old := range d.uploads {
		if old.Release == u.Release && slices.Equal(old.Scripts, u.Scripts) {
			return http.StatusOK, map[string]string{"id": old.ID}
		}
	}
	u.ID = fmt.Sprintf("u%d", len(d.uploads)+1)
	d.uploads = append(d.uploads, u)
	return http.StatusCreated, map[string]string{"id": u.ID}
}
