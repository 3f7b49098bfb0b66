package file

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/test/fixture"
	"github.com/fieldtrie/fieldtrie/trie"
)

func fileOf(name string, data []byte) Input {
	return Input{name, func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }}
}

// traceFiles returns traces as files, and the same traces merged into one file, grouped.
func traceFiles(t *testing.T, traces []*trie.Trace) (each []Input, merged Input) {
	t.Helper()
	m := trie.NewMerger()
	for _, tr := range traces {
		b, err := encode.EncodeTrace(tr)
		if err != nil {
			t.Fatal(err)
		}
		each = append(each, fileOf("trace", b))
		selection.Selection{GroupBy: selection.AllGroups()}.Merge(m, tr, "")
	}
	b, err := encode.EncodeProfile(m.Profile())
	if err != nil {
		t.Fatal(err)
	}
	return each, fileOf("profile", b)
}

func TestMergeFiles(t *testing.T) {
	traces := append(fixture.Real(t), fixture.Spans(0)...)
	each, merged := traceFiles(t, traces)
	for _, sel := range fixture.Selections() {
		if !sel.Since.IsZero() || !sel.Until.IsZero() {
			continue
		}
		var calls uint64
		got, err := Merge(t.Context(), each, sel, Pick{}, func(p Progress) { calls = uint64(p.Files) })
		if err != nil {
			t.Errorf("%+v: %v", sel, err)
			continue
		}
		want := fixture.Naive(traces, sel)
		if sums := fixture.SumsOf(got.Result.Profile); !maps.Equal(sums, want) {
			t.Errorf("%+v: got %v, want %v", sel, sums, want)
		}
		if n := uint64(len(traces)); got.Result.Stats.Traces != n || calls != n || got.Result.Stats.Bytes == 0 {
			t.Errorf("%+v: %+v, progress %d, want %d", sel, got.Result.Stats, calls, n)
		}
		if slices.ContainsFunc(sel.Where, func(m selection.Matcher) bool {
			return !slices.Contains(selection.AllGroups(), m.Key)
		}) {
			continue // a profile has the labels page, feature and release only
		}
		fromProfile, err := Merge(t.Context(), []Input{merged}, sel, Pick{}, nil)
		if err != nil {
			t.Errorf("%+v: %v", sel, err)
		} else if sums := fixture.SumsOf(fromProfile.Result.Profile); !maps.Equal(sums, want) {
			t.Errorf("%+v: from a profile: got %v, want %v", sel, sums, want)
		} else if err := fromProfile.Result.Profile.Validate(); err != nil {
			t.Errorf("%+v: from a profile: %v", sel, err)
		} else if groups := len(fromProfile.Result.Profile.Groups); len(sel.GroupBy) == 0 && groups > 1 {
			t.Errorf("%+v: from a profile: %d groups", sel, groups)
		}
	}
}

// TestMergeFilesCounts checks page views and traces, which are not sums over groups.
func TestMergeFilesCounts(t *testing.T) {
	each, merged := traceFiles(t, fixture.Spans(0))
	for _, grouped := range [][]string{nil, selection.AllGroups()} {
		for name, files := range map[string][]Input{"traces": each, "profile": {merged}} {
			got, err := Merge(t.Context(), files, selection.Selection{GroupBy: grouped}, Pick{}, nil)
			if err != nil || got.Result.Profile.Traces != 24 || got.Result.Profile.Views != 12 {
				t.Errorf("%s, grouped %v: %d traces, %d views, %v", name, grouped, got.Result.Profile.Traces,
					got.Result.Profile.Views, err)
			}
		}
	}
	// The groups of a partial profile may share page views, so their sum is unknown.
	for _, grouped := range [][]string{nil, selection.AllGroups()} {
		got, err := Merge(t.Context(), []Input{merged}, selection.Selection{Feature: "edit", GroupBy: grouped},
			Pick{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var c trie.Coverage
		for _, g := range got.Result.Profile.Groups {
			c.Add(g.Coverage)
		}
		if p := got.Result.Profile; p.Traces != c.Traces || p.Views != c.Views || p.Traces <= 16 {
			t.Errorf("grouped %v: %d traces, %d views, the groups have %+v", grouped, p.Traces, p.Views, c)
		}
	}
	got, err := Merge(t.Context(), append(each, merged), selection.Selection{}, Pick{}, nil)
	if err != nil || got.Result.Profile.Traces != 48 || got.Result.Profile.Views != 24 {
		t.Errorf("both: %d traces, %d views, %v", got.Result.Profile.Traces, got.Result.Profile.Views, err)
	}
}

// broken is a reader that fails.
type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }
func (b broken) Close() error             { return nil }

func TestMergeFilesErrors(t *testing.T) {
	for want, f := range map[string]Input{
		"open x: no such file": {"x", func() (io.ReadCloser, error) {
			return nil, errors.New("open x: no such file")
		}},
		"read x: input/output": {"x", func() (io.ReadCloser, error) {
			return broken{errors.New("input/output")}, nil
		}},
		"x: malformed: ":            fileOf("x", []byte("hello")),
		"x: empty file":             fileOf("x", nil),
		"read .: is a directory":    {".", func() (io.ReadCloser, error) { return os.Open(".") }},
		"x: read as profilertrace:": fileOf("x", []byte(`{"frames":[{"name":"f"}],"stacks":[]}`)),
	} {
		if _, err := Merge(t.Context(), []Input{f}, selection.Selection{}, Pick{}, nil); err == nil ||
			!strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Merge(ctx, []Input{fileOf("x", nil)}, selection.Selection{}, Pick{}, nil); !errors.Is(err,
		context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}
