package collect

import (
	"math"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// keysOf returns keys that have only a value.
func keysOf(values ...string) (keys []Key) {
	for _, v := range values {
		keys = append(keys, Key{Value: v})
	}
	return keys
}

func TestKeys(t *testing.T) {
	bodies := map[string]string{"/v1/traces": traceJSON("f", ""), "/v1/views": `{"outcome":"error"}`}
	for _, c := range []struct {
		keys    string
		query   string
		allowed bool
		want    string
	}{
		{"", "", true, ""},
		{"", "?key=x", true, ""},
		{"one two", "?key=one", true, ""},
		{"one two", "?a=b&key=two", true, ""},
		{"one two", "", false, "parameter key: it is missing; send to "},
		{"one two", "?key=", false, "parameter key: it is missing"},
		{"one two", "?Key=one", false, "parameter key: it is missing"},
		{"one two", "?key=three", false, `parameter key: "three" is not one of this site's keys`},
		{"one two", "?key=ONE", false, `"ONE" is not`},
		{"one two", "?key=one%20two", false, `"one two" is not`},
	} {
		for path, body := range bodies {
			col, s := newCollector(Options{Keys: keysOf(strings.Fields(c.keys)...)})
			w := httptest.NewRecorder()
			r := httptest.NewRequest(http.MethodPost, path+c.query, strings.NewReader(body))
			r.Header.Set("Origin", "https://www.example.com")
			col.ServeHTTP(w, r)
			want := map[string]int{"/v1/traces": 202, "/v1/views": 204}[path]
			if !c.allowed {
				want = http.StatusUnauthorized
			}
			if w.Code != want || !strings.Contains(strings.ReplaceAll(w.Body.String(), `\"`, `"`), c.want) {
				t.Errorf("keys %q: %s%s: got %d %s, want %d with %q", c.keys, path, c.query, w.Code, w.Body,
					want, c.want)
			}
			if n := len(s.records) + len(s.views(t)); (n == 1) != c.allowed {
				t.Errorf("keys %q: %s%s: %d stored or counted", c.keys, path, c.query, n)
			}
			// The response must allow the page to read the reason.
			if w.Header().Get("Access-Control-Allow-Origin") != "*" {
				t.Errorf("keys %q: %s%s: headers %v", c.keys, path, c.query, w.Header())
			}
			if n := s.metric(t, "refused_total", "key"); (n == 1) == c.allowed {
				t.Errorf("keys %q: %s%s: %v are refused for their key", c.keys, path, c.query, n)
			}
		}
	}
	// An empty key in the list matches no request.
	col, _ := newCollector(Options{Keys: keysOf("")})
	if got := post(t, col, traceJSON("f", "")); got.status != http.StatusUnauthorized {
		t.Errorf("empty key: got %d", got.status)
	}
	// A page cannot read a preflight response, so preflights are answered for every key.
	w := httptest.NewRecorder()
	col, _ = newCollector(Options{Keys: keysOf("one")})
	col.ServeHTTP(w, httptest.NewRequest(http.MethodOptions, "/v1/traces?key=old", nil))
	if w.Code != http.StatusNoContent {
		t.Errorf("preflight: got %d", w.Code)
	}
}

// withKey sends a trace or its preflight request, and returns the response.
func withKey(c *Collector, method, key, origin string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "/v1/traces?key="+key, strings.NewReader(traceJSON("f", "")))
	if origin != "" {
		r.Header.Set("Origin", origin)
	}
	w := httptest.NewRecorder()
	c.ServeHTTP(w, r)
	return w
}

