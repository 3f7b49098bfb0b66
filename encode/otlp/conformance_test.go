package otlp

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	otlp "go.opentelemetry.io/proto/otlp/profiles/v1development"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/encode/internal/fixture"
	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/trie"
)

// faults returns the violations of rules in the comments of the schema, which the checker of
// OpenTelemetry's working group for profiles (sig-profiling, profcheck) also applies: tables begin
// with their zero value, every reference is within its table, every entry of a table is referenced
// and unique, and samples have one shape.
func faults(d *otlp.ProfilesData) (out []string) {
	fault := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	c := conformance{tables: map[string]int{}, used: map[string]map[int64]bool{}, fault: fault}
	tables := d.Dictionary.ProtoReflect()
	fields := tables.Descriptor().Fields()
	for i := range fields.Len() {
		name, list := string(fields.Get(i).Name()), tables.Get(fields.Get(i)).List()
		c.tables[name], c.used[name] = list.Len(), map[int64]bool{0: true}
		if list.Len() == 0 {
			fault("%s is empty", name)
			continue
		}
		if m, ok := list.Get(0).Interface().(protoreflect.Message); ok && name != "link_table" &&
			proto.Size(m.Interface()) > 0 {
			fault("%s does not begin with the zero value", name)
		}
		seen := map[string]int{}
		for k := range list.Len() {
			text := list.Get(k).String()
			if m, ok := list.Get(k).Interface().(protoreflect.Message); ok {
				b, _ := proto.MarshalOptions{Deterministic: true}.Marshal(m.Interface())
				text = string(b)
			}
			if first, twice := seen[text]; twice {
				fault("%s has entry %d again, as %d", name, first, k)
			}
			seen[text] = k
		}
	}
	if d.Dictionary.StringTable[0] != "" {
		fault("the first string is %q", d.Dictionary.StringTable[0])
	}
	// The schema allows readers to expect ids of 16 and 8 bytes.
	if none := d.Dictionary.LinkTable[0]; string(none.TraceId) != string(make([]byte, 16)) ||
		string(none.SpanId) != string(make([]byte, 8)) {
		fault("the first link is %v", none)
	}
	c.walk("", d.ProtoReflect())
	for _, table := range slices.Sorted(maps.Keys(c.tables)) {
		for i := range c.tables[table] {
			if !c.used[table][int64(i)] {
				fault("entry %d of %s is never referenced", i, table)
			}
		}
	}
	profiles := 0
	for _, r := range d.ResourceProfiles {
		for _, s := range r.ScopeProfiles {
			for _, p := range s.Profiles {
				profiles++
				out = append(out, faultsOfSamples(d.Dictionary, p)...)
			}
		}
	}
	if profiles == 0 {
		fault("there is no profile")
	}
	return out
}

// conformance follows all references, using the names of fields: stack_index refers to stack_table,
// and so on.
type conformance struct {
	tables map[string]int
	used   map[string]map[int64]bool
	fault  func(format string, args ...any)
}

func (c *conformance) walk(path string, m protoreflect.Message) {
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		at := path + "." + string(f.Name())
		each := func(v protoreflect.Value) {
			if f.Message() != nil {
				c.walk(at, v.Message())
			} else if table := tableOf(string(f.Name())); table != "" {
				if i := v.Int(); i < 0 || i >= int64(c.tables[table]) {
					c.fault("%s leads to entry %d of %d", at, i, c.tables[table])
				} else {
					c.used[table][i] = true
				}
			} else if f.Kind() == protoreflect.Int64Kind && (f.Name() == "line" || f.Name() == "column" ||
				f.Name() == "start_line") && v.Int() < 0 {
				c.fault("%s is %d", at, v.Int())
			}
		}
		if f.IsList() {
			for i := range v.List().Len() {
				each(v.List().Get(i))
			}
		} else if !f.IsMap() {
			each(v)
		}
		return true
	})
}

