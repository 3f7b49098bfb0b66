package sdk

import (
	"fmt"
	"html"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
)

// Demo serves a page for trying out the script, below /demo/. The page sends to the collector with
// the given URL, such as http://127.0.0.1:8418, and loads the script from there. All paths without
// a dot are routes of the page. With ?header=off the page is served without the headers that select
// it for profiling, to show the difference.
func Demo(collector string) http.Handler { return newDemo(demo, collector) }

// demoHandler serves the files of the demo.
type demoHandler struct {
	files     fs.FS
	collector string
}

func newDemo(files fs.FS, collector string) http.Handler {
	mux := http.NewServeMux()
	h := demoHandler{files, collector}
	mux.HandleFunc("GET /demo/{file...}", h.get)
	return mux
}

func (h demoHandler) get(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("file")
	if name == "index.html" || !strings.Contains(name, ".") {
		h.document(w, r)
		return
	}
	h.file(w, name)
}

// document serves the page.
func (h demoHandler) document(w http.ResponseWriter, r *http.Request) {
	text, err := fs.ReadFile(h.files, "demo/index.html")
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	head := w.Header()
	head.Set("Content-Type", "text/html; charset=utf-8")
	head.Set("Content-Security-Policy", fmt.Sprintf("default-src 'none'; script-src 'self' %[1]s; connect-src %[1]s; "+
		"style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
		h.collector))
	if r.URL.Query().Get("header") != "off" {
		head.Set(policyHeader, policy)
		head.Set(timingHeader, serverTiming(1))
	}
	setFileHeaders(head)
	_, _ = fmt.Fprint(w, strings.ReplaceAll(string(text), "{{collector}}", html.EscapeString(h.collector)))
}

// file serves a file of the page.
func (h demoHandler) file(w http.ResponseWriter, name string) {
	data, err := fs.ReadFile(h.files, "demo/"+name)
	if err != nil {
		http.Error(w, fmt.Sprintf("the demo has no file %s", name), http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(name)))
	setFileHeaders(w.Header())
	_, _ = w.Write(data)
}

// setFileHeaders sets the headers of all files of the demo, which change with the build.
func setFileHeaders(h http.Header) {
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Content-Type-Options", "nosniff")
}

// DemoThirdParty serves a script of a fictional third party: its origin differs from the demo's,
// and it lacks the headers that would let the page's profiler show its frames.
func DemoThirdParty() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		data, err := demo.ReadFile("demo/third-party.js")
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
		_, _ = w.Write(data)
	})
}
