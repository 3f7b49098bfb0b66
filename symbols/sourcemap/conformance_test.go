package sourcemap

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/test/bundles"
)

// TestConformanceMaps compares the maps of bundlers with the results of a simple decoder.
func TestConformanceMaps(t *testing.T) {
	maps := 0
	for name, b := range files(t) {
		if !strings.HasSuffix(name, ".map") {
			continue
		}
		maps++
		t.Run(name, func(t *testing.T) {
			m, err := Read(b, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			checkMap(t, m, DefaultLimits())
			comparePlainly(t, m, b)
		})
	}
	if maps < 10 {
		t.Errorf("%d maps", maps)
	}
}

// comparePlainly compares m with the results of encoding/json and decodePlainly for b.
func comparePlainly(t *testing.T, m *Map, b []byte) {
	var want struct {
		File, SourceRoot, Mappings, DebugID string
		Sources, Names                      []string
		SourcesContent                      []*string
		IgnoreList                          []int
		OldIgnoreList                       []int `json:"x_google_ignoreList"`
	}
	if err := json.Unmarshal(b, &want); err != nil {
		t.Fatal(err)
	}
	if m.File != want.File || m.DebugID != want.DebugID || len(m.Sources) != len(want.Sources) ||
		!slices.Equal(m.Names, want.Names) {
		t.Fatalf("%q, %q, %d sources, %d names", m.File, m.DebugID, len(m.Sources), len(m.Names))
	}
	for i, s := range m.Sources {
		if !strings.HasSuffix(s.Name, want.Sources[i]) {
			t.Errorf("source %d is %q, not %q", i, s.Name, want.Sources[i])
		}
		if content := want.SourcesContent[i]; (content == nil) != (s.Content == nil) || content != nil &&
			*content != string(s.Content) {
			t.Errorf("source %d has different content", i)
		}
		if ignored := slices.Contains(append(want.IgnoreList, want.OldIgnoreList...), i); s.Ignored != ignored {
			t.Errorf("source %d is ignored: %v", i, s.Ignored)
		}
	}
	if !slices.Equal(plainOf(m).Mappings, decodePlainly(want.Mappings)) {
		t.Error("different mappings")
	}
	t.Logf("%d sources, %d names, %d mappings", len(m.Sources), len(m.Names), len(m.Mappings()))
}

// decodePlainly decodes sorted, valid mappings following the text of ECMA-426.
func decodePlainly(text string) (mappings []plain) {
	var sum [5]int32
	for line, group := range strings.Split(text, ";") {
		sum[0] = 0
		for _, segment := range strings.Split(group, ",") {
			if segment == "" {
				continue
			}
			count, value, factor := 0, int64(0), int64(1)
			for _, c := range segment {
				digit := int64(strings.IndexRune(alphabet, c))
				value += digit % 32 * factor
				factor *= 32
				if digit < 32 {
					step := value / 2
					if value%2 == 1 {
						step = -step
					}
					sum[count] += int32(step)
					count, value, factor = count+1, 0, 1
				}
			}
			m := plain{int32(line), Mapping{Column: sum[0], Source: -1, Name: -1}}
			if count >= 4 {
				m.Source, m.SourceLine, m.SourceColumn = sum[1], sum[2], sum[3]
			}
			if count == 5 {
				m.Name = sum[4]
			}
			mappings = append(mappings, m)
		}
	}
	return mappings
}

// TestConformancePlaces looks up the functions of the bundles by their places in V8.
func TestConformancePlaces(t *testing.T) {
	files := files(t)
	functions := 0
	for name, b := range files {
		if path.Base(name) != "truth.json" {
			continue
		}
		var truth map[string][][]any
		if err := json.Unmarshal(b, &truth); err != nil {
			t.Fatal(name, err)
		}
		for script, rows := range truth {
			text := files[path.Join(path.Dir(name), script)]
			m, err := Read(files[path.Join(path.Dir(name), script+".map")], Limits{})
			if err != nil {
				t.Fatal(name, script, err)
			}
			p := NewPositions(text)
			for _, row := range rows {
				functions++
				checkFunction(t, p, m, row)
			}
		}
	}
	if functions < 5_000 {
		t.Errorf("%d functions", functions)
	}
}

// checkFunction checks a row of a truth.json: a function of the script begins at its place, and the
// map has a mapping before it.
func checkFunction(t *testing.T, p *Positions, m *Map, row []any) {
	t.Helper()
	line, column := int32(row[0].(float64))-1, int32(row[1].(float64))-1
	offset := p.Offset(line, column)
	if l, c := p.Place(offset); l != line || c != column {
		t.Errorf("%d:%d was found at %d:%d", line, column, l, c)
	}
	begin := p.text[offset:]
	identifier := begin[0] == '_' || begin[0] == '$' || begin[0] >= 0x80 || begin[0]|0x20 >= 'a' && begin[0]|0x20 <= 'z'
	if begin[0] != '(' && begin[0] != '[' && begin[0] != '#' && !identifier && offset > 0 {
		t.Errorf("%d:%d is %.20q", line, column, begin)
	}
	if len(row) > 3 && m.At(line, column) < 0 {
		t.Errorf("%d:%d has no mapping", line, column)
	}
}

// files returns the files of builds by their paths.
func files(t testing.TB) map[string][]byte {
	t.Helper()
	all, err := bundles.Files(bundles.Dir(t))
	if err != nil {
		t.Fatal(err)
	}
	return all
}
