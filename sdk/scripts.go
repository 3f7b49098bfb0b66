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

// sources are the possible scripts: the key in /sdk.json, and the file, whose name is also in the
// URL. Parts are loaded by the other scripts, which contain their integrity.
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

// hashDigits is the number of digits of a script's hash in its name, enough to distinguish
// versions. Security relies on the integrity, not on the name.
const hashDigits = 12

// script is a script of this build.
type script struct {
	key, file string
	part      bool
	body      []byte
	brotli    []byte // the same; nil if the build has none
	hash      string
	integrity string // value of the attribute of that name
}

// path returns the path of exactly this version. Paths of parts contain their integrity after the
// name, which is all that the short loader contains about them.
func (s *script) path() string {
	if s.part {
		return s.latest() + "?" + s.integrity
	}
	ext := path.Ext(s.file)
	return "/" + strings.TrimSuffix(s.file, ext) + "." + s.hash + ext
}

// plain returns the neutral path of a script, which filter lists of ad blockers cannot block:
// /all.js for /sdk-all.js, and /load.js for /sdk.js. The loader requests parts by these.
func plain(path string) string {
	return strings.Replace(strings.Replace(path, "/sdk-", "/", 1), "/sdk.", "/load.", 1)
}

// latest returns the path of the current version.
func (s *script) latest() string { return "/" + s.file }

// Integrity returns the value of the attribute integrity for a script.
func Integrity(script []byte) string {
	sum := sha256.Sum256(script)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// load returns the scripts in files. It ignores missing ones.
func load(files fs.FS) (out []script) {
	for _, s := range sources {
		body, err := fs.ReadFile(files, "dist/"+s.file)
		if err != nil {
			continue // not every build has it
		}
		sum := sha256.Sum256(body)
		hash := hex.EncodeToString(sum[:])[:hashDigits]
		brotli, _ := fs.ReadFile(files, "brotli/"+hash+".br") // without it, it is served in gzip
		out = append(out, script{s.key, s.file, s.part, body, brotli, hash, Integrity(body)})
	}
	return out
}

// built returns the scripts of this build.
var built = sync.OnceValue(func() []script { return load(dist) })

// Script returns the path at which [Scripts] serves exactly the current version of a script, and
// the value of its attribute integrity. The names are listed in the package's documentation; both
// results are "" if this build has no such script.
func Script(name string) (path, integrity string) {
	for _, s := range built() {
		if s.latest() == "/"+name {
			return s.path(), s.integrity
		}
	}
	return "", ""
}

// Source returns a script as served, or nil if this build has no such script. The caller must not
// change it.
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
		if len(s.brotli) > 0 {
			f.encoded = append([]encoding{{"br", s.brotli}}, f.encoded...)
		}
		forEver := *f
		forEver.cache = "public, max-age=31536000, immutable" // a year
		h.files[s.latest()], h.files[s.path()] = f, &forEver
		h.files[plain(s.latest())], h.files[plain(s.path())] = f, &forEver
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

// missing suggests a path for a missing script.
func (h *scriptHandler) missing(asked string) string {
	for _, s := range h.scripts {
		name, _, _ := strings.Cut(asked, "?")
		ext := path.Ext(s.file)
		hash, ok := strings.CutPrefix(name, strings.TrimSuffix(s.latest(), ext)+".")
		if name == s.latest() || ok && strings.HasSuffix(hash, ext) {
			return fmt.Sprintf("%s is not the current version; that is %s, also at %s, and /sdk.json has its integrity",
				asked, s.path(), s.latest())
		}
	}
	return "there is nothing here; /sdk.json lists the scripts"
}
