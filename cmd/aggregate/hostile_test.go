package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/test/storetest"
	"github.com/fieldtrie/fieldtrie/trie"
)

// hostileNames contain escape sequences or characters that look like others.
var hostileNames = []string{
	"\x1b[31mred\x1b]0;title\x07", "\u009b31m", "\u202eevil\u202c", "\u2066x\u2069", "a\rb", "a\nb\nc", "\x01soh",
	"\x7fdel", "tab\there",
	"\u200bzero", "\ufeffbom", "a\u2028b\u2029c", "\U000e0041tag", "\u115f\u3164filler", "\u061carab", "\u0085next",
	"<img src=x onerror=alert(1)>", "</script><script>alert(1)</script>", "x\r\nSet-Cookie: a=b",
}

// hostileTrace returns a trace with hostile names in all its fields. n makes it unique.
func hostileTrace(n int) *trie.Trace {
	all := strings.Join(hostileNames, "")
	tr := &trie.Trace{Trie: *trie.New()}
	tr.Context = trie.Context{Page: "/" + all, ViewID: fmt.Sprintf("%016d", n), Release: fmt.Sprintf("r%d%s", n%2, all),
		Environment: all, Interval: 10_000,
		Labels: trie.MakeLabels("device", all, "phase", "load"+all)}
	for i, name := range hostileNames {
		at := int64(i) * 10_000
		node := tr.Insert(trie.Frame{Name: name, Resource: "https://x.example/" + name + ".js", Line: uint32(i + 1),
			Column: 1})
		tr.Samples = append(tr.Samples, trie.Sample{Time: at, Node: node})
		tr.Context.Spans = append(tr.Context.Spans, trie.Span{Kind: trie.SpanFeature, Name: name, Start: at,
			Length: 10_000})
	}
	trie.SortSpans(tr.Context.Spans)
	return tr
}

// unfit returns the characters of a text that are unsafe for a terminal.
func unfit(text string) (out []string) {
	for _, r := range text {
		if r != '\n' && r != unicode.ReplacementChar && !unicode.IsPrint(r) || r == 0x3164 || r == 0x115f {
			out = append(out, fmt.Sprintf("%U", r))
		}
	}
	return out
}

// hostileData returns a data directory with hostile traces.
func hostileData(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	s, end := storetest.OpenDirectory(t, filepath.Join(dir, "data"), nil)
	var recs []store.Record
	for n := range 40 {
		tr := hostileTrace(n)
		payload, err := encode.EncodeTrace(tr)
		if err != nil {
			t.Fatal(err)
		}
		rec := store.Record{Pages: []string{tr.Context.Page}, Payload: payload}
		copy(rec.ID.View[:], tr.Context.ViewID)
		for _, name := range hostileNames {
			rec.Tags = append(rec.Tags, store.Tag{Key: "feature", Value: name})
		}
		rec.Tags = append(rec.Tags, store.Tag{Key: "release", Value: tr.Context.Release})
		recs = append(recs, rec)
	}
	if _, err := s.Append(t.Context(), recs); err != nil {
		t.Fatal(err)
	}
	end()
	return filepath.Join(dir, "data")
}

