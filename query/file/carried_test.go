package file

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/encode/formats"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/symbols"
	"github.com/fieldtrie/fieldtrie/symbols/naming"
	"github.com/fieldtrie/fieldtrie/symbols/sourcemap"
)

// enhanced returns a trace that DevTools saved with a script and its source map, and these two.
func enhanced(t *testing.T) (file, mapText, script string) {
	t.Helper()
	b, err := os.ReadFile("testdata/enhanced.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := formats.Decode(strings.NewReader(string(b)), encode.FileLimits())
	if err != nil || len(doc.Recording.Scripts) != 1 {
		t.Fatalf("got %v, %d scripts", err, len(doc.Recording.Scripts))
	}
	s := doc.Recording.Scripts[0]
	return string(b), string(s.Map), string(s.Text)
}

const (
	enhancedNamed = "onClick (src/cart.ts:11:43) 1000\n" +
		"onClick (src/cart.ts:11:43);addToCart (src/cart.ts:2:26) 2000\n" +
		"onClick (src/cart.ts:11:43);addToCart (src/cart.ts:2:26);priceOf (src/cart.ts:7:17) 4000\n" +
		"onClick (src/cart.ts:11:43);addToCart (src/cart.ts:2:26);formatPrice (src/cart.ts:9:21) 11750\n"
	inCart           = " (https://shop.example/assets/cart.js:1:"
	enhancedMinified = "g" + inCart + "137) 1000\n" +
		"g" + inCart + "137);a" + inCart + "11) 2000\n" +
		"g" + inCart + "137);a" + inCart + "11);e" + inCart + "54) 4000\n" +
		"g" + inCart + "137);a" + inCart + "11);f" + inCart + "84) 11750\n"
	ofCart = "trace.json: ignored the source map of https://shop.example/assets/cart.js: "
)

func TestCarriedMaps(t *testing.T) {
	file, mapText, _ := enhanced(t)
	inline := strings.Replace(file, `"sourceMapUrl": "cart.js.map"`,
		`"sourceMapUrl": "data:application/json;base64,`+base64.StdEncoding.EncodeToString([]byte(mapText))+`"`, 1)
	withMap := func(text string) string {
		if !strings.Contains(file, mapText) {
			t.Fatal("the trace has no source map")
		}
		return strings.Replace(file, mapText, text, 1)
	}
	quoted, _ := json.Marshal(mapText)
	for _, tt := range []struct {
		name, file string
		pick       Pick
		want       string
		warning    string // prefix
	}{
		{"names of its map", file, Pick{}, enhancedNamed, ""},
		{"as browsers said it", file, Pick{Minified: true}, enhancedMinified, ""},
		{"map in a data URL", strings.Replace(inline, `"sourceMaps"`, `"other"`, 1), Pick{}, enhancedNamed, ""},
		{"map as a text", withMap(string(quoted)), Pick{}, enhancedNamed, ""},
		{"URL with a query", strings.ReplaceAll(file, "/cart.js\"", "/cart.js?v=1\""), Pick{}, enhancedNamed, ""},
		{"map of another script", strings.Replace(file, `"sourceText": "`, `"sourceText": "/* another */ `, 1), Pick{},
			enhancedMinified,
			ofCart + "the map belongs to another script: "},
		{"broken map", withMap(`{"version":3,"sources":["a"],"names":[],"mappings":"!"}`), Pick{}, enhancedMinified,
			ofCart + "source map: "},
		{"map that is none", withMap(`[]`), Pick{}, enhancedMinified, ofCart + "source map: "},
		{"map of a billion lines", withMap(`{"version":3,"sections":[{"offset":{"line":1000000000,"column":0},"map":` +
			mapText + `}]}`), Pick{}, enhancedMinified,
			ofCart + "source map: "},
		{"map of millions of lines", withMap(`{"version":3,"sources":["a"],"names":[],"mappings":"` +
			strings.Repeat(";", 6_000_000) + `"}`), Pick{}, enhancedMinified,
			ofCart + "source map: "},
		{"no text", strings.Replace(file, `"sourceText"`, `"other"`, 1), Pick{}, enhancedMinified,
			ofCart + "the file lacks the text of the script"},
		{"broken map of a script that took no time",
			withMap(mapText + `},{"url":"https://shop.example/assets/other.js","sourceMap":[]`), Pick{},
			enhancedNamed, ""},
		{"files", file, Pick{Parts: selection.Parts{By: "file"}}, "src/cart.ts 18750\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Merge(t.Context(), []Input{fileOf("trace.json", []byte(tt.file))}, selection.Selection{},
				tt.pick, nil)
			if err != nil {
				t.Fatal(err)
			}
			if folded := foldedOf(t, got.Result.Profile); folded != tt.want {
				t.Errorf("got %s, want %s", folded, tt.want)
			}
			switch w := strings.Join(got.Result.Stats.Warnings, "\n"); {
			case tt.warning == "" && w != "":
				t.Errorf("warnings: %s", w)
			case len(got.Result.Stats.Warnings) > 1, !strings.HasPrefix(w, tt.warning):
				t.Errorf("got %q, want %q", w, tt.warning)
			}
		})
	}
}

