package formats

import (
	"errors"
	"io"
	"regexp"
	"testing"

	"github.com/fieldtrie/fieldtrie/encode/firefox"
	"github.com/fieldtrie/fieldtrie/encode/html"
	"github.com/fieldtrie/fieldtrie/encode/internal/fixture"
	"github.com/fieldtrie/fieldtrie/encode/otlp"
	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/encode/speedscope"
	"github.com/fieldtrie/fieldtrie/encode/view"
	"github.com/fieldtrie/fieldtrie/trie"

	v8 "github.com/fieldtrie/fieldtrie/encode/v8"
)

// writer is a format in these tests: merged, in time order, or both.
type writer struct {
	name  string
	write func(w io.Writer, p *trie.Profile, o output.Options) error
	timed func(w io.Writer, lines []*trie.Timeline, o output.Options) error
}

// writers are the formats of viewers. Binary ones have their own tests.
func writers() []writer {
	return []writer{
		{"d3", view.EncodeD3, view.EncodeD3Timed},
		{"svg", view.EncodeSVG, nil},
		{"cpuprofile", v8.EncodeCPUProfile, v8.EncodeCPUProfileTimed},
		{"speedscope", speedscope.Encode, speedscope.EncodeTimed},
		{"chrometrace", nil, v8.EncodeChromeTraceTimed},
		{"firefox", nil, firefox.EncodeTimed},
		{"otlp", otlp.Encode, nil},
		{"tree", view.EncodeTree, nil},
		{"csv", view.EncodeCSV, nil},
		{"html", encodeHTML, nil},
	}
}

// encodeHTML writes HTML with the template of the tests.
func encodeHTML(w io.Writer, p *trie.Profile, o output.Options) error {
	o.Template = fixture.HTMLTemplate()
	return html.Encode(w, p, o)
}

// withoutPrograms removes the constant parts of a chart.
func withoutPrograms(s string) string {
	s = regexp.MustCompile(`(?s)<style>.*?</style>`).ReplaceAllString(s, "<style/>")
	return regexp.MustCompile(`(?s)<script>.*?</script>`).ReplaceAllString(s, "<script/>")
}

func TestWrittenGolden(t *testing.T) {
	now, base := fixture.ComparedPair()
	for _, f := range writers() {
		if f.name == "otlp" {
			continue
		}
		check := func(name, got string) {
			t.Run(name+"/"+f.name, func(t *testing.T) {
				fixture.CompareGolden(t, name+"."+f.name, []byte(withoutPrograms(got)))
			})
		}
		if f.write != nil {
			check("written-groups", fixture.Written(t, f.write, fixture.GroupedProfile(),
				output.Options{Title: "/feed"}))
			check("written-odd", fixture.Written(t, f.write, fixture.OddTrace().Profile(), output.Options{}))
			check("written-difference", fixture.Written(t, f.write, fixture.Difference(), output.Options{}))
			check("written-nothing", fixture.Written(t, f.write, trie.NewProfile(), output.Options{}))
			check("compared", fixture.Written(t, f.write, now, output.Options{Base: base}))
		}
		if f.timed != nil {
			lines := fixture.SomeTimelines()
			if f.name == "cpuprofile" {
				lines = lines[:1]
			}
			check("timed", fixture.WrittenTimed(t, f.timed, output.Options{Title: "/feed"}, lines...))
			check("timed-nothing", fixture.WrittenTimed(t, f.timed, output.Options{}))
		}
	}
}

// TestWrittenTwice checks that equal input gives equal bytes, whatever its internal order, and is
// not changed.
func TestWrittenTwice(t *testing.T) {
	now, base := fixture.ComparedPair()
	shuffled := trie.Merge(trie.NewProfile(), now)
	shuffled.Intern(trie.Frame{Name: "never called"})
	before, beforeBase := trie.Merge(now), trie.Merge(base)
	for _, f := range writers() {
		if f.write == nil {
			continue
		}
		for _, o := range []output.Options{{}, {Base: base}} {
			if fixture.Written(t, f.write, now, o) != fixture.Written(t, f.write, now.Canonical(), o) {
				t.Errorf("%s: the order of nodes changes the output", f.name)
			}
			if fixture.Written(t, f.write, now, o) != fixture.Written(t, f.write, shuffled, o) {
				t.Errorf("%s: a frame that nothing calls changes the output", f.name)
			}
		}
	}
	if !now.Equal(before) || !base.Equal(beforeBase) {
		t.Error("a profile was changed")
	}
}

// TestWrittenDeep checks that no format recurses for each call of a stack.
func TestWrittenDeep(t *testing.T) {
	const depth = 20_000
	p := trie.NewProfile()
	line := &trie.Timeline{Trie: *trie.New()}
	stack := make([]trie.Frame, depth)
	for i := range stack {
		stack[i] = trie.Frame{Name: "f", Line: uint32(i % 2)}
	}
	p.Add(nil, p.Insert(stack...), trie.Weight{Self: 1_000, Samples: 1, Reach: 1})
	line.Insert(stack...)
	for n := range depth {
		line.Calls = append(line.Calls, trie.Call{Node: trie.NodeID(n + 1), Start: int64(n), End: int64(2*depth - n)})
	}
	for _, f := range writers() {
		if f.write != nil {
			for _, o := range []output.Options{{}, {Base: p}, {Rows: -1}} {
				if got := fixture.Written(t, f.write, p, o); len(got) > 8<<20 {
					t.Errorf("%s: %d bytes", f.name, len(got))
				}
			}
		}
		if f.timed != nil {
			fixture.WrittenTimed(t, f.timed, output.Options{}, line)
		}
	}
}

// failAfter fails after n bytes.
type failAfter struct{ n int }

func (f *failAfter) Write(b []byte) (int, error) {
	if f.n -= len(b); f.n < 0 {
		return 0, errFull
	}
	return len(b), nil
}

var errFull = errors.New("disk full")

// TestWrittenErrors checks that write errors are returned.
func TestWrittenErrors(t *testing.T) {
	for _, f := range writers() {
		if f.write != nil {
			if err := f.write(&failAfter{10}, fixture.GroupedProfile(), output.Options{}); !errors.Is(err, errFull) {
				t.Errorf("%s: got %v", f.name, err)
			}
		}
		if f.timed != nil {
			if err := f.timed(&failAfter{10}, fixture.SomeTimelines()[:1], output.Options{}); !errors.Is(err, errFull) {
				t.Errorf("%s in time order: got %v", f.name, err)
			}
		}
	}
}
