package strictyaml

import (
	"reflect"
	"strings"
	"testing"
)

// entry is an entry of the files in these tests.
type entry struct {
	Line int
	Name string
	Rate float64
	List []string
}

func decode(text string) ([]entry, error) {
	v, err := Read(strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	top, err := v.Fields("entries")
	if err != nil {
		return nil, err
	}
	items, err := top["entries"].Items()
	if err != nil {
		return nil, err
	}
	var out []entry
	for _, item := range items {
		e := entry{Line: item.line}
		fields, err := item.Fields("name", "rate", "list")
		if err != nil {
			return nil, err
		}
		if e.Name, err = fields["name"].Text(); err != nil {
			return nil, err
		}
		if e.Rate, err = fields["rate"].Float(); err != nil {
			return nil, err
		}
		list, err := fields["list"].Items()
		if err != nil {
			return nil, err
		}
		for _, l := range list {
			text, err := l.Text()
			if err != nil {
				return nil, err
			}
			e.List = append(e.List, text)
		}
		out = append(out, e)
	}
	return out, nil
}

var good = map[string][]entry{
	"":                                nil,
	"# nothing\n":                     nil,
	"---\nentries: [{name: a}]\n":     {{Line: 2, Name: "a"}},
	"entries:\n- name: a\n- name: b":  {{Line: 2, Name: "a"}, {Line: 3, Name: "b"}},
	"entries:\n  - {name: 0123}":      {{Line: 2, Name: "0123"}},
	"entries:\n  - name: 1e5\n":       {{Line: 2, Name: "1e5"}},
	"entries:\n  - name: no # yes\n":  {{Line: 2, Name: "no"}},
	"entries:\n  - name: \"a\\tb\"\n": {{Line: 2, Name: "a\tb"}},
	"entries:\n  - name: 'it''s'\n":   {{Line: 2, Name: "it's"}},
	"entries:\n\n  - rate: 1.5\n    list: [a, 1, true]\n    name: x": {{Line: 3, Name: "x", Rate: 1.5,
		List: []string{"a", "1", "true"}}},
	"entries: [{name: a, list: [http://127.0.0.1:9122, 'b', https://c.example:1/d, 10:20]}]": {{Line: 1, Name: "a",
		List: []string{"http://127.0.0.1:9122", "b", "https://c.example:1/d", "10:20"}}},
	"\ufeffentries:\n  - {name: a}\n":                       {{Line: 2, Name: "a"}}, // with a byte order mark
	"entries:\r\n  - name: a\r\n    list:\r\n      - b\r\n": {{Line: 2, Name: "a", List: []string{"b"}}},
}

var bad = map[string]string{
	"[]":                                   "line 1: the file is not a mapping with the keys entries",
	"5":                                    "line 1: the file is not a mapping",
	"entries:\n":                           "line 1: entries is not a list with at least one entry",
	"entries: []\n":                        "line 1: entries is not a list with at least one entry",
	"entries: {}\n":                        "line 1: entries is not a list",
	"entries:\n  - a\n":                    "line 2: a list entry is not a mapping with the keys name, rate, list",
	"entries:\n  -\n":                      "a list entry is not a mapping",
	"entries:\n  - name: a\n    rat: 1":    `line 3: unknown key "rat"; known keys are name, rate, list`,
	"entries:\n  - name: a\n    name: b":   `line 3: mapping key "name" already defined`,
	"entries:\n  - name: a\n    'name': b": "line 3: ",
	"entries:\n  - name: [a]":              "line 2: expected a string for name",
	"entries: [{list: [a: 1]}]":            "line 1: expected a string for a list entry",
	"entries: [{list: [{a: 1}]}]":          "line 1: expected a string for a list entry",
	"entries:\n  - name:":                  "line 2: name is empty",
	"entries:\n  - rate: x":                `line 2: rate: "x" is not a number`,
	"entries:\n  - rate: .nan":             `line 2: rate: ".nan" is not a number`,
	"entries:\n  - rate: .inf":             "is not a number",
	"entries:\n  - rate: 1e999":            "is not a number",
	"entries:\n  - &a name: b":             "line 2: an anchor (&) is not allowed in this file",
	"entries: *a":                          "line 1: an alias (*) is not allowed in this file",
	"entries:\n  - <<: {name: b}":          "line 2: a merge key (<<) is not",
	"entries: !!binary x":                  "line 1: a tag (!) is not allowed in this file",
	"entries:\n  - name: |\n      a":       "line 2: a block text (|) is not",
	"entries:\n  - ? name\n":               "line 2: a complex key (?) is not",
	"entries:\n  - name: a\n---\n":         "line 3: a second document (---) is not",
	"entries:\n  - name: 'a":               "line 2: ",
	"entries:\n\t- name: a":                "line 2: ",
	"\xff":                                 "not UTF-8",
	strings.Repeat("[", 100_000):           "line 1: nesting this deep is not",
	strings.Repeat("{a: ", 100_000):        "line 1: nesting this deep is not",
	strings.Repeat("- ", 100_000):          "line 1: nesting this deep is not",
	strings.Repeat("#", maxSize+1):         "over 1048576 bytes",
}

func TestRead(t *testing.T) {
	for text, want := range good {
		if got, err := decode(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %+v, %v, want %+v", text, got, err, want)
		}
	}
	for text, want := range bad {
		if got, err := decode(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: got %+v, %v, want an error with %q", text, got, err, want)
		}
	}
}

// FuzzRead reads any text: it never panics, and errors contain a line.
func FuzzRead(f *testing.F) {
	for text := range good {
		f.Add(text)
	}
	for text := range bad {
		if len(text) < 1000 {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		entries, err := decode(text)
		if err != nil && err.Error() == "" || err != nil && entries != nil {
			t.Errorf("got %+v, %v", entries, err)
		}
	})
}
