package sourcemap

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// TestRefuse checks that invalid maps are rejected with the place and the reason.
func TestRefuse(t *testing.T) {
	mappings := func(s string) string {
		return `{"version":3,"sources":["a"],"names":["x"],"mappings":"` + s + `"}`
	}
	sections := func(s string) string { return `{"version":3,"sections":[` + s + `]}` }
	const sub = `"map":{"version":3,"sources":["a"],"mappings":"AAAA"}`
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", "the file is empty"},
		{"white space", " \n", "the file is empty"},
		{"HTML", "\n<!doctype html><title>404",
			"byte 1: an HTML or XML page; did a server respond with it because it has no map?"},
		{"only the guard", ")]}'", "byte 0: nothing after the line )]}"},
		{"text", "Not found", "byte 0: found 'N', want an object, a source map,"},
		{"array", "[1]", "byte 0: found an array, want an object, a source map,"},
		{"null", "null", "byte 0: found null, want an object, a source map,"},
		{"zero byte", "\x00", `byte 0: found '\x00', want an object, a source map,`},
		{"another object", `{"name":"app","private":true}`, "version is missing"},
		{"package.json", `{"name":"app","version":"1.0"}`, "version: byte 24: found a string, want the number 3"},
		{"version 2", `{"version":2}`, "version: 2 is not supported, only 3"},
		{"version 3.5", `{"version":3.5}`,
			"version: byte 11: found 3.5, want the number 3: a whole number from 0 to 2147483647"},
		{"no sources", `{"version":3,"mappings":""}`, "sources is missing"},
		{"no mappings", `{"version":3,"sources":[]}`, "mappings is missing"},
		{"two maps", mappings("A") + mappings("A"), "byte 58: an object after the end of the map"},
		{"truncated in a string", `{"version":3,"mappings":"AAAA`, "mappings: byte 24: unterminated string"},
		{"truncated at a backslash", `{"version":3,"file":"a\`, "file: byte 20: unterminated string"},
		{"truncated in an array", `{"version":3,"sources":["a",`,
			"sources[1]: byte 28: found the end of the file, want a string"},
		{"truncated after a key", `{"version"`, "byte 10: found the end of the file, want a colon"},
		{"truncated in an unknown value", `{"x":[[{}`, "byte 5: unterminated value"},
		{"truncated in an unknown string", `{"x":["`, "byte 6: unterminated string"},
		{"no value", `{"x":}`, "byte 5: found '}', want a value"},
		{"no comma", `{"version":3 "file":""}`, "byte 13: found a string, want a comma or the end of the object"},
		{"comma at the end", `{"version":3,}`, "byte 13: found '}', want a key"},
		{"no comma in an array", `{"sources":["a" "b"]}`,
			"sources: byte 16: found a string, want a comma or the end of the array"},
		{"number as file", `{"file":7}`, "file: byte 8: found a number, want a string"},
		{"word as sources", `{"sources":true}`, "sources: byte 11: found true, want an array"},
		{"object as source", `{"sources":["a",{}]}`, "sources[1]: byte 16: found an object, want a string"},
		{"number as content", `{"sourcesContent":[null,5]}`,
			"sourcesContent[1]: byte 24: found a number, want a string or null"},
		{"bad escape", `{"sourcesContent":["a\xb"]}`, "sourcesContent[0]: byte 21: invalid escape"},
		{"bad code unit", `{"names":["\u12g4"]}`, "names[0]: byte 11: invalid escape"},
		{"signed code unit", `{"names":["\u+123"]}`, "names[0]: byte 11: invalid escape"},
		{"short code unit", `{"names":["\u12"]}`, "names[0]: byte 11: invalid escape"},
		{"null as mappings", `{"mappings":null}`, "mappings: byte 12: found null, want a string"},
		{"ignore list", `{"version":3,"sources":["a"],"ignoreList":[0,1],"mappings":""}`,
			"ignoreList[1]: 1, but there are 1 sources"},
		{"negative in the ignore list", `{"x_google_ignoreList":[-1]}`,
			"x_google_ignoreList[0]: byte 24: found -1, want an index of sources: a whole number from 0 to 2147483647"},

		{"two numbers", mappings("AA"), "mappings: byte 0: a mapping has 2 numbers, want 1, 4 or 5"},
		{"three numbers", mappings("A,AAA"), "mappings: byte 2: a mapping has 3 numbers, want 1, 4 or 5"},
		{"six numbers", mappings(";AAAAAA"), "mappings: byte 1: a mapping has more than 5 numbers"},
		{"no digit", mappings("A;ä"), "mappings: byte 2: 'ä' is not a base64 digit"},
		{"no digit within a number", mappings("Ag!"), "mappings: byte 2: '!' is not a base64 digit"},
		{"old base64", mappings("-"), "mappings: byte 0: '-' is not a base64 digit"},
		{"escape in mappings", mappings(`A\n`), `mappings: byte 1: '\n' is not a base64 digit`},
		{"end in a number", mappings("AAAAg"), "mappings: byte 4: a number without its last digit"},
		{"comma in a number", mappings("AAg,A"), "mappings: byte 2: a number without its last digit"},
		{"33 bits", mappings("ggggggE"), "mappings: byte 6: a number of more than 32 bits"},
		{"eight digits", mappings("gggggggA"), "mappings: byte 6: a number of more than 32 bits"},
		{"column before the line", mappings("C,F"), "mappings: byte 2: column -1 is out of range"},
		{"column of 32 bits", mappings("+/////D,C"), "mappings: byte 8: column 2147483648 is out of range"},
		{"least number", mappings("B"), "mappings: byte 0: column -2147483648 is out of range"},
		{"source after the last", mappings("ACAA"), "mappings: byte 0: source 1, but there are 1"},
		{"source before the first", mappings("AAAA,CDAA"), "mappings: byte 5: source -1, but there are 1"},
		{"original line", mappings("AADA"), "mappings: byte 0: original line -1 is out of range"},
		{"original line of 32 bits", mappings("AA+/////DA,AACA"),
			"mappings: byte 11: original line 2147483648 is out of range"},
		{"original column", mappings("AAAD"), "mappings: byte 0: original column -1 is out of range"},
		{"name", mappings("AAAAC"), "mappings: byte 0: name 1, but there are 1"},
		{"name before the first", mappings("AAAAD"), "mappings: byte 0: name -1, but there are 1"},

		{"section of another file", sections(`{"offset":{"line":0,"column":0},"url":"b.map"}`),
			"sections[0]: url: sections in other files are not supported; configure the build tool to write them " +
				"into this file"},
		{"sections within sections", sections(`{"offset":{"line":0,"column":0},"map":{"version":3,"sections":[]}}`),
			"sections[0]: map: nested sections are not supported"},
		{"sections out of order", sections(`{"offset":{"line":1,"column":5},` + sub +
			`},{"offset":{"line":1,"column":4},` + sub + `}`),
			"sections[1]: it begins at line 1, column 4, before the previous section"},
		{"no offset", sections(`{` + sub + `}`), "sections[0]: no offset"},
		{"no map", sections(`{"offset":{"line":0,"column":0}}`), "sections[0]: no map"},
		{"negative offset", sections(`{"offset":{"line":0,"column":-3},` + sub + `}`),
			"sections[0]: offset: byte 54: found -3, want a column: a whole number from 0 to 2147483647"},
		{"broken section", sections(`{"offset":{"line":0,"column":0},` + sub +
			`},{"offset":{"line":9,"column":0},"map":{"version":3,"sources":[],"mappings":"AAAA"}}`),
			"sections[1]: map: mappings: byte 0: source 0, but there are 0"},
		{"section of another version", sections(`{"map":{"version":1}}`),
			"sections[0]: map: version: 1 is not supported, only 3"},
		{"section before its start",
			sections(`{"offset":{"line":0,"column":7},"map":{"version":3,"sources":[],"mappings":"D"}}`),
			"sections[0]: map: mappings: byte 0: column -1 is out of range"},
		{"section beyond 32 bits",
			sections(`{"offset":{"line":0,"column":2147483647},"map":{"version":3,"sources":[],"mappings":"C"}}`),
			"sections[0]: map: mappings: byte 0: column 1 is out of range"},
		{"section far away", sections(`{"offset":{"line":2147483647,"column":0},` + sub + `}`),
			"sections[0]: map: mappings: more than 5,000,000 lines"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := Read([]byte(c.text), Limits{})
			if err == nil {
				t.Fatalf("accepted as %+v", m)
			}
			if want := "source map: " + c.want; err.Error() != want {
				t.Errorf("got  %s\nwant %s", err, want)
			}
		})
	}
}

// TestLimits checks that maps over a limit are rejected, and maps at the limit are accepted.
func TestLimits(t *testing.T) {
	repeat := func(s string, n int) string { return strings.TrimSuffix(strings.Repeat(s+",", n), ",") }
	section := `{"offset":{"line":0,"column":0},"map":{"version":3,"sources":["a"],"names":["x"],"mappings":"A,C"}}`
	for _, c := range []struct {
		name   string
		limits Limits
		text   func(n int) string // with n elements
		want   string             // for 5, where 4 are allowed
	}{
		{"mappings", Limits{Mappings: 4}, func(n int) string {
			return `{"version":3,"sources":[],"mappings":"` + repeat("A", n) + `;"}`
		},
			"mappings: more than 4"},
		{"lines", Limits{Lines: 4}, func(n int) string {
			return `{"version":3,"sources":[],"mappings":"` + strings.Repeat(";", n-1) + `"}`
		}, "mappings: more than 4 lines"},
		{"sources", Limits{Sources: 4}, func(n int) string {
			return `{"version":3,"sources":[` + repeat(`""`, n) + `],"mappings":""}`
		},
			"sources[4]: more than 4"},
		{"contents", Limits{Sources: 4}, func(n int) string {
			return `{"version":3,"sources":[],"sourcesContent":[` + repeat(`""`, n) + `],"mappings":""}`
		}, "sourcesContent[4]: more than 4"},
		{"ignore list", Limits{Sources: 4}, func(n int) string {
			return `{"version":3,"sources":["a"],"ignoreList":[` + repeat("0", n) + `],"mappings":""}`
		}, "ignoreList[4]: more than 4"},
		{"names", Limits{Names: 4}, func(n int) string {
			return `{"version":3,"sources":[],"names":[` + repeat(`""`, n) + `],"mappings":""}`
		}, "names[4]: more than 4"},
		{"sections", Limits{Sections: 4}, func(n int) string { return `{"sections":[` + repeat(section, n) + `]}` },
			"sections[4]: more than 4"},
		{"sources of all sections", Limits{Sources: 4}, func(n int) string {
			return `{"sections":[` + repeat(section, n) + `]}`
		},
			"sections[4]: map: sources[0]: more than 4"},
		{"names of all sections", Limits{Names: 4}, func(n int) string {
			return `{"sections":[` + repeat(section, n) + `]}`
		},
			"sections[4]: map: names[0]: more than 4"},
		{"mappings of all sections", Limits{Mappings: 8}, func(n int) string {
			return `{"sections":[` + repeat(section, n) + `]}`
		},
			"sections[4]: map: mappings: more than 8"},
		{"text", Limits{Text: 4}, func(n int) string {
			return `{"version":3,"sources":["` + strings.Repeat("a", n-2) + `"],"names":["bb"],"mappings":""}`
		}, "names[0]: more than 4 bytes of names"},
		{"text of the root", Limits{Text: 10}, func(n int) string {
			return `{"version":3,"sourceRoot":"r","sources":["a","b","` + strings.Repeat("c", n-3) + `"],"mappings":""}`
		}, "sourceRoot: more than 10 bytes of names"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := Read([]byte(c.text(4)), c.limits); err != nil {
				t.Errorf("four: %v", err)
			}
			_, err := Read([]byte(c.text(5)), c.limits)
			if want := "source map: " + c.want; err == nil || err.Error() != want {
				t.Errorf("five: got %v\nwant %s", err, want)
			}
		})
	}
}

func TestGrouped(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 20_000_000: "20,000,000"} {
		if got := grouped(n); got != want {
			t.Errorf("%d is written %s", n, got)
		}
	}
}

// TestHostile checks that a megabyte of the most expensive input uses at most 64 MiB of memory.
func TestHostile(t *testing.T) {
	const size = 1 << 20
	array := func(key, element string) string {
		n := size / (len(element) + 1)
		return `{"version":3,"` + key + `":[` + strings.Repeat(element+",", n-1) + element + `]}`
	}
	mappings := func(s string) string {
		return `{"version":3,"sources":["a"],"mappings":"` + strings.Repeat(s, size/len(s)) + `"}`
	}
	for name, text := range map[string]string{
		"commas":             mappings(","),
		"lines":              mappings(";"),
		"mappings":           mappings("A,"),
		"decreasing columns": `{"version":3,"sources":[],"mappings":"+/////D,` + strings.Repeat("D,", size/2) + `"}`,
		"alternating columns": `{"version":3,"sources":[],"mappings":"+/////B,` + strings.Repeat("C,D,F,H,",
			size/8) + `"}`,
		"names":       array("names", `""`),
		"sources":     array("sources", `""`),
		"contents":    array("sourcesContent", `""`),
		"ignore list": array("ignoreList", `0`),
		"sections":    array("sections", `{}`),
		"sections of lines": `{"sections":[` + strings.TrimSuffix(strings.Repeat(
			`{"offset":{"line":4999990,"column":0},"map":{"version":3,"sources":[],"mappings":""}},`, 10_000),
			",") + `]}`,
		"long root": `{"version":3,"sourceRoot":"` + strings.Repeat("r", size/2) + `","sources":[` +
			strings.Repeat(`"",`, size/8) + `""],"mappings":""}`,
		"keys":        `{` + strings.Repeat(`"x":0,`, size/6),
		"one key":     `{"` + strings.Repeat("x", size) + `"`,
		"nesting":     `{"x":` + strings.Repeat("[", size),
		"backslashes": `{"x":"` + strings.Repeat(`\\`, size/2),
		"quotes":      `{"file":"` + strings.Repeat(`\"`, size/2) + `"}`,
		"repeated sources": `{"version":3,` +
			strings.Repeat(`"sources":["",""],`, size/18) + `"mappings":""}`,
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			b := []byte(text)
			runtime.ReadMemStats(&before)
			_, err := Read(b, Limits{})
			runtime.ReadMemStats(&after)
			if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
				t.Errorf("%d bytes took %d (error: %v)", len(b), took, err)
			} else {
				t.Logf("%d bytes took %s (error: %.100s)", len(b), grouped(int(took)), fmt.Sprint(err))
			}
		})
	}
}
