package sdk

import (
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"sync"
)

// sources are the scripts that there may be: the key in /sdk.json, the name with which
// each is served, and the file.
var sources = []struct{ key, stem, ext, file string }{
	{"script", "sdk", ".js", "dist/fieldtrie.js"},
	{"module", "sdk", ".mjs", "dist/fieldtrie.mjs"},
	{"core", "sdk-core", ".js", "dist/core.js"},
	{"coreModule", "sdk-core", ".mjs", "dist/core.mjs"},
}

// hashDigits is how much of the hash of a script is in its name: enough to tell versions
// apart, which is all it is for. The integrity is for those who do not trust the server.
const hashDigits = 12

// script is a script that is there.
type script struct {
	key, stem, ext string
	hash           string
	integrity      string // value of the attribute of that name
	body           []byte
}

// path returns where this version is served, and no other ever.
func (s *script) path() string { return "/" + s.stem + "." + s.hash + s.ext }

// latest returns where the present version is served.
func (s *script) latest() string { return "/" + s.stem + s.ext }

// load returns the scripts that are in files.
func load(files fs.FS) (out []script) {
	for _, s := range sources {
		body, err := fs.ReadFile(files, s.file)
		if err != nil {
			continue // not every build has it
		}
		sum, long := sha256.Sum256(body), sha512.Sum384(body)
		out = append(out, script{
			key: s.key, stem: s.stem, ext: s.ext, body: body,
			hash:      hex.EncodeToString(sum[:])[:hashDigits],
			integrity: "sha384-" + base64.StdEncoding.EncodeToString(long[:]),
		})
	}
	return out
}

// built returns the scripts of this build.
var built = sync.OnceValue(func() []script { return load(dist) })

// Script returns the path at which [Scripts] serves the present version of a script, and
// no other ever, and the value of the attribute integrity for it. The name is sdk.js,
// sdk.mjs, sdk-core.js or sdk-core.mjs; both are "" if this build has no such script.
func Script(name string) (path, integrity string) {
	for _, s := range built() {
		if s.latest() == "/"+name {
			return s.path(), s.integrity
		}
	}
	return "", ""
}

// Scripts serves the scripts, see the package's documentation. Pages of all origins may
// load them.
func Scripts() http.Handler { return newScripts(built()) }

// scriptHandler serves scripts.
type scriptHandler struct {
	scripts []script
	files   map[string]*file // by path
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
	f, ok := h.files[r.URL.Path]
	switch {
	case !ok:
		head.Set("Cache-Control", "no-cache") // it may be there after the next deployment
		http.Error(w, h.missing(r.URL.Path), http.StatusNotFound)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		head.Set("Allow", "GET, HEAD")
		http.Error(w, "scripts can be read, not written; use GET", http.StatusMethodNotAllowed)
	default:
		f.serve(w, r)
	}
}

// missing says what to ask for instead of path.
func (h *scriptHandler) missing(path string) string {
	for _, s := range h.scripts {
		hash, ok := strings.CutPrefix(path, "/"+s.stem+".")
		if ok && strings.HasSuffix(hash, s.ext) {
			return fmt.Sprintf("%s is not the current version; that is %s, also at %s, and /sdk.json has its integrity", path, s.path(), s.latest())
		}
	}
	return "there is nothing here; /sdk.json lists the scripts"
}