func TestKeyOrigins(t *testing.T) {
	const shop, blog, other = "https://shop.example", "https://a.blog.example", "https://other.example"
	keys := []Key{{Value: "s", Site: "shop", Origins: []string{shop}}, {Value: "b", Site: "blog",
		Origins: []string{"https://*.blog.example"}}, {Value: "d"}}
	for _, c := range []struct {
		general     []string // origins of the options
		key, origin string
		want        int
		allow       string
	}{
		{nil, "s", shop, 202, shop},
		{nil, "s", blog, 403, ""},
		{nil, "s", "", 202, ""},
		{nil, "b", blog, 202, blog},
		{nil, "b", shop, 403, ""},
		{nil, "d", other, 202, "*"},
		{nil, "x", other, 401, "*"},
		{[]string{other}, "s", shop, 202, shop},
		{[]string{other}, "s", other, 403, ""},
		{[]string{other}, "d", other, 202, other},
		{[]string{other}, "d", shop, 403, ""},
		{[]string{other}, "x", shop, 403, ""},
		{[]string{other}, "x", other, 401, other},
	} {
		col, _ := newCollector(Options{Origins: c.general, Keys: keys})
		w := withKey(col, http.MethodPost, c.key, c.origin)
		if w.Code != c.want || w.Header().Get("Access-Control-Allow-Origin") != c.allow {
			t.Errorf("%+v: got %d %s %v", c, w.Code, w.Body, w.Header())
		}
		if c.want == 403 && !strings.Contains(w.Body.String(), map[bool]string{true: "--allow-origin",
			false: "the origins of its key"}[c.key == "d" || c.key == "x"]) {
			t.Errorf("%+v: error %s", c, w.Body)
		}
		want := map[int]int{202: 204, 401: 204, 403: 403}[c.want]
		w = withKey(col, http.MethodOptions, c.key, c.origin)
		if w.Code != want || w.Header().Get("Access-Control-Allow-Origin") != c.allow ||
			w.Header().Get("Vary") != "Origin" {
			t.Errorf("%+v: preflight: got %d %v", c, w.Code, w.Header())
		}
	}
}

func TestSetKeys(t *testing.T) {
	now := noon
	col, s := newCollector(Options{Keys: []Key{{Value: "a", Site: "one", Rate: 0.05}, {Value: "b", Site: "two"}},
		Limits: Limits{KeyRate: 1.0 / 60}, Now: func() time.Time {
			return now
		}})
	send := func(key string, want ...int) {
		t.Helper()
		for i, status := range want {
			if w := withKey(col, http.MethodPost, key, ""); w.Code != status {
				t.Errorf("key %s, request %d: got %d %s, want %d", key, i, w.Code, w.Body, status)
			}
		}
	}
	requests := func(site, result string) float64 {
		return s.labelled(t, "site_requests_total", map[string]string{"site": site, "result": result})
	}
	send("a", 202, 202, 202, 429)
	send("b", 202, 429)
	send("c", 401)
	if requests("one", "accepted") != 3 || requests("one", "refused") != 1 || requests("two", "accepted") != 1 ||
		requests("two", "refused") != 1 {
		t.Error("requests are counted wrong")
	}
	// a keeps its quota, b has another rate, d is new.
	col.SetKeys([]Key{{Value: "a", Site: "one", Rate: 0.05}, {Value: "b", Site: "three", Rate: 2.0 / 60},
		{Value: "d", Site: "one"}})
	send("a", 429)
	send("b", 202, 202, 429)
	send("d", 202, 429)
	if requests("two", "accepted") != 0 || requests("three", "accepted") != 2 || requests("one", "accepted") != 4 {
		t.Error("requests of new sites are counted wrong")
	}
	col.SetKeys([]Key{{Value: "d", Site: "one"}})
	send("a", 401)
	send("d", 429)
	now = now.Add(time.Minute)
	send("d", 202)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 100 {
				withKey(col, http.MethodPost, "d", "https://x.example")
				col.SetKeys([]Key{{Value: "d", Site: "one"}, {Value: "e", Site: "two"}})
			}
		})
	}
	wg.Wait()
}

const keysText = `# keys of the sites
- key: 0123
  site: shop
- {key: b-_9, site: "the blog", rate: 2.5, origins: [https://blog.example, "https://*.blog.example", "*"]}
`

