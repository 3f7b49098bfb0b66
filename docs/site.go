package docs

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"mime"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

//go:embed *.md *.yaml images/*.png site
var sources embed.FS

// section is a kind of documentation, see https://diataxis.fr.
type section struct {
	Title string
	Pages []purpose
}

// purpose describes a page. Name is the name of its file without .md; Keywords are further words
// for the search, such as terms of other products.
type purpose struct{ Name, For, Keywords string }

// sections are all pages, in the order of the contents.
func sections() []section {
	return []section{
		{"Tutorial", []purpose{
			{"demo", "a shop with visits of three releases, to look around in", "example try sample"},
			{"tutorial", "from the start of the daemon to a slow function that is found and fixed",
				"getting started quick start first"},
		}},
		{"How to", []purpose{
			{"install", "packages, archives, the image, Kubernetes",
				"install upgrade update docker helm systemd setup"},
			{"sdk", "the script on your pages: header, loading, options, delivery, coverage",
				"install react next vue nuxt svelte angular snippet tag npm"},
			{"features", "names for parts of a page, labels, sampling, the flight recorder",
				"spans user timing custom attributes dimensions"},
			{"vitals", "Web Vitals with their elements, slow interactions, time without a stack",
				"inp lcp cls rum core"},
			{"cost", "what profiling costs your visitors, and a careful roll-out", "overhead performance impact"},
			{"upload", "names for minified functions, from source maps", "sourcemap symbolication deobfuscate"},
			{"bundlers", "the options that each bundler needs for that",
				"vite webpack rollup esbuild turbopack rspack parcel"},
			{"dashboard", "what its views show, and the keys", "ui shortcuts flame graph"},
			{"releases", "which command answers which question about a release",
				"compare report verdict budgets changes regression canary"},
			{"ci", "reports on releases and comparisons in the lab, for pull requests",
				"github gitlab regression test"},
			{"mcp", "queries by coding agents", "ai llm claude cursor"},
			{"grafana", "data sources, a dashboard and Prometheus", "pyroscope metrics"},
			{"teams", "several sites and teams on one daemon", "tenants tokens oidc login sso"},
			{"operations", "settings, addresses, access, limits, logs, health, memory",
				"configuration proxy tls https deploy"},
			{"alerts", "what each alert means, and what to do", "alerts runbook prometheus"},
			{"running-storage", "size of the data, backups, repairs, many machines, upgrades",
				"upgrade s3 bucket restore scale retention"},
		}},
		{"Reference", []purpose{
			{"api", "queries over HTTP", "rest openapi curl"},
			{"changes", "how changes of pages are found, and their causes", "regression alerts anomaly detection"},
			{"notifications", "channels and rules for changes", "alerts slack email webhook"},
			{"budgets", "limits for pages, features and functions", "slo threshold"},
			{"owners", "whose code a function is", "codeowners third party team"},
			{"formats", "the files of other tools that aggregate reads and writes",
				"convert import export pprof speedscope devtools cpuprofile"},
			{"go", "packages that read traces, profiles and stored data", "library golang"},
			{"format", "the binary format of traces", "protobuf wire encoding"},
			{"storage", "objects, manifests and the protocol of nodes", "badger segments rollups"},
			{"security", "permissions, and data that is removed from traces", "threat model redaction xss auth"},
			{"privacy", "what is stored of a visitor, erasure, consent",
				"gdpr ccpa delete deletion personal data cookies"},
			{"benchmarks", "measurements, with their commands", "speed datadog sentry"},
		}},
		{"Explanation", []purpose{
			{"symbols", "how functions get their names", "source maps minified"},
			{"design", "decisions and their reasons", "architecture glossary statistics"},
			{"diary", "experiments that were measured and rejected", "history"},
		}},
	}
}

// Files returns the files of the site, by their names: HTML, pictures, a style, scripts. index.html
// is the start page. All links are relative.
func Files() (map[string][]byte, error) { return rendered() }

var rendered = sync.OnceValues(render)