func tableOf(field string) string {
	if strings.HasSuffix(field, "_strindex") {
		return "string_table"
	}
	for _, suffix := range []string{"_index", "_indices"} {
		if name, ok := strings.CutSuffix(field, suffix); ok {
			return name + "_table"
		}
	}
	return ""
}

// faultsOfSamples checks the shape of samples: each must have one value and no timestamp.
func faultsOfSamples(d *otlp.ProfilesDictionary, p *otlp.Profile) (out []string) {
	type key struct{ stack, attributes string }
	seen := map[key]bool{}
	for i, s := range p.Samples {
		if len(s.Values) != 1 || len(s.TimestampsUnixNano) > 0 {
			out = append(out, fmt.Sprintf("sample %d has %d values and %d times", i, len(s.Values),
				len(s.TimestampsUnixNano)))
		}
		k := key{fmt.Sprint(s.StackIndex), fmt.Sprint(slices.Sorted(slices.Values(s.AttributeIndices)))}
		if seen[k] {
			out = append(out, fmt.Sprintf("sample %d repeats a stack with the same attributes", i))
		}
		seen[k] = true
		keys := map[string]bool{}
		for _, a := range s.AttributeIndices {
			if name := d.StringTable[d.AttributeTable[a].KeyStrindex]; keys[name] {
				out = append(out, fmt.Sprintf("sample %d has the attribute %q twice", i, name))
			} else {
				keys[name] = true
			}
		}
	}
	return out
}

// Output conforms to the schema: for synthetic and hostile profiles, and for traces of real
// browsers.
func TestConformance(t *testing.T) {
	all := fixture.HandmadeProfiles()
	all["hostile"], all["empty"], all["difference"] = fixture.HostileProfile(), trie.NewProfile(), fixture.Difference()
	for name, tr := range fixture.HandmadeTraces() {
		all["trace "+name] = tr.Profile()
	}
	merged := trie.NewMerger()
	for _, name := range fixture.GoldenTraces {
		tr := fixture.RepositoryTrace(t, name, encode.DecodeProfilerTrace)
		all[name] = tr.Profile()
		merged.AddProfile(all[name])
	}
	all["merged"] = merged.Profile()
	since := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	for name, p := range all {
		for _, o := range []output.Options{{}, {Since: since, Until: since.Add(time.Hour)}} {
			for _, f := range faults(readOTLP(t, fixture.Written(t, Encode, p, o))) {
				t.Errorf("%s: %s", name, f)
			}
		}
	}
}

// The rules detect violations.
func TestFaults(t *testing.T) {
	for name, spoil := range map[string]func(*otlp.ProfilesData){
		"an empty table":       func(d *otlp.ProfilesData) { d.Dictionary.StackTable = nil },
		"a first string":       func(d *otlp.ProfilesData) { d.Dictionary.StringTable[0] = "x" },
		"an invalid reference": func(d *otlp.ProfilesData) { d.Dictionary.StackTable[1].LocationIndices[0] = 1 << 20 },
		"a duplicate string": func(d *otlp.ProfilesData) {
			d.Dictionary.StringTable[2] = d.Dictionary.StringTable[1]
		},
		"an orphan": func(d *otlp.ProfilesData) {
			d.Dictionary.StringTable = append(d.Dictionary.StringTable, "nobody's")
		},
		"two values":            func(d *otlp.ProfilesData) { first(d).Values = []int64{1, 2} },
		"a duplicate attribute": func(d *otlp.ProfilesData) { first(d).AttributeIndices = []int32{1, 1} },
		"no profile":            func(d *otlp.ProfilesData) { d.ResourceProfiles = nil },
	} {
		d := readOTLP(t, fixture.Written(t, Encode, fixture.GroupedProfile(), output.Options{}))
		if spoil(d); len(faults(d)) == 0 {
			t.Errorf("%s is not reported", name)
		}
	}
}

func first(d *otlp.ProfilesData) *otlp.Sample {
	return d.ResourceProfiles[0].ScopeProfiles[0].Profiles[0].Samples[0]
}
