package site

import (
	"reflect"
	"strings"
	"testing"
)

func TestPage(t *testing.T) {
	for _, c := range []struct{ site, page, want string }{
		{"shop", "/feed", "shop:/feed"}, {"shop", "shop:/feed", "shop:/feed"}, {"", "/feed", "/feed"},
		{"shop", "(other)", "shop:(other)"}, {"shop", "/a:b/c", "shop:/a:b/c"}, {"shop", "blog:/feed",
			"shop:blog:/feed"},
	} {
		if got := Page(c.site, c.page); got != c.want {
			t.Errorf("%s, %s: got %s, want %s", c.site, c.page, got, c.want)
		}
	}
	for _, c := range []struct{ page, site, path string }{
		{"shop:/feed", "shop", "/feed"}, {"/feed", "", "/feed"}, {"shop:(other)", "shop", "(other)"},
		{"/a:/b", "", "/a:/b"},
		{"Shop:/feed", "", "Shop:/feed"}, {"shop:", "", "shop:"}, {"shop:feed", "", "shop:feed"},
		{":/feed", "", ":/feed"},
	} {
		if site, path := Cut(c.page); site != c.site || path != c.path {
			t.Errorf("%s: got %q, %q", c.page, site, path)
		}
	}
}

func TestParse(t *testing.T) {
	got, err := Parse(strings.NewReader("- name: shop\n  rate: 2.5\n  disk: 20GiB\n- {name: blog}\n"))
	want := []Site{{"shop", 2.5, 20 << 30}, {Name: "blog"}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	for text, want := range map[string]string{
		"":                                   "no site",
		"name: shop\n":                       "line 1: the file is not a list",
		"- name: Shop\n":                     `line 1: name: "Shop" is not the name of a site`,
		"- name: a:b\n":                      "is not the name of a site",
		"- rate: 1\n":                        `"" is not the name of a site`,
		"- {name: a}\n- {name: a}\n":         "line 2: duplicate site a",
		"- name: a\n  rate: -1\n":            "line 2: rate: -1 is negative",
		"- name: a\n  disk: much\n":          `line 2: disk: "much" is not a size such as 20GiB`,
		"- name: a\n  disc: 1GiB\n":          "line 2: unknown key",
		"- name: a\n  rate: [1, 2]\n":        "line 2",
		"- name: " + strings.Repeat("a", 33): "up to 32",
	} {
		if _, err := Parse(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("- name: shop\n  rate: 2.5\n  disk: 20GiB\n")
	f.Fuzz(func(t *testing.T, text string) {
		sites, err := Parse(strings.NewReader(text))
		for _, s := range sites {
			if err == nil && (CheckName(s.Name) != nil || s.Rate < 0 || s.Disk < 0) {
				t.Errorf("%q makes %+v", text, s)
			}
		}
	})
}
