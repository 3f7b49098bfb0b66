package sdk

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
)

// sources are the scripts that there may be: the key in /sdk.json, and the file, whose name is the
// one with which it is served. Parts are loaded by the others, which know their integrity.
var sources = []struct {
	key, file string
	part      bool
}{
	{"script", "sdk.js", false},
	{"module", "sdk.mjs", false},
	{"all", "sdk-all.js", false},
	{"allModule", "sdk-all.mjs", false},
	{"core", "sdk-core.js", false},
	{"coreModule", "sdk-core.mjs", false},
	{"rest", "sdk-rest.mjs", true},
	{"stackless", "sdk-stackless.mjs", true},
	{"recorder", "sdk-recorder.mjs", true},
}

// hashDigits is how much of the hash of a script is in its name: enough to tell versions
// apart, which is all it is for. The integrity is for those who do not trust the server.
const hashDigits = 12

// script is a script that is there.
type script struct {
	key, file string
	part      bool
	body      []byte
	hash      string
	integrity string // value of the attribute of that name
}

// path returns where this version is served, and no other ever. Parts have their integrity behind
// their name, since that is all that the loader knows of them, to be short.
func (s *script) path() string {
	if s.part {
		return s.latest() + "?" + s.integrity
	}
	ext := path.Ext(s.file)
	return "/" + strings.TrimSuffix(s.file, ext) + "." + s.hash + ext
}

// latest returns where the present version is served.
func (s *script) latest() string { return "/" + s.file }

// Integrity returns the value of the attribute integrity for a script.
func Integrity(script []byte) string {
	sum := sha256.Sum256(script)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// load returns the scripts that are in files.
func load(files fs.FS) (out []script) {
	for _, s := range sources {
		body, err := fs.ReadFile(files, "dist/"+s.file)
		if err != nil {
			continue // not every build has it
		}
		sum := sha256.Sum256(body)
		out = append(out, script{s.key, s.file, s.part, body, hex.EncodeToString(sum[:])[:hashDigits], Integrity(body)})
	}
	return out
}

// built returns the scripts of this build.
var built = sync.OnceValue(func() []script { return load(dist) })

// Script returns the path at which [Scripts] serves the present version of a script, and
// no other ever, and the value of the attribute integrity for it. The name is one of those in
// the package's documentation; both are "" if this build has no such script.
func Script(name string) (path, integrity string) {
	for _, s := range built() {
		if s.latest() == "/"+name {
			return s.path(), s.integrity
		}
	}
	return "", ""
}

// Source returns a script as it is served, nil if this build has no such script. Nobody may change it.
func Source(name string) []byte {
	for _, s := range built() {
		if s.latest() == "/"+name {
			return s.body
		}
	}
	return nil
}

// Scripts serves the scripts, see the package's documentation. Pages of all origins may
// load them.
func Scripts() http.Handler { return newScripts(built()) }

// scriptHandler serves scripts.
type scriptHandler struct {
	scripts []script
	files   map[string]*file // by path, of parts with what is behind the question mark
}

func newScripts(scripts []script) *scriptHandler {
	h := &scriptHandler{scripts, map[string]*file{}}
	type place struct {
		Path      string `json:"path"`
		Integrity string `json:"integrity"`
	}
	places := map[string]place{} // by key
	for _, s := range scripts {
		f := newFile(s.body, s.hash, "text/javascript; charset=utf-8")
		forEver := *f
		forEver.cache = "public, max-age=31536000, immutable" // a year
		h.files[s.latest()], h.files[s.path()] = f, &forEver
		places[s.key] = place{s.path(), s.integrity}
	}
	list, err := json.MarshalIndent(places, "", "  ")
	if err != nil {
		panic(err) // it is a map of strings
	}
	list = append(list, '\n')
	sum := sha256.Sum256(list)
	h.files["/sdk.json"] = newFile(list, hex.EncodeToString(sum[:])[:hashDigits], "application/json")
	return h
}

func (h *scriptHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	head := w.Header()
	head.Set("Access-Control-Allow-Origin", "*")
	head.Set("Cross-Origin-Resource-Policy", "cross-origin")
	head.Set("Timing-Allow-Origin", "*")
	head.Set("X-Content-Type-Options", "nosniff")
	asked := r.URL.Path
	f, ok := h.files[asked]
	if strings.HasPrefix(r.URL.RawQuery, "sha256-") {
		asked += "?" + r.URL.RawQuery
		f, ok = h.files[asked]
	}
	switch {
	case !ok:
		head.Set("Cache-Control", "no-cache") // it may be there after the next deployment
		http.Error(w, h.missing(asked), http.StatusNotFound)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		head.Set("Allow", "GET, HEAD")
		http.Error(w, "scripts can be read, not written; use GET", http.StatusMethodNotAllowed)
	default:
		f.serve(w, r)
	}
}

// missing says what to ask for instead.
func (h *scriptHandler) missing(asked string) string {
	for _, s := range h.scripts {
		name, _, _ := strings.Cut(asked, "?")
		ext := path.Ext(s.file)
		hash, ok := strings.CutPrefix(name, strings.TrimSuffix(s.latest(), ext)+".")
		if name == s.latest() || ok && strings.HasSuffix(hash, ext) {
			return fmt.Sprintf("%s is not the current version; that is %s, also at %s, and /sdk.json has its integrity", asked, s.path(), s.latest())
		}
	}
	return "there is nothing here; /sdk.json lists the scripts"
}
