package edits_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/symbols"
	"github.com/fieldtrie/fieldtrie/symbols/sourcemap"
	"github.com/fieldtrie/fieldtrie/test/bundles"
	"github.com/fieldtrie/fieldtrie/test/bundles/edited"
)

var update = flag.Bool("update", false, "record pairs of the builds that SOURCEMAPS names")

// recorded is a pair of builds: the tables of the app's functions, and the edits between them.
type recorded struct {
	Name          string
	Before, After side
	Edits         []bundles.Edit
}

type side struct {
	Tables [][]byte
	Known  []bundles.SourcePlace // functions in scripts
}

func (s side) scripts() []bundles.Script {
	var out bundles.Script
	for _, p := range s.Known {
		out.Truth = append(out.Truth, bundles.Row{Known: true, File: p.File, SourceLine: p.Line,
			SourceColumn: p.Column})
	}
	return []bundles.Script{out}
}

func (s side) tables(t *testing.T) (out []*symbols.Table) {
	for _, b := range s.Tables {
		table, err := symbols.Decode(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, table)
	}
	return out
}

func pairsPath() string { return filepath.Join("testdata", "pairs.json.gz") }

// TestPairs compares the edits found between recorded builds of several bundlers with the edits
// that were made to their sources: none is missed, and none is wrong.
func TestPairs(t *testing.T) {
	data, err := os.ReadFile(pairsPath())
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	var pairs []recorded
	if err := json.NewDecoder(z).Decode(&pairs); err != nil {
		t.Fatal(err)
	}
	for _, p := range pairs {
		t.Run(p.Name, func(t *testing.T) {
			judge(t, edited.Judge(p.Before.scripts(), p.After.scripts(), p.Before.tables(t),
				p.After.tables(t), p.Edits))
		})
	}
}

func judge(t *testing.T, j edited.Judgement) {
	t.Logf("%d functions, %d edited, %d missed, %d extra, %d recompiled", j.Functions, j.Edited, j.Missed, j.Extra,
		j.Recompiled)
	for _, fault := range j.Faults {
		t.Error(fault)
	}
	if j.Recompiled > 1 {
		t.Errorf("%d functions are recompiled, want 1, into which terser inlines an edited function", j.Recompiled)
	}
	if j.Edited == 0 {
		t.Error("nothing was edited")
	}
}

// TestBuilds makes the same comparison with complete builds in $SOURCEMAPS, which node
// test/bundlers/edits.js makes. With -update it records the first pair of each bundler.
func TestBuilds(t *testing.T) {
	all, err := bundles.Read(bundles.Dir(t))
	if err != nil {
		t.Fatal(err)
	}
	var pairs []recorded
	for _, b := range all {
		name := b.Original()
		at := slices.IndexFunc(all, func(x bundles.Build) bool { return x.Name == name })
		if name == "" || at < 0 {
			continue
		}
		t.Run(b.Name, func(t *testing.T) {
			before, after := tables(t, all[at]), tables(t, b)
			judge(t, edited.Judge(all[at].Scripts, b.Scripts, before, after, b.Edits))
			if len(pairs) == 0 || !strings.HasPrefix(pairs[len(pairs)-1].Name, name+"-") {
				pairs = append(pairs, recorded{b.Name, sideOf(t, all[at], before), sideOf(t, b, after), b.Edits})
			}
		})
	}
	if *update {
		record(t, pairs)
	}
}

// sideOf returns the recorded data of a build.
func sideOf(t *testing.T, b bundles.Build, tables []*symbols.Table) (out side) {
	app := func(file string) bool { return strings.HasPrefix(file, "src/") }
	for _, s := range b.Scripts {
		for _, row := range s.Truth {
			if row.Known && app(row.File) {
				out.Known = append(out.Known, bundles.SourcePlace{File: row.File, Line: row.SourceLine,
					Column: row.SourceColumn})
			}
		}
	}
	for _, table := range tables {
		of := *table
		of.Functions = slices.DeleteFunc(slices.Clone(of.Functions), func(f symbols.Function) bool {
			return f.Source < 0 || !app(of.Sources[f.Source].Name)
		})
		var w bytes.Buffer
		if err := symbols.Encode(&w, &of); err != nil {
			t.Fatal(err)
		}
		out.Tables = append(out.Tables, w.Bytes())
	}
	return out
}

func record(t *testing.T, pairs []recorded) {
	var w bytes.Buffer
	z, err := gzip.NewWriterLevel(&w, gzip.BestCompression)
	if err == nil {
		err = json.NewEncoder(z).Encode(pairs)
	}
	if err == nil {
		err = z.Close()
	}
	if err == nil {
		err = os.MkdirAll("testdata", 0o755)
	}
	if err == nil {
		err = os.WriteFile(pairsPath(), w.Bytes(), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func tables(t *testing.T, b bundles.Build) (out []*symbols.Table) {
	for _, s := range b.Scripts {
		m, err := sourcemap.Read(s.Map, sourcemap.DefaultLimits())
		if err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		table, _, err := symbols.Make(s.Text, m)
		if err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		out = append(out, table)
	}
	return out
}
