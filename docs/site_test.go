package docs

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestListed has each file of this folder on the site.
func TestListed(t *testing.T) {
	files, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, s := range sections() {
		for _, p := range s.Pages {
			name := p.Name
			listed = append(listed, name+".md")
		}
	}
	slices.Sort(listed)
	if !slices.Equal(files, listed) {
		t.Errorf("files %v, listed are %v", files, listed)
	}
}

var (
	links = regexp.MustCompile(`\]\(([^()\s]+)\)|<(?:a|img|source)\s[^>]*?(?:href|src)="([^"]+)"`)
	code  = regexp.MustCompile("(?ms)^```.*?^```|`[^`\n]*`")
)

// TestLinks has all links of the documentation lead to files and headings that are there.
func TestLinks(t *testing.T) {
	files, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"} {
		files = append(files, "../"+name)
	}
	checked := 0
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range links.FindAllStringSubmatch(code.ReplaceAllString(string(text), ""), -1) {
			to := m[1] + m[2]
			if strings.Contains(to, "://") || strings.HasPrefix(to, "mailto:") {
				continue
			}
			checked++
			file, anchor, _ := strings.Cut(to, "#")
			path := name
			if file != "" {
				path = filepath.Join(filepath.Dir(name), file)
			}
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s: link to %s: %v", name, to, err)
				continue
			}
			if anchor != "" && !slices.Contains(anchorsOf(t, path), anchor) {
				t.Errorf("%s: link to %s: no heading has this anchor", name, to)
			}
		}
	}
	if checked < 100 {
		t.Errorf("%d links are few", checked)
	}
}

// anchorsOf returns the anchors of the headings of a file, as GitHub makes them.
func anchorsOf(t *testing.T, file string) (all []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	ids := anchors{seen: map[string]int{}}
	for line := range strings.Lines(regexp.MustCompile("(?ms)^```.*?^```").ReplaceAllString(string(text), "")) {
		if m := regexp.MustCompile(`^#{1,6} (.*)`).FindStringSubmatch(line); m != nil {
			plain := regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`).ReplaceAllString(m[1], "$1")
			all = append(all, string(ids.Generate([]byte(plain), 0)))
		}
	}
	return all
}

// TestSite has each link and picture of the site lead to something on it.
func TestSite(t *testing.T) {
	files, err := Files()
	if err != nil {
		t.Fatal(err)
	}
	ids := regexp.MustCompile(`\sid="([^"]+)"`)
	for name, page := range files {
		if filepath.Ext(name) != ".html" {
			continue
		}
		if strings.Contains(string(page), "<!-- raw HTML omitted -->") {
			t.Errorf("%s: HTML of a file is left out", name)
		}
		for _, m := range regexp.MustCompile(`(?:href|src)="([^"]+)"`).FindAllStringSubmatch(string(page), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			file, anchor, _ := strings.Cut(m[1], "#")
			to, ok := files[file]
			if file == "" {
				to, ok = page, true
			}
			if !ok {
				t.Errorf("%s: link to %s, which is not there", name, m[1])
				continue
			}
			has := func(id []string) bool { return id[1] == anchor }
			if anchor != "" && !slices.ContainsFunc(ids.FindAllStringSubmatch(string(to), -1), has) {
				t.Errorf("%s: link to %s: no heading has this anchor", name, m[1])
			}
		}
	}
	dir := t.TempDir()
	if err := Write(dir); err != nil {
		t.Fatal(err)
	}
	if written, err := os.ReadFile(filepath.Join(dir, "images", "page.png")); err != nil || len(written) == 0 {
		t.Errorf("a picture: %d bytes, %v", len(written), err)
	}
}

func TestHandler(t *testing.T) {
	h := Handler("/docs/")
	for path, want := range map[string]struct {
		status int
		media  string
		says   string
	}{
		"/docs/":                {200, "text/html; charset=utf-8", "<title>Documentation"},
		"/docs/operations.html": {200, "text/html; charset=utf-8", `id="settings"`},
		"/docs/demo.html":       {200, "text/html; charset=utf-8", `<a href="../demo/">/demo/</a>`},
		"/docs/docs.css":        {200, "text/css; charset=utf-8", "prefers-color-scheme"},
		"/docs/docs.js":         {200, "text/javascript; charset=utf-8", "search"},
		"/docs/index.js":        {200, "text/javascript; charset=utf-8", "window.searched = [{"},
		"/docs/images/page.png": {200, "image/png", "PNG"},
		"/docs/site.go":         {404, "", ""}, "/docs/operations": {404, "", ""}, "/docs/../x": {404, "", ""},
		"/docs/site/page.html": {404, "", ""},
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if w.Code != want.status || want.status == 200 && (w.Header().Get("Content-Type") != want.media ||
			!strings.Contains(w.Body.String(), want.says) || strings.Contains(w.Body.String(),
			"http://127.0.0.1:8419/demo/") || w.Header().Get("Content-Security-Policy") != policy) {
			t.Errorf("%s: %d %s %.80q", path, w.Code, w.Header().Get("Content-Type"), w.Body.String())
		}
	}
}

func TestAnchor(t *testing.T) {
	for heading, want := range map[string]string{
		"Settings": "settings", "What a 202 means": "what-a-202-means", "`--help` & more: it's": "--help--more-its",
		"Moving in, and out": "moving-in-and-out", "Größe_1": "größe_1",
	} {
		if got := Anchor(heading); got != want {
			t.Errorf("%s: got %s, want %s", heading, got, want)
		}
	}
}

// Words that newcomers search for lead to a page by a keyword or a heading.
func TestSearched(t *testing.T) {
	files, err := Files()
	if err != nil {
		t.Fatal(err)
	}
	text := strings.TrimSuffix(strings.TrimPrefix(string(files["index.js"]), "window.searched = "), ";\n")
	var entries []entry
	if err := json.Unmarshal([]byte(text), &entries); err != nil {
		t.Fatal(err)
	}
	for word, page := range map[string]string{"install": "install", "gdpr": "privacy", "delete": "privacy",
		"react": "sdk", "upgrade": "install",
		"alerts": "alerts", "docker": "install", "slack": "notifications", "vite": "bundlers",
		"s3": "running-storage"} {
		if !slices.ContainsFunc(entries, func(e entry) bool {
			return e.Page == page && slices.Contains(strings.Fields(e.Keywords), word)
		}) {
			t.Errorf("%s does not lead to %s", word, page)
		}
	}
}

// The pages are a chain in the order of the contents, from the first one to the last.
func TestNextPage(t *testing.T) {
	files, err := Files()
	if err != nil {
		t.Fatal(err)
	}
	next := regexp.MustCompile(`rel="next" href="([^"]+)\.html"`)
	var got, want []string
	for name := sections()[0].Pages[0].Name; name != ""; {
		got = append(got, name)
		m := next.FindStringSubmatch(string(files[name+".html"]))
		if name = ""; m != nil && len(got) < len(files) {
			name = m[1]
		}
	}
	for _, s := range sections() {
		for _, p := range s.Pages {
			want = append(want, p.Name)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the chain is %v, not %v", got, want)
	}
}
