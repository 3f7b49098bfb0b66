package formats

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/encode/internal/fixture"
	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/encode/pprof"
	"github.com/fieldtrie/fieldtrie/encode/view"
	"github.com/fieldtrie/fieldtrie/trie"
)

// readable returns the output of a format as text.
func readable(t *testing.T, format string, data []byte) []byte {
	t.Helper()
	switch format {
	case "trie":
		var b bytes.Buffer
		if err := encode.Dump(&b, data); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	case "pprof":
		p, err := profile.ParseData(data)
		if err != nil {
			t.Fatal(err)
		}
		return []byte(p.String())
	case "json": // one line per row
		return []byte(strings.NewReplacer("},{", "},\n{", "],\"", "],\n\"").Replace(string(data)))
	}
	return data
}

// goldenFormats have golden files of whole traces; the other formats have small golden files of
// their own.
var goldenFormats = []string{"trie", "pprof", "folded", "top", "json"}

// checkFormats compares the output of every format for p with its golden file. If the format can be
// decoded, writing the decoded profile must give the same output.
func checkFormats(t *testing.T, name string, p *trie.Profile) {
	for _, f := range All() {
		if !slices.Contains(goldenFormats, f.Name) {
			continue
		}
		t.Run(name+"/"+f.Name, func(t *testing.T) {
			var b bytes.Buffer
			if err := f.Encode(&b, p, output.Options{}); err != nil {
				t.Fatal(err)
			}
			golden := name + "." + f.Name
			fixture.CompareGolden(t, golden, readable(t, f.Name, b.Bytes()))
			if f.Decode == nil || f.Name == "folded" { // folded does not keep counts
				return
			}
			d, err := f.Decode(bytes.NewReader(b.Bytes()), encode.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			b.Reset()
			if err := f.Encode(&b, d.Profile, output.Options{}); err != nil {
				t.Fatal(err)
			}
			fixture.CompareGolden(t, golden, readable(t, f.Name, b.Bytes()))
		})
	}
}

func TestFormats(t *testing.T) {
	for _, name := range fixture.GoldenTraces {
		checkFormats(t, strings.TrimSuffix(name, ".json"), fixture.RepositoryTrace(t, name,
			encode.DecodeProfilerTrace).Profile())
	}
	for name, tr := range fixture.HandmadeTraces() {
		checkFormats(t, name, tr.Profile())
	}
	for name, p := range fixture.HandmadeProfiles() {
		checkFormats(t, name, p)
	}
}

// TestDumpFormat checks that a dump shows the output of the format trie.
func TestDumpFormat(t *testing.T) {
	p := fixture.GroupedProfile()
	dump, err := Writer("dump")
	if err != nil {
		t.Fatal(err)
	}
	data, err := encode.EncodeProfile(p)
	if err != nil {
		t.Fatal(err)
	}
	got, want := fixture.Written(t, dump.Encode, p, output.Options{}), string(readable(t, "trie", data))
	if got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestWriter(t *testing.T) {
	f, err := Writer("pprof")
	if err != nil || f.Name != "pprof" || !f.Binary {
		t.Errorf("got %s, %v", f.Name, err)
	}
	for _, name := range []string{"profilertrace", "proposal", "", "PPROF"} {
		if _, err := Writer(name); err == nil || !strings.Contains(err.Error(), "known are trie, pprof, ") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	for _, f := range All() {
		if f.About == "" || (f.Detect == nil) != (f.Decode == nil) || (f.Decode == nil && !f.Writes()) {
			t.Errorf("%s: a table entry is incomplete", f.Name)
		}
	}
}

// TestDetect checks that each format is distinguished from all others, gzipped or not.
func TestDetect(t *testing.T) {
	tr := fixture.MinimalTrace()
	binary, err := encode.EncodeTrace(tr)
	if err != nil {
		t.Fatal(err)
	}
	documents := map[string][]byte{
		"trie":          binary,
		"pprof":         plainPprof(t, tr.Profile()),
		"profilertrace": []byte(" {\"page\":\"/\",\"trace\":" + fixture.OneTrace + "}"),
		"proposal": []byte("\n" + `{"version":1,"options":{"sampleInterval":10},"profile":{"strings":["a"],` +
			`"stackFrames":{"1":{"name":0}},"main-thread":[{"type":"stack","timestamp":1,"stack":1}]}}`),
	}
	for want, data := range documents {
		var got []string
		for _, f := range All() {
			if f.Detect != nil && f.Detect(data) {
				got = append(got, f.Name)
			}
		}
		if !slices.Equal(got, []string{want}) {
			t.Errorf("%s: detected as %v", want, got)
		}
		for _, data := range [][]byte{data, fixture.Gzipped(data)} {
			if d, err := Decode(bytes.NewReader(data), encode.Limits{}); err != nil ||
				(d.Trace == nil) == (d.Profile == nil) {
				t.Errorf("%s: got %v, %v", want, d, err)
			}
		}
	}
}

func TestDecodeGarbage(t *testing.T) {
	for data, want := range map[string]string{
		"": "malformed: not in a known format, which are trie, pprof, " +
			"profilertrace, proposal, speedscope, firefox, cpuprofile, chrometrace, folded",
		"garbage":                         "malformed: not in a known format",
		"{}":                              "malformed: not in a known format",
		"\n{}":                            "malformed: not in a known format",
		"\x1f\x8b":                        "malformed: gzip: ",
		"\x1f\x8b\x08garbage":             "malformed: gzip: ",
		string(fixture.Gzipped(nil)):      "malformed: not in a known format",
		string(fixture.Gzipped(nil)[:15]): "malformed: gzip: unexpected EOF",
		"\x0dFTR\x02": "read as trie: malformed: magic: format version 2 is a set of traces, as " +
			"a store has them; this must be one trace or profile",
		"\x0a\x00\x32\x00":         "read as pprof: ",
		`{"samples":[{"stackId":`:  "read as profilertrace: malformed",
		"\x0a\x02\x08\x01\x32\x01": "malformed: not in a known format",
	} {
		d, err := Decode(strings.NewReader(data), encode.Limits{})
		if err == nil || !strings.HasPrefix(err.Error(), want) || encode.KindOf(err) == 0 || d != (encode.Document{}) {
			t.Errorf("%q: got %v, %v, want %s", data, d, err, want)
		}
	}
}

// TestOutputTimes checks that the requested time is in the formats that have a field for it.
func TestOutputTimes(t *testing.T) {
	since := time.Date(2026, 11, 3, 10, 0, 0, 0, time.FixedZone("", 3600))
	o := output.Options{Since: since, Until: since.Add(time.Hour)}
	var file, b bytes.Buffer
	if err := pprof.Encode(&file, fixture.MinimalTrace().Profile(), o); err != nil {
		t.Fatal(err)
	}
	p, err := profile.Parse(&file)
	if err != nil {
		t.Fatal(err)
	}
	if p.TimeNanos != since.UnixNano() || p.DurationNanos != int64(time.Hour) {
		t.Errorf("pprof: got %d for %d ns", p.TimeNanos, p.DurationNanos)
	}
	if err := view.EncodeJSON(&b, trie.NewProfile(), o); err != nil {
		t.Fatal(err)
	}
	if want := `"since":"2026-11-03T09:00:00.000Z","until":"2026-11-03T10:00:00.000Z"`; !strings.Contains(b.String(),
		want) {
		t.Errorf("json: got %s, want it to have %s", b.Bytes(), want)
	}
}

// plainPprof returns p as a pprof without gzip.
func plainPprof(t testing.TB, p *trie.Profile) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := pprof.Write(&b, p, output.Options{}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
