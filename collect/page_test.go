package collect

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestPage(t *testing.T) {
	long := strings.Repeat("words-", 100)
	for _, c := range []struct{ path, want string }{
		{"/", "/"},
		{"", PageUnknown},
		{"?a=1", PageUnknown},
		{PageUnknown, PageUnknown},
		{PageOther, PageOther},
		{"/feed", "/feed"},
		{"feed", "/feed"},
		{"/feed/", "/feed"},
		{"//feed///new/", "/feed/new"},
		{"/feed?user=1", "/feed"},
		{"/feed#top", "/feed"},
		{"/feed;session=1/new;x", "/feed/new"},
		{"https://www.example.com", "/"},
		{"https://www.example.com/feed?x#y", "/feed"},
		{"https%3A%2F%2Fwww.example.com%2Ffeed%3Fx", "/feed"},
		{"/redirect/https://other.example/x", "/redirect/https:/other.example/x"},

		{"/user/8123", "/user/:id"},
		{"/user/8123/posts/7", "/user/:id/posts/:id"},
		{"/files/8123.pdf", "/files/:id"},
		{"/2024", "/:id"},
		{"/v1/docs/1.24", "/v1/docs/:id"},
		{"/news/2024-report", "/news/2024-report"},
		{"/news/some-headline-8123456", "/news/:id"},
		{"/o/4be0643f-1d98-573b-97cd-ca98a65347dd", "/o/:id"},
		{"/o/aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee", "/o/:id"},
		{"/commit/4be0643f1d98", "/commit/:id"},
		{"/w/dQw4w9WgXcQ", "/w/:id"},
		{"/t/x7Kq2mZ9pLw4Rt8v", "/t/:id"},
		{"/reset/Zk3-9xQpT7aLmWcYbR2dEfGh", "/reset/:id"},
		{"/t/abcdefghijklmnopqrstuvw1", "/t/:id"},
		{"/t/abcdefghijklmnopqrstuvwxyzabcdefghijklmn", "/t/:id"},
		{"/jwt/eyJhbGciOiJIUzI1NiJ9.e30.abc", "/jwt/:id"},
		{"/u/bob@example.com", "/u/:id"},
		{"/u/bob%40example.com", "/u/:id"},
		{"/u/bob%252540example.com", "/u/:id"},
		{"/@bob", "/:id"},
		{"/~bob", "/:id"},
		{"/c/4111-1111-1111-1111", "/c/:id"},
		{"/t/kJhGfDsAqWeRtYuIoPzXcVb", "/t/:id"},
		{"/t/abcdefghijklmnopqrstuvwxyzabcdefghijklm", "/t/:id"},

		{"/s/078-05-1120", "/s/:id"},
		{"/s/1984-07-23", "/s/:id"},
		{"/s/2024-07-23", "/s/:id"},
		{"/s/52.5163,13.3777", "/s/:id"},
		{"/s/(415)555-2671", "/s/:id"},
		{"/s/1.5", "/s/:id"},
		{"/s/-17", "/s/:id"},
		{"/s/１２３４５", "/s/:id"},
		{"/s/٣٤٥٦", "/s/:id"},
		{"/s/½", "/s/:id"},
		{"/s/C01X00T478", "/s/:id"},
		{"/s/K12345", "/s/:id"},
		{"/s/Ｋ１２３４５", "/s/:id"},
		{"/s/DE89-3704-0044", "/s/:id"},
		{"/s/meier_anna_1984", "/s/:id"},
		{"/s/B-AB-1234", "/s/:id"},
		{"/s/anna-20000", "/s/:id"},
		{"/s/a\u202e%E2%80%8Bb\u2066c\u00ad", "/s/abc"},
		{"/s/4\u200b2", "/s/:id"},
		{"/s/bob\u200b@example.com", "/s/:id"},
		{"/s/\u200b", "/s"},

		{"/v2/orders", "/v2/orders"},
		{"/api/v12/es2015", "/api/v12/es2015"},
		{"/notes/2024-release", "/notes/2024-release"},
		{"/notes/release_2024q1", "/notes/release_2024q1"},
		{"/notes/best-of-2023-and-2024", "/notes/best-of-2023-and-2024"},
		{"/top-100-films-under-120-minutes", "/top-100-films-under-120-minutes"},
		{"/window-7/html2canvas", "/window-7/html2canvas"},
		{"/deadbeef", "/deadbeef"},
		{"/decade", "/decade"},
		{"/getting-started-with-go-1-24", "/getting-started-with-go-1-24"},
		{"/iPhone15ProMax", "/iPhone15ProMax"},
		{"/covid-19", "/covid-19"},
		{"/index.html", "/index.html"},
		{"/internationalization-and-localization", "/internationalization-and-localization"},
		{"/suites/todomvc/vanilla-examples/javascript-es6-webpack-complex/dist/index.html",
			"/suites/todomvc/vanilla-examples/javascript-es6-webpack-complex/dist/index.html"},

		{"/caf%C3%A9", "/café"},
		{"/новости/сегодня", "/новости/сегодня"},
		{"/a%00b%0Ac", "/a\ufffdb\ufffdc"},
		{"/a\x00\xffb", "/a\ufffd\ufffdb"},
		{"/100%", "/:id"},
		{"/about/%", "/about/%"},
		{"/%zz%4", "/%zz%4"},
		{"/a%2Fb", "/a/b"},
		{"/a%3Fquery", "/a"},
		{"/" + long, "/" + long[:maxPage-1] + cut},
		{"/" + strings.Repeat("é", 400), "/" + strings.Repeat("é", (maxPage-1)/2) + cut},
		{strings.Repeat("/x", 100), strings.Repeat("/x", maxSegments) + "/" + cut},
	} {
		got := PageRules{}.Page(c.path)
		if got != c.want {
			t.Errorf("%.80q: got %q, want %q", c.path, got, c.want)
		}
		checkPage(t, PageRules{}, c.path)
	}
}

