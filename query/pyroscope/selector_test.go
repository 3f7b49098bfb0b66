package pyroscope

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// canonical returns a selector in canonical form.
func (s selector) canonical() string {
	var parts []string
	for _, m := range s.matchers {
		parts = append(parts, strconv.Quote(m.Key)+string(m.Op)+strconv.Quote(m.Value))
	}
	return s.name + "{" + strings.Join(parts, ",") + "}"
}

func TestParseSelector(t *testing.T) {
	for text, want := range map[string]string{
		"":                          `{}`,
		"{}":                        `{}`,
		" { } ":                     `{}`,
		wall + "{}":                 wall + `{}`,
		`{page="/feed"}`:            `{"page"="/feed"}`,
		`{page="/feed",}`:           `{"page"="/feed"}`,
		"{ page =~ `/a|/b\\.c` }":   `{"page"=~"/a|/b\\.c"}`,
		`{page!="a\"b", x!~'c\'d'}`: `{"page"!="a\"b","x"!~"c'd"}`,
		`{"my label"="\u00e9\n"}`:   `{"my label"="é\n"}`,
		`{a="1"	,
			b=~"2.*"}`: `{"a"="1","b"=~"2.*"}`,
		`{a="x,y}z"}`: `{"a"="x,y}z"}`,
		`{__name__="\x"}`: `label selector, byte 12: "\\x" is no escape sequence that is known; between ` + "` `" +
			` all stands for itself`,
		`{`: `label selector, byte 2: want the name of a label: want a text in quotation marks and not ` +
			`the end`,
		`{a}`:           `label selector, byte 3: want =, !=, =~ or !~ and not "}"`,
		`{a==}`:         `label selector, byte 4: want a text in quotation marks and not "="`,
		`{a="b"`:        `label selector, byte 7: want , or } and not the end`,
		`{a="b" c="d"}`: `label selector, byte 8: want , or } and not "c"`,
		`{a="b`:         `label selector, byte 4: the text does not end`,
		"{a=`b":         `label selector, byte 4: the text does not end`,
		`{a="b"}}`:      `label selector, byte 8: "}" does not belong there; a selector is {label="value",...}`,
		`page="/feed"`:  `label selector, byte 5: "=" does not belong there; a selector is {label="value",...}`,
		`{a=~"("}`: "label selector, byte 2: label a: error parsing regexp: missing " +
			"closing ): `(`",
		`{=""}`: `label selector, byte 2: want the name of a label: want a text in ` +
			`quotation marks and not "="`,
		`{""="x"}`: `label selector, byte 2: the label before =x has no name`,
		`{ä="x"}`: `label selector, byte 2: want the name of a label: want a text in ` +
			`quotation marks and not "ä"`,
		"{" + strings.Repeat(`a="b",`, 21) + "}": `label selector, byte 122: more than 20 conditions`,
	} {
		s, err := parseSelector(text)
		got := s.canonical()
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", text, got, want)
		}
	}
	if _, err := parseSelector(strings.Repeat(" ", maxSelector+1)); err == nil {
		t.Error("an unterminated selector is accepted")
	}
}

// A valid selector keeps its meaning in canonical form.
func FuzzParseSelector(f *testing.F) {
	for _, seed := range []string{"{}", `{page="/feed",release=~"2026.*"}`, "x:y{a=`b`,'c'!='\\x41'}",
		`{a="\ud800\xff"}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parseSelector(text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "label selector") {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		again, err := parseSelector(s.canonical())
		if err != nil || again.canonical() != s.canonical() || fmt.Sprint(again.name) != s.name {
			t.Fatalf("%q: %s becomes %s, %v", text, s.canonical(), again.canonical(), err)
		}
	})
}