// The maps of a file do not apply to other files, and maps that the user passed take precedence.
func TestCarriedMapsApart(t *testing.T) {
	file, mapText, script := enhanced(t)
	both := []Input{fileOf("trace.json", []byte(file)), fileOf("other.json",
		[]byte(strings.Replace(file, `"sourceMaps"`, `"other"`, 1)))}
	got, err := Merge(t.Context(), both, selection.Selection{}, Pick{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(enhancedMinified+enhancedNamed, "\n")
	if folded := foldedOf(t, got.Result.Profile); folded != strings.Join(lines, "") {
		t.Errorf("got %s", folded)
	}
	if c := got.Result.Stats.Names; c == nil || c.Self != 18750 || c.Named != 18750 || got.Result.Profile.Traces != 2 ||
		got.Result.Stats.Profiles != 2 {
		t.Errorf("got coverage %+v, %d traces", c, got.Result.Profile.Traces)
	}

	m, err := sourcemap.Read([]byte(strings.Replace(mapText, "cart.ts", "mine.ts", 1)), sourcemap.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	table, _, err := symbols.Make([]byte(script), m)
	if err != nil {
		t.Fatal(err)
	}
	mine := strings.ReplaceAll(enhancedNamed, "cart.ts", "mine.ts")
	for path, want := range map[string]string{"assets/cart.js": mine, "assets/other.js": enhancedNamed} {
		pick := Pick{Symbols: naming.New(naming.NewMemory("", map[string]*symbols.Table{path: table}))}
		got, err := Merge(t.Context(), both[:1], selection.Selection{}, pick, nil)
		if err != nil {
			t.Fatal(err)
		}
		if folded := foldedOf(t, got.Result.Profile); folded != want {
			t.Errorf("%s: got %s", path, folded)
		}
	}
}

// Functions have the same names in time order.
func TestCarriedMapsInTime(t *testing.T) {
	file, _, _ := enhanced(t)
	both := []Input{fileOf("other.json", []byte(strings.Replace(file, `"sourceMaps"`, `"other"`, 1))),
		fileOf("trace.json", []byte(file))}
	lines, stats, err := Timelines(t.Context(), both, Pick{}, nil)
	if err != nil || len(lines) != 2 || len(stats.Warnings) > 0 {
		t.Fatalf("got %d lines, %q, %v", len(lines), stats.Warnings, err)
	}
	for i, want := range []string{"g a e f", "onClick addToCart priceOf formatPrice"} {
		var names []string
		for _, c := range lines[i].Calls {
			names = append(names, lines[i].Frame(c.Node).Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