// Every command that prints hostile names makes them safe for a terminal.
func TestHostileNames(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, content []byte) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	tr := hostileTrace(0)
	binary, err := encode.EncodeTrace(tr)
	if err != nil {
		t.Fatal(err)
	}
	trace := file("hostile.trie", binary)
	events, err := json.Marshal(map[string]any{"traceEvents": []map[string]any{
		{"ph": "M", "pid": 1, "tid": 1, "name": "thread_name",
			"args": map[string]any{"name": strings.Join(hostileNames, "")}},
		{"ph": "P", "pid": 1, "tid": 1, "id": "0x1", "ts": 1, "name": "Profile",
			"args": map[string]any{"data": map[string]any{"startTime": 1}}},
		{"ph": "P", "pid": 1, "tid": 1, "id": "0x1", "ts": 2, "name": "ProfileChunk",
			"args": map[string]any{"data": map[string]any{
				"cpuProfile": map[string]any{"nodes": []map[string]any{{"id": 1,
					"callFrame": map[string]any{"functionName": "(root)"}}, {"id": 2, "parent": 1,
					"callFrame": map[string]any{"functionName": hostileNames[0]}}},
					"samples": []int{2, 2}}, "timeDeltas": []int{10, 10}}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	recording := file("hostile.json", events)
	rules := file("budgets.yaml",
		[]byte("budgets:\n  - name: stays fast\n    owner: \"\\u202Eteam\"\n    page: \"/\\u202Efeed\"\n    metric: "+
			"p75\n    limit: 250ms\n"))

	data, page := []string{"--data", hostileData(t)}, []string{"--page", tr.Context.Page}
	with := func(parts ...[]string) (all []string) {
		for _, p := range parts {
			all = append(all, p...)
		}
		return all
	}
	for name, args := range map[string][]string{
		"pages":         with(data, []string{"--list", "pages"}),
		"features":      with(data, []string{"--list", "features"}),
		"releases":      with(data, []string{"--list", "releases"}),
		"stats":         with(data, []string{"--stats"}),
		"stats of page": with(data, page, []string{"--stats"}),
		"top":           with(data, page, []string{"-f", "top"}),
		"tree":          with(data, page, []string{"-f", "tree"}),
		"top of file":   {"-f", "top", trace},
		"tree of file":  {"-f", "tree", trace},
		"threads":       {"--list", "threads", recording},
		"comparison": with(data, page, []string{"--release", tr.Context.Release, "--compare-release",
			hostileTrace(1).Context.Release, "--min-views", "2"}),
		"no such page":  with(data, []string{"--page", "/no" + hostileNames[0], "-f", "top"}),
		"no such label": with(data, []string{"--label", "device=" + hostileNames[2], "-f", "top"}),
		"bad flag":      {"--list", hostileNames[0]},
		"no such file":  {"-f", "top", filepath.Join(dir, hostileNames[0])},
		"budgets":       with(data, []string{"--budgets", rules}),
		"base":          {"-f", "top", "--diff", trace, trace},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			status := report(&stderr, run(t.Context(), args, strings.NewReader(""), &stdout, &stderr))
			if bad := unfit(stdout.String() + stderr.String()); len(bad) > 0 {
				t.Errorf("wrote %s:\n%q\n%q", bad, &stdout, &stderr)
			}
			if !strings.Contains(stdout.String()+stderr.String(), "�") {
				t.Errorf("no hostile name was written (status %d):\n%s\n%s", status, &stdout, &stderr)
			}
		})
	}
}

// Responses to agents have no unsafe characters, neither in texts nor in values.
func TestHostileMCP(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), runMain+"=mcp --data "+hostileData(t))
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(),
		&mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = session.Close() }()
	page, all := hostileTrace(0).Context.Page, strings.Join(hostileNames, "")
	type arguments = map[string]any
	for _, c := range []struct {
		tool string
		args arguments
	}{
		{"pages", nil}, {"pages", arguments{"since": all}},
		{"top_functions", arguments{"page": page}}, {"top_functions", arguments{"page": all}},
		{"top_functions", arguments{"feature": hostileNames[0]}},
		{"callers", arguments{"page": page, "name": hostileNames[0]}},
		{"callers", arguments{"page": page, "name": all}},
		{"compare", arguments{"page": page, "release": hostileTrace(0).Context.Release,
			"compare_release": hostileTrace(1).Context.Release}},
		{"compare", arguments{"page": page, "release": all, "compare_release": "x" + all}},
		{"explain", arguments{"page": page, "name": hostileNames[0]}}, {"trend", arguments{"page": page}},
		{"web_vitals", arguments{"page": all}},
		{"in_files", arguments{"paths": []string{hostileNames[0] + ".js", all}}}, {"verify", arguments{"change": all}},
		{"profiling_cost", arguments{"page": all}},
	} {
		res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: c.tool, Arguments: c.args})
		if err != nil {
			t.Errorf("%s: %v", c.tool, err)
			continue
		}
		text := strings.Join(texts(res.StructuredContent), "")
		for _, part := range res.Content {
			text += part.(*mcp.TextContent).Text
		}
		if bad := unfit(text); len(bad) > 0 || strings.Contains(text, "\nSet-Cookie") {
			t.Errorf("%s %q: got %s in %q", c.tool, c.args, bad, text)
		}
	}
}

// texts returns all strings in a JSON value.
func texts(v any) (all []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		for _, x := range v {
			all = append(all, texts(x)...)
		}
	case map[string]any:
		for key, x := range v {
			all = append(append(all, key), texts(x)...)
		}
	}
	return all
}

// Hostile names stay text in a browser: no response has them as markup or in a header, and HTML
// documents have them in printable form.
func TestHostileHTTP(t *testing.T) {
	_, get := browsing(t, "--data", hostileData(t))
	page := url.QueryEscape(hostileTrace(0).Context.Page)
	all := url.QueryEscape(strings.Join(hostileNames, ""))
	for _, path := range []string{
		"/pprof/", "/pprof/profile?page=" + page, "/api/v1/catalog", "/api/v1/top?page=" + page, "/api/v1/tree?page=" +
			page, "/api/v1/views?page=" + page, "/api/v1/stats?page=" + page,
		"/api/v1/profile?format=svg&page=" + page, "/api/v1/profile?format=csv&page=" + page,
		"/api/v1/profile?format=folded&page=" + page, "/api/v1/profile?format=top&page=" + page,
		"/api/v1/top?page=" + all, "/api/v1/top?since=" + all, "/api/v1/top?" + all + "=1", "/api/v1/" + all, "/" + all,
		"/pprof/profile?page=" + all, "/pprof/profile?since=" + all,
	} {
		w := get(path, "127.0.0.1:1")
		media, body := w.Header().Get("Content-Type"), w.Body.String()
		if w.Header().Get("X-Content-Type-Options") != "nosniff" || w.Header().Get("Set-Cookie") != "" ||
			strings.ContainsFunc(fmt.Sprint(w.Header()), unicode.IsControl) {
			t.Errorf("%.60s: got the headers %q", path, w.Header())
		}
		switch document := strings.HasPrefix(media, "text/html") || media == "image/svg+xml"; {
		case document && (strings.Contains(body, "<img") || strings.Contains(body, "<script>alert") ||
			!strings.Contains(w.Header().Get("Content-Security-Policy"), "default-src 'none'")):
			t.Errorf("%.60s: got %q with %q", path, body, w.Header())
		case document, strings.HasPrefix(media, "text/"):
			if bad := unfit(body); len(bad) > 0 {
				t.Errorf("%.60s: got %s in %q", path, bad, body)
			}
		case media != "application/json" && media != "application/octet-stream":
			t.Errorf("%.60s: got %d of the type %q", path, w.Code, media)
		}
	}
}
