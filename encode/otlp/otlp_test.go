package otlp

import (
	"maps"
	"strings"
	"testing"
	"time"

	otlp "go.opentelemetry.io/proto/otlp/profiles/v1development"
	"google.golang.org/protobuf/proto"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/encode/internal/fixture"
	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/trie"
)

func readOTLP(t *testing.T, data string) *otlp.ProfilesData {
	t.Helper()
	var out otlp.ProfilesData
	if err := proto.Unmarshal([]byte(data), &out); err != nil {
		t.Fatal(err)
	}
	return &out
}

// TestOTLPTables checks that entry 0 of each table is the zero value, as the schema requires, and
// that all other entries are unique.
func TestOTLPTables(t *testing.T) {
	for _, p := range []*trie.Profile{fixture.GroupedProfile(), trie.NewProfile()} {
		d := readOTLP(t, fixture.Written(t, Encode, p, output.Options{})).Dictionary
		if !proto.Equal(d.MappingTable[0], &otlp.Mapping{}) || !proto.Equal(d.LocationTable[0], &otlp.Location{}) ||
			!proto.Equal(d.FunctionTable[0], &otlp.Function{}) || !proto.Equal(d.StackTable[0], &otlp.Stack{}) ||
			!proto.Equal(d.AttributeTable[0], &otlp.KeyValueAndUnit{}) || d.StringTable[0] != "" ||
			len(d.LinkTable[0].TraceId) != 16 || len(d.LinkTable[0].SpanId) != 8 {
			t.Errorf("got %v", d)
		}
		seen := map[string]bool{}
		for _, s := range d.StringTable {
			if seen[s] {
				t.Errorf("%q occurs twice", s)
			}
			seen[s] = true
		}
	}
}

// TestOTLP checks that the decoded samples equal the weights of the nodes in each group.
func TestOTLP(t *testing.T) {
	for name, p := range map[string]*trie.Profile{
		"groups": fixture.GroupedProfile(), "odd": fixture.OddTrace().Profile(), "difference": fixture.Difference(),
		fixture.GoldenTraces[0]: fixture.RepositoryTrace(t, fixture.GoldenTraces[0],
			encode.DecodeProfilerTrace).Profile(),
	} {
		data := readOTLP(t, fixture.Written(t, Encode, p, output.Options{}))
		profiles := data.ResourceProfiles[0].ScopeProfiles[0].Profiles
		for i, value := range []func(trie.Weight) int64{
			func(w trie.Weight) int64 { return w.Self * 1000 }, func(w trie.Weight) int64 { return w.Samples },
		} {
			want := map[string]int64{}
			for k := range p.Groups {
				for n, w := range p.Groups[k].Weights.All() {
					if v := value(w); v != 0 {
						stack := ""
						for a := range p.Stack(n) {
							stack += output.Shown(p.Frame(a)) + " " + p.Frame(a).Resource + ";"
						}
						want[output.LabelText(p.Groups[k].Labels)+": "+stack] += v
					}
				}
			}
			if got := otlpSums(data.Dictionary, profiles[i]); !maps.Equal(got, want) {
				t.Errorf("%s: got %v\nwant %v", name, got, want)
			}
		}
		if kind := data.Dictionary.StringTable[profiles[0].SampleType.TypeStrindex]; kind != "wall" {
			t.Errorf("%s: the first profile has the type %s", name, kind)
		}
	}
}

// otlpSums returns the values of p by labels and stack.
func otlpSums(d *otlp.ProfilesDictionary, p *otlp.Profile) map[string]int64 {
	got := map[string]int64{}
	for _, s := range p.Samples {
		var labels trie.Labels
		for _, a := range s.AttributeIndices {
			at := d.AttributeTable[a]
			values := []string{at.Value.GetStringValue()}
			if list := at.Value.GetArrayValue(); list != nil {
				values = nil
				for _, v := range list.Values {
					values = append(values, v.GetStringValue())
				}
			}
			for _, v := range values {
				labels = append(labels, trie.Label{Key: d.StringTable[at.KeyStrindex], Value: v})
			}
		}
		stack := ""
		for _, l := range d.StackTable[s.StackIndex].LocationIndices {
			f := d.FunctionTable[d.LocationTable[l].Lines[0].FunctionIndex]
			stack += d.StringTable[f.NameStrindex] + " " + d.StringTable[f.FilenameStrindex] + ";"
		}
		got[output.LabelText(labels)+": "+stack] += s.Values[0]
	}
	return got
}

// TestOTLPIdentity checks that an id is a hash of the content and differs between the profiles of a
// message, that times are in the right fields, and that no name makes the message unreadable.
func TestOTLPIdentity(t *testing.T) {
	since := time.Date(2026, 11, 3, 10, 0, 0, 0, time.UTC)
	o := output.Options{Since: since, Until: since.Add(time.Hour)}
	ids := map[string]bool{}
	for _, p := range []*trie.Profile{fixture.GroupedProfile(), fixture.HostileProfile()} {
		data := fixture.Written(t, Encode, p, o)
		if data != fixture.Written(t, Encode, p, o) {
			t.Error("the bytes differ")
		}
		for _, profile := range readOTLP(t, data).ResourceProfiles[0].ScopeProfiles[0].Profiles {
			ids[string(profile.ProfileId)] = true
			if len(profile.ProfileId) != 16 || profile.TimeUnixNano != uint64(since.UnixNano()) ||
				profile.DurationNano != uint64(time.Hour) {
				t.Errorf("got %x at %d for %d", profile.ProfileId, profile.TimeUnixNano, profile.DurationNano)
			}
		}
	}
	if len(ids) != 4 {
		t.Errorf("%d ids of 4 profiles", len(ids))
	}
	if strings.Contains(fixture.Written(t, Encode, fixture.HostileProfile(), o), "\xff\xfe") {
		t.Error("a name is not UTF-8")
	}
}