const testRules = `
# The shop.
/shop/:item
/shop/:item/reviews/**
	/user/me  
/user/:name/
/café/:table
/:lang/docs/**
/**/x
`

func TestPageRules(t *testing.T) {
	rules, err := ParsePageRules(strings.NewReader(strings.Replace(testRules, "/**/x", "/**", 1)))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ path, want string }{
		{"/shop/blue-shoe", "/shop/:item"},
		{"/shop/8123", "/shop/:item"},
		{"/shop/8123?x=1", "/shop/:item"},
		{"/shop/8123/", "/shop/:item"},
		{"/shop/8123/reviews", "/shop/:item/reviews/**"},
		{"/shop/8123/reviews/7/8/9", "/shop/:item/reviews/**"},
		{"/user/me", "/user/me"},
		{"/user/bob", "/user/:name"},
		{"/caf%C3%A9/7", "/café/:table"},
		{"/de/docs/7", "/:lang/docs/**"},
		{"/shop", "/**"},
		{"/", "/**"},
		{"/" + strings.Repeat("x", 1000), "/**"},
		{"", PageUnknown},
	} {
		if got := rules.Page(c.path); got != c.want {
			t.Errorf("%.80q: got %q, want %q", c.path, got, c.want)
		}
		checkPage(t, rules, c.path)
	}
	// A truncated path may match a rule that the complete path did not.
	if rules, err = ParsePageRules(strings.NewReader("/a/:x")); err != nil {
		t.Fatal(err)
	}
	checkPage(t, rules, "/a/"+strings.Repeat("words-", 100)+"/b")
	if got := (PageRules{}).Page("/shop/blue-shoe"); got != "/shop/blue-shoe" {
		t.Errorf("without rules: got %q", got)
	}
}

func TestPageRuleErrors(t *testing.T) {
	for _, c := range []struct{ rules, want string }{
		{testRules, `line 9: "/**/x" has ** before its end`},
		{"/a\nshop", `line 2: "shop" is not a path`},
		{"/a?b", `line 1: "/a?b" never matches`},
		{"/a # comment", `line 1: "/a # comment" never matches`},
		{"/a%20b", `line 1: "/a%20b" never matches`},
		{"/a;b", `line 1: "/a;b" never matches`},
		{"/a\xff", `never matches`},
		{"\n\n/a/:", `line 3: "/a/:" has a colon without a name`},
		{"/a/*", `line 1: "/a/*" has a star in "*"`},
		{"/" + strings.Repeat("x", maxPage), `is too long`},
		{strings.Repeat("/x", maxSegments+1), `is too long`},
		{"/a\n/" + strings.Repeat("x", 70_000), `line 2: `},
	} {
		if _, err := ParsePageRules(strings.NewReader(c.rules)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40q: got %v, want an error with %q", c.rules, err, c.want)
		}
	}
}

// checkPage checks properties of every page.
func checkPage(t *testing.T, rules PageRules, path string) {
	t.Helper()
	page := rules.Page(path)
	if again := rules.Page(page); again != page {
		t.Errorf("%q: the page of page %q is %q", path, page, again)
	}
	if len(page) > maxPage+len(cut) || page == "" {
		t.Errorf("%q: page of %d bytes", path, len(page))
	}
	if !utf8.ValidString(page) || strings.ContainsAny(page, "?#;") || strings.ContainsFunc(page, unicode.IsControl) {
		t.Errorf("%q: page %q", path, page)
	}
	if page[0] != '/' && page != PageUnknown && page != PageOther {
		t.Errorf("%q: page %q is not a path", path, page)
	}
	if strings.Contains(page, "@") && rules.patterns == nil {
		t.Errorf("%q: page %q", path, page)
	}
}

func FuzzPage(f *testing.F) {
	for _, s := range []string{"/", "", "/user/8123", "/a%2525403Fb", "x://y/z://w", "/shop/7/reviews", "/%\x0041",
		"/%;x/41", "/%\u008541",
		"/a/:b/**", "(other)/", "/" + strings.Repeat("é/", 300), strings.Repeat("/words", 100) + "/8123",
		strings.Repeat("/0", 10) + "/" + strings.Repeat("é", 250), "/é/" + strings.Repeat("a@b", 300)} {
		f.Add(s)
	}
	some, err := ParsePageRules(strings.NewReader("/shop/:item\n/:lang/docs/**\n/user/me\n/user/:name"))
	if err != nil {
		f.Fatal(err)
	}
	all, err := ParsePageRules(strings.NewReader("/:a\n/x/:b/8123\n/**"))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, path string) {
		checkPage(t, PageRules{}, path)
		checkPage(t, some, path)
		checkPage(t, all, path)
		// A page used as a rule must match itself.
		page := PageRules{}.Page(path)
		if rules, err := ParsePageRules(strings.NewReader(page)); err == nil && len(rules.patterns) == 1 {
			checkPage(t, rules, path)
		}
	})
}

func BenchmarkPage(b *testing.B) {
	for _, path := range []string{"/feed", "/user/8123/posts/4be0643f-1d98-573b-97cd-ca98a65347dd",
		"/" + strings.Repeat("%2525", 1000)} {
		b.Run(fmt.Sprintf("%.10s", path), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				PageRules{}.Page(path)
			}
		})
	}
}