func render() (map[string][]byte, error) {
	files := map[string][]byte{}
	shape, err := template.ParseFS(sources, "site/page.html")
	if err != nil {
		return nil, err
	}
	var pages []*page
	for _, s := range sections() {
		for _, is := range s.Pages {
			p, err := readPage(is.Name)
			if err != nil {
				return nil, fmt.Errorf("page %s: %w", is.Name, err)
			}
			p.entries[0].Keywords = is.Keywords
			pages = append(pages, p)
		}
	}
	titles := map[string]string{}
	var index []entry
	for _, p := range pages {
		titles[p.Name] = p.Title
		index = append(index, p.entries...)
	}
	for i, p := range append(pages, indexPage(titles)) {
		var b bytes.Buffer
		of := struct {
			*page
			Sections       []section
			Titles         map[string]string
			Previous, Next *page // in the order of the contents; nil at the ends
		}{page: p, Sections: sections(), Titles: titles}
		if i < len(pages) {
			if i > 0 {
				of.Previous = pages[i-1]
			}
			if i+1 < len(pages) {
				of.Next = pages[i+1]
			}
		}
		err := shape.Execute(&b, of)
		if err != nil {
			return nil, fmt.Errorf("page %s: %w", p.Name, err)
		}
		files[p.Name+".html"] = b.Bytes()
	}
	words, err := json.Marshal(index)
	if err != nil {
		return nil, err
	}
	files["index.js"] = slices.Concat([]byte("window.searched = "), words, []byte(";\n"))
	return files, addAssets(files)
}

// addAssets adds the files of this folder that are served unchanged.
func addAssets(files map[string][]byte) error {
	for name, from := range map[string]string{"docs.css": "site/docs.css", "docs.js": "site/docs.js"} {
		data, err := sources.ReadFile(from)
		if err != nil {
			return err
		}
		files[name] = data
	}
	return fs.WalkDir(sources, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || path.Ext(name) != ".png" && path.Ext(name) != ".yaml" {
			return err
		}
		files[name], err = sources.ReadFile(name)
		return err
	})
}

// indexPage is the start page.
func indexPage(titles map[string]string) *page {
	var b strings.Builder
	b.WriteString("<h1>Fieldtrie</h1><p>JavaScript profiles from real users: what each part of this documentation " +
		"is for.</p>")
	for _, s := range sections() {
		fmt.Fprintf(&b, "<h2>%s</h2><ul>", template.HTMLEscapeString(s.Title))
		for _, p := range s.Pages {
			fmt.Fprintf(&b, `<li><a href="%s.html">%s</a>: %s</li>`, p.Name, template.HTMLEscapeString(titles[p.Name]),
				template.HTMLEscapeString(p.For))
		}
		b.WriteString("</ul>")
	}
	return &page{Name: "index", Title: "Documentation", Body: template.HTML(b.String())}
}

// Write writes the site into a directory, and creates it if it is missing.
func Write(dir string) error {
	files, err := Files()
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		to := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(to, files[name], 0o644); err != nil {
			return err
		}
	}
	return nil
}

// policy lets pages load only files of the site.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; " +
	"form-action 'none'; frame-ancestors 'self'"

// daemon begins the links from a page of the site to the daemon. [Handler] makes them relative,
// since the daemon may have another address.
const daemon = `href="http://127.0.0.1:8419/`

// Handler serves the site below a path of one name that ends with a slash, such as /docs/.
func Handler(prefix string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		files, err := Files()
		if err != nil { // a test has made it of the same files
			http.Error(w, "render documentation: "+err.Error(), http.StatusInternalServerError)
			return
		}
		name := strings.TrimPrefix(r.URL.Path, prefix)
		if name == "" {
			name = "index.html"
		}
		data, ok := files[name]
		if !ok {
			http.NotFound(w, r)
			return
		}
		data = bytes.ReplaceAll(data, []byte(daemon), []byte(`href="../`))
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("Content-Type", mediaOf(name))
		h.Set("Cache-Control", "no-cache")
		_, _ = w.Write(data) // the client may have gone
	})
}

func mediaOf(name string) string {
	switch path.Ext(name) { // as systems differ in what they know
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".yaml":
		return "text/plain; charset=utf-8"
	}
	return mime.TypeByExtension(path.Ext(name))
}
