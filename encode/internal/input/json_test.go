package input

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/encode/internal/fixture"
)

// checkJSONReader compares how [JSON] and encoding/json read a document.
func checkJSONReader(t *testing.T, data []byte) {
	t.Helper()
	var r JSON
	r.data = data // not by Reset, which skips a byte order mark
	r.Skip()
	r.End()
	if got, want := r.Err == nil, json.Valid(data); got != want {
		t.Fatalf("%.80q: accepted: %v, encoding/json: %v (%v)", data, got, want, r.Err)
	}
	if r.Err != nil {
		if KindOf(r.Err) != Malformed {
			t.Fatalf("%.80q: got %v, want a malformed document", data, r.Err)
		}
		return
	}
	var want any
	if err := json.Unmarshal(data, &want); err != nil && !strings.Contains(err.Error(), "cannot unmarshal number") {
		t.Fatal(err)
	}
	r = JSON{data: data}
	switch want := want.(type) {
	case string:
		if got := string(r.Str()); got != want {
			t.Fatalf("%q: got %q, want %q", data, got, want)
		}
	case float64:
		if got := r.Float(); got != want || math.Signbit(got) != math.Signbit(want) {
			t.Fatalf("%q: got %v, want %v", data, got, want)
		}
		r = JSON{data: data}
		u, ok := r.Whole(1 << 32)
		if whole := want >= 0 && want <= 1<<32 && want == math.Trunc(want); ok != whole || ok && float64(u) != want {
			t.Fatalf("%q: got %d and %v as a whole number", data, u, ok)
		}
	case []any:
		n := 0
		for r.Array(); r.Element(); n++ {
			r.Skip()
		}
		if r.End(); n != len(want) || r.Err != nil {
			t.Fatalf("%.80q: got %d elements and %v, want %d", data, n, r.Err, len(want))
		}
	case map[string]any:
		keys := map[string]bool{}
		for r.Object(); r.Key(); {
			keys[string(r.Name)] = true
			r.Skip()
		}
		if r.End(); len(keys) != len(want) || r.Err != nil {
			t.Fatalf("%.80q: got keys %v and %v, want %d", data, keys, r.Err, len(want))
		}
		for k := range want {
			if !keys[k] {
				t.Fatalf("%.80q: key %q is missing", data, k)
			}
		}
	}
}

func TestJSONReader(t *testing.T) {
	for _, doc := range fixture.JsonCases {
		checkJSONReader(t, []byte(doc))
	}
}

// FuzzJSONReader looks for documents that encoding/json reads differently.
func FuzzJSONReader(f *testing.F) {
	for _, doc := range fixture.JsonCases {
		if len(doc) < 200 {
			f.Add([]byte(doc))
		}
	}
	f.Fuzz(checkJSONReader)
}

func TestJSONReaderErrors(t *testing.T) {
	for doc, want := range map[string]string{
		`{"a": tru}`:       `malformed: byte 6: 't' where true should be`,
		`{"a": 01}`:        `malformed: byte 6: "01" is not a number`,
		`{"a": "b" "c"}`:   `malformed: byte 10: '"' where a comma or the end of the object should be`,
		`{"a": "\x"}`:      `malformed: byte 8: invalid character 'x' in string escape code`,
		"[\"a\nb\"]":       `malformed: byte 3: '\n' where the end of a string should be`,
		`["abc`:            `malformed: byte 5: the document ends where the end of a string should be`,
		`[1, `:             `malformed: byte 4: the document ends where a number should be`,
		`[] é`:             `malformed: byte 3: 'é' where the end of the document should be`,
		`{"a"; 1}`:         `malformed: byte 4: ';' where a colon should be`,
		"\ufeff[1,\ufeff]": `malformed: byte 6: '\ufeff' where a number should be`,
	} {
		var r JSON
		r.Reset([]byte(doc))
		r.Skip()
		r.End()
		if r.Err == nil || r.Err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", doc, r.Err, want)
		}
	}
}

// TestJSONReaderSticks checks that loops end after an error and that the first error is kept.
func TestJSONReaderSticks(t *testing.T) {
	r := JSON{data: []byte(`{"a":[1,2],"b":?}`)}
	rounds := 0
	for r.Object(); r.Key(); {
		for r.Array(); r.Element(); {
			r.Str()
			rounds++
		}
	}
	r.Skip()
	r.End()
	if u, ok := r.Whole(9); u != 0 || r.Float() != 0 || r.Str() != nil || r.Null() || r.Element() || r.Key() {
		t.Errorf("a value was returned after an error: %d %v", u, ok)
	}
	if want := `malformed: byte 6: '1' where a string should be`; r.Err.Error() != want || rounds != 1 {
		t.Errorf("got %v after %d rounds, want %s after 1", r.Err, rounds, want)
	}
}

// FuzzJSONNumbers checks the fast path for numbers against strconv.
func FuzzJSONNumbers(f *testing.F) {
	for _, x := range []float64{0, 0.1, 101.4000000001397, 1795216764503.8, 12345.600000000093, 1e22, 5e-324,
		math.MaxFloat64} {
		f.Add(x)
	}
	f.Fuzz(func(t *testing.T, x float64) {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return
		}
		for _, format := range []byte{'f', 'e', 'g'} {
			for _, digits := range []int{-1, 3, 12} {
				text := strconv.FormatFloat(x, format, digits, 64)
				want, _ := strconv.ParseFloat(text, 64)
				r := JSON{data: []byte(text)}
				if got := r.Float(); got != want || r.Err != nil {
					t.Fatalf("%s: got %v and %v, want %v", text, got, r.Err, want)
				}
			}
		}
	})
}