func TestParseKeys(t *testing.T) {
	got, err := ParseKeys(strings.NewReader(keysText))
	want := []Key{{Value: "0123", Site: "shop"}, {Value: "b-_9", Site: "the blog", Rate: 2.5,
		Origins: []string{"https://blog.example", "https://*.blog.example", "*"}}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	for text, want := range map[string]string{
		"":         "no key, so every client could send",
		"keys: []": "line 1: the file is not a list",
		"[]":       "line 1: the file is not a list with at least one entry",
		"- abc": "line 1: a list entry is not a mapping with the keys key, site, rate, " +
			"origins",
		"- key: a\n  site: s\n  orgins: [x]": `line 3: unknown key "orgins"; known keys are key, site, rate, origins`,
		"- site: s":                          `line 1: key: "" is not a key`,
		"- key: a b\n  site: s":              `line 1: key: "a b" is not a key: use up to 64 letters, digits, - and _`,
		"- key: a":                           `line 1: site "": give the key a a name of up to 64 bytes`,
		"- key: a\n  site: s\n  rate: -1":    "line 1: rate: -1 is negative",
		"- key: a\n  site: s\n  rate: lots":  `line 3: rate: "lots" is not a number`,
		"- key: a\n  site: s\n  origins: []": "line 3: origins is not a list with at least one entry",
		"- key: a\n  site: s\n  origins:\n    - " +
			"blog.example": `line 4: origins: "blog.example" is not an origin such as https://www.example.com`,
		"- {key: a, site: s}\n- {key: a, site: t}":              "line 2: key a is in the list twice",
		"- key: a\n  site: s\n  origins: [https://u@x.example]": "is not an origin",
	} {
		if got, err := ParseKeys(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %+v, %v, want an error with %q", text, got, err, want)
		}
	}
}

// FuzzParseKeys parses any text: it never panics, and accepted keys work.
func FuzzParseKeys(f *testing.F) {
	f.Add(keysText)
	f.Add("- key: a\n  site: s\n  rate: 1e999\n")
	f.Add("[{key: a, site: s, origins: [null]}]")
	f.Fuzz(func(t *testing.T, text string) {
		keys, err := ParseKeys(strings.NewReader(text))
		if (err == nil) != (len(keys) > 0) {
			t.Fatalf("%d keys, %v", len(keys), err)
		}
		seen := map[string]bool{}
		for _, k := range keys {
			if CheckKey(k.Value) != nil || seen[k.Value] || k.Site == "" || !(k.Rate >= 0) || math.IsInf(k.Rate, 0) {
				t.Errorf("key %+v", k)
			}
			seen[k.Value] = true
			for _, o := range k.Origins {
				if err := CheckOrigin(o); err != nil {
					t.Error(err)
				}
			}
		}
		c, _ := newCollector(Options{Keys: keys})
		for _, k := range keys {
			if w := withKey(c, http.MethodPost, k.Value, ""); w.Code != http.StatusAccepted {
				t.Errorf("key %+v: got %d", k, w.Code)
			}
		}
	})
}

// TestShortPaths checks that short paths are equivalent to long ones.
func TestShortPaths(t *testing.T) {
	for _, c := range []struct{ method, long, short, body string }{
		{"POST", "/v1/traces?key=one", "/t/one", traceJSON("f", "")},
		{"POST", "/v1/traces?key=three", "/t/three", traceJSON("f", "")},
		{"POST", "/v1/traces?key=", "/t/", traceJSON("f", "")},
		{"POST", "/v1/traces?key=a%2Fb", "/t/a/b", traceJSON("f", "")},
		{"POST", "/v1/views?key=two", "/v/two", `{"outcome":"error"}`},
		{"POST", "/v1/views?key=x", "/v/x", `{"outcome":"error"}`},
		{"OPTIONS", "/v1/traces?key=one", "/t/one", ""},
		{"OPTIONS", "/v1/views?key=two", "/v/two", ""},
		{"GET", "/v1/traces?key=one", "/t/one", ""},
	} {
		ask := func(path string) (int, http.Header, string, int) {
			col, s := newCollector(Options{Keys: keysOf("one", "two")})
			w := httptest.NewRecorder()
			r := httptest.NewRequest(c.method, path, strings.NewReader(c.body))
			r.Header.Set("Origin", "https://www.example.com")
			col.ServeHTTP(w, r)
			return w.Code, w.Header(), regexp.MustCompile(`"[0-9a-f]{32}[^"]*"`).ReplaceAllString(w.Body.String(),
				"ID"), len(s.records) + len(s.views(t))
		}
		code, header, body, stored := ask(c.long)
		if gotCode, gotHeader, gotBody, gotStored := ask(c.short); gotCode != code || !reflect.DeepEqual(gotHeader,
			header) || gotBody != body || gotStored != stored {
			t.Errorf("%s %s: %d %v %s, %d stored; %s: %d %v %s, %d stored", c.method, c.short, gotCode, gotHeader,
				gotBody, gotStored, c.long, code, header, body, stored)
		}
	}
}
