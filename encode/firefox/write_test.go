package firefox

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/fieldtrie/fieldtrie/encode/internal/fixture"
	"github.com/fieldtrie/fieldtrie/encode/output"
)

// TestFirefox checks that the columns of each table have the stated length, and that no index is
// outside its table.
func TestFirefox(t *testing.T) {
	lines := fixture.SomeTimelines()
	data := fixture.WrittenTimed(t, EncodeTimed, output.Options{}, lines...)
	var p struct {
		Shared  struct{ StringArray []string }
		Threads []map[string]json.RawMessage
	}
	if err := json.Unmarshal([]byte(data), &p); err != nil {
		t.Fatal(err)
	}
	for i, thread := range p.Threads {
		length := map[string]int{"": len(p.Shared.StringArray)}
		columns := map[string]map[string]json.RawMessage{}
		for _, name := range []string{"samples", "stackTable", "frameTable", "funcTable", "markers", "resourceTable",
			"nativeSymbols"} {
			var table map[string]json.RawMessage
			if err := json.Unmarshal(thread[name], &table); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(table["length"], new(int)); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			n := 0
			_ = json.Unmarshal(table["length"], &n)
			length[name], columns[name] = n, table
			for column, text := range table {
				var rows []any
				if json.Unmarshal(text, &rows) == nil && len(rows) != n {
					t.Errorf("thread %d: %s.%s has %d rows of %d", i, name, column, len(rows), n)
				}
			}
		}
		for _, r := range []struct{ table, column, of string }{
			{"samples", "stack", "stackTable"}, {"stackTable", "prefix", "stackTable"}, {"stackTable", "frame",
				"frameTable"},
			{"frameTable", "func", "funcTable"}, {"funcTable", "name", ""}, {"funcTable", "fileName", ""},
		} {
			var rows []*int
			if err := json.Unmarshal(columns[r.table][r.column], &rows); err != nil {
				t.Fatalf("%s.%s: %v", r.table, r.column, err)
			}
			for k, v := range rows {
				if v != nil && (*v < 0 || *v >= length[r.of] || r.column == "prefix" && *v >= k) {
					t.Errorf("thread %d: %s.%s[%d] is %d of %d", i, r.table, r.column, k, *v, length[r.of])
				}
			}
		}
		var samples firefoxSamples
		if err := json.Unmarshal(thread["samples"], &samples); err != nil {
			t.Fatal(err)
		}
		var self float64
		for k, s := range samples.Stack {
			if s != nil {
				self += samples.Weight[k]
			}
		}
		if math.Abs(self*1000-float64(lines[i].Self())) > 0.001 {
			t.Errorf("thread %d: got %v ms, want %d µs", i, self, lines[i].Self())
		}
	}
}
