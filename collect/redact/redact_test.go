package redact

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestRedact(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"render", "render"},
		{"#private", "#private"},
		{"a?b:c", "a?b:c"},
		{"r-2026.11.21+4be0643f1d98573b97cdca98a65347dd4be0643f",
			"r-2026.11.21+4be0643f1d98573b97cdca98a65347dd4be0643f"},
		{"https://cdn.example.com/assets/index-DiwrgTda.js", "https://cdn.example.com/assets/index-DiwrgTda.js"},
		{"https://cdn.example.com/npm/react@18.2.0/umd/react.js",
			"https://cdn.example.com/npm/react@18.2.0/umd/react.js"},
		{"https://cdn.example.com/npm/@scope/pkg@1.2.3-beta.rc/x.js",
			"https://cdn.example.com/npm/@scope/pkg@1.2.3-beta.rc/x.js"},
		{"https://cdn.example.com/img/logo@2x.js", "https://cdn.example.com/img/logo@2x.js"},
		{"https://cdn.example.com/u/bob@example.com/app.js", "https://cdn.example.com/u/(email)/app.js"},
		{"https://cdn.example.com/u/bob%40example.com/app.js", "https://cdn.example.com/u/(email)/app.js"},
		{"https://cdn.example.com/u/bob%2540mail.example.com/app.js", "https://cdn.example.com/u/(email)/app.js"},
		{"bob@163.com and zoë@пример.рф", "(email) and (email)"},
		{"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln-X_", "(token)"},
		{"Authorization: Bearer abc.def", "Authorization: (token)"},
		{"Bearer+abc.def", "(token)"},
		{"{'password':'x y', 'a':'b'}", "{'password':(secret), 'a':'b'}"},
		{`{"token":{"v":"x}","w":[1]},"a":1}`, `{"token":(secret),"a":1}`},
		{`{"token":["x","y"],"a":1}`, `{"token":(secret),"a":1}`},
		{`{"token":{"v":"x`, `{"token":(secret)`},
		{"sk-abcdefghijklmnopqrstuvwxyz0123456789abcdefghi", "(key)"},
		{"sk-loading-spinner", "sk-loading-spinner"},
		{"it's: a feature", "it's: a feature"},
		{"on 4111.1111.1111.1111 now", "on (card) now"},
		{"v4111.11.1111.11111", "v4111.11.1111.11111"},
		{"forbearer x", "forbearer x"},
		{"on Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36", "on (user agent)"},
		{"GET https://api.example.com/x?token=1#y done", "GET https://api.example.com/x done"},
		{"https://example.com/#access_token=1", "https://example.com/"},
		{"/search?q=1", "/search"},
		{"?q=secret", ""},
		{"#access_token=secret", ""},
		{"https://www.example.com/app.js;jsessionid=1A2B", "https://www.example.com/app.js"},
		{"https://www.example.com/a;SID=1/app.js", "https://www.example.com/a/app.js"},
		{"https://www.example.com/app.js;v=2", "https://www.example.com/app.js;v=2"},
	} {
		got := Text(c.text)
		if got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
		if again := Text(got); again != got {
			t.Errorf("%q: redacted twice: %q, once: %q", c.text, again, got)
		}
	}
}

// TestSuspects checks that texts without a suspect byte have nothing to redact.
func TestSuspects(t *testing.T) {
	parts := []string{"eyJhbGciOi", "bearer", "Bearer", " ", "\t", "x", "%40", "@", "a.example", "Mozilla/5.0", "?q=1",
		"#a=b", ";sid=1", "://", "/", ".", "é", "_"}
	r := rand.New(rand.NewPCG(1, 1))
	for range 20_000 {
		var s string
		for range 1 + r.IntN(6) {
			s += parts[r.IntN(len(parts))]
		}
		if got, want := Text(s), new(Redactor).long(s, setOf(s)); got != want {
			t.Fatalf("%q: got %q, want %q", s, got, want)
		}
	}
}

// TestRedactBounds checks that a trace crafted to take long takes no longer than reading each of
// its texts once, and that the excess is hidden.
func TestRedactBounds(t *testing.T) {
	name := strings.Repeat("https://a:b@c.example/?token=eyJhbGciOiJIUzI1NiJ9.e&x=%2541a@b.example ", 100)
	var r Redactor
	for i := range 100_000 {
		if out := r.Name(name + fmt.Sprint(i%5000)); strings.Contains(out, "eyJ") || strings.Contains(out, "a@b") {
			t.Fatalf("text %d: %.200s", i, out)
		}
	}
	if most := mostWork + 100*len(name); r.work > most || len(r.texts) > 5000 {
		t.Errorf("rules have read %d bytes, want at most %d; %d texts are kept", r.work, most, len(r.texts))
	}
	r = Redactor{}
	for range 20_000 {
		r.Text(name)
	}
	if r.work > 100*len(name) {
		t.Errorf("rules have read %d bytes for one name of %d on 20,000 frames", r.work, len(name))
	}
}
