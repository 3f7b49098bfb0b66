package web

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
)

// policy allows pages of the dashboard to load only resources of this origin. Texts, such as names
// of functions, cannot become scripts.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types " +
	"'none'"

const notBuilt = `The dashboard is not in this binary: it was built without. Run "make web" and build again, or use ` +
	`a release.
All that it would show is answered under /api/v1/ and by aggregate.
`

// file is a file of the dashboard.
type file struct {
	media   string
	body    []byte
	gzipped []byte
}

// load reads the built files.
var load = sync.OnceValues(func() (map[string]file, error) { return read(files()) })

func read(from fs.FS) (map[string]file, error) {
	all := map[string]file{}
	err := fs.WalkDir(from, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() || path.Base(name) == ".gitkeep" {
			return err
		}
		body, err := fs.ReadFile(from, name)
		if err != nil {
			return err
		}
		var b bytes.Buffer
		z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
		_, _ = z.Write(body) // a buffer takes everything
		_ = z.Close()
		all[name] = file{mime.TypeByExtension(path.Ext(name)), body, b.Bytes()}
		return nil
	})
	return all, err
}

// Handler serves the dashboard. Each path of one segment that a browser navigates to gets its page.
// The page uses relative URLs, so a proxy can serve it under any path. Other paths get 404, and
// methods other than GET and HEAD 405. Without a dashboard in the binary, pages get 503.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, r.URL.Path+" answers GET", http.StatusMethodNotAllowed)
			return
		}
		all, err := load()
		if err != nil {
			http.Error(w, fmt.Sprintf("read the dashboard: %v", err), http.StatusInternalServerError)
			return
		}
		serve(w, r, all)
	})
}

// routes returns the paths of the pages, as src/routes.tsx has them.
func routes() []string {
	return []string{"", "pages", "features", "page", "feature", "function", "compare", "audience", "ownership", "views",
		"view", "file", "changes", "budgets", "health"}
}

// isPage reports whether to respond with the document of the dashboard. Browsers get it for every
// path, and it reports unknown pages. Other clients get it only for known pages, so that a program
// with a mistyped path gets an error.
func isPage(name, accept string) bool {
	return !strings.ContainsAny(name, "/.") && (strings.Contains(accept, "text/html") ||
		slices.Contains(routes(), name) && (accept == "" || strings.Contains(accept, "*/*")))
}

func serve(w http.ResponseWriter, r *http.Request, all map[string]file) {
	name := strings.TrimPrefix(r.URL.Path, "/")
	caching := "no-cache"
	if name == "favicon.ico" { // browsers ask for one on pages that name none: /licenses and /docs/
		w.Header().Set("Cache-Control", "public, max-age=86400")
		w.WriteHeader(http.StatusNoContent)
		return
	}
	switch {
	case strings.HasPrefix(name, "assets/"): // names change with what is in them
		caching = "public, max-age=31536000, immutable"
	case name == "licenses":
		name = "licenses.txt"
	case isPage(name, r.Header.Get("Accept")):
		name = "index.html"
	default:
		name = ""
	}
	f, ok := all[name]
	switch {
	case !ok && name == "index.html":
		http.Error(w, notBuilt, http.StatusServiceUnavailable)
		return
	case !ok:
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Cache-Control", caching)
	h.Set("Content-Security-Policy", policy)
	h.Set("Content-Type", f.media)
	h.Add("Vary", "Accept-Encoding")
	body := f.body
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		body = f.gzipped
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}
