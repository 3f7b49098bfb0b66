package query

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
	"github.com/fieldtrie/fieldtrie/trie"
)

func fileOf(name string, data []byte) File {
	return File{name, func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }}
}

// traceFiles returns traces as files, and the same traces merged into one file, grouped.
func traceFiles(t *testing.T, traces []*trie.Trace) (each []File, merged File) {
	t.Helper()
	m := trie.NewMerger()
	for _, tr := range traces {
		b, err := encode.EncodeTrace(tr)
		if err != nil {
			t.Fatal(err)
		}
		each = append(each, fileOf("trace", b))
		Selection{GroupBy: AllGroups()}.add(m, tr, "")
	}
	b, err := encode.EncodeProfile(m.Profile())
	if err != nil {
		t.Fatal(err)
	}
	return each, fileOf("profile", b)
}

func TestMergeFiles(t *testing.T) {
	traces := append(realTraces(t), spanTraces(0)...)
	each, merged := traceFiles(t, traces)
	for _, sel := range selections() {
		if !sel.Since.IsZero() || !sel.Until.IsZero() {
			continue
		}
		var calls uint64
		got, err := MergeFiles(t.Context(), each, sel, Pick{}, func(p Progress) { calls = uint64(p.Files) })
		if err != nil {
			t.Errorf("%+v: %v", sel, err)
			continue
		}
		want := naive(traces, sel)
		if sums := sumsOf(got.Profile); !maps.Equal(sums, want) {
			t.Errorf("%+v: got %v, want %v", sel, sums, want)
		}
		if n := uint64(len(traces)); got.Stats.Traces != n || calls != n || got.Stats.Bytes == 0 {
			t.Errorf("%+v: %+v, progress %d, want %d", sel, got.Stats, calls, n)
		}
		if slices.ContainsFunc(sel.Where, func(m Matcher) bool { return !slices.Contains(AllGroups(), m.Key) }) {
			continue // a profile has the labels page, feature and release only
		}
		fromProfile, err := MergeFiles(t.Context(), []File{merged}, sel, Pick{}, nil)
		if err != nil {
			t.Errorf("%+v: %v", sel, err)
		} else if sums := sumsOf(fromProfile.Profile); !maps.Equal(sums, want) {
			t.Errorf("%+v: from a profile: got %v, want %v", sel, sums, want)
		} else if err := fromProfile.Profile.Validate(); err != nil {
			t.Errorf("%+v: from a profile: %v", sel, err)
		} else if groups := len(fromProfile.Profile.Groups); len(sel.GroupBy) == 0 && groups > 1 {
			t.Errorf("%+v: from a profile: %d groups", sel, groups)
		}
	}
}

// TestMergeFilesCounts checks page views and traces, which are no sums over groups.
func TestMergeFilesCounts(t *testing.T) {
	each, merged := traceFiles(t, spanTraces(0))
	for _, grouped := range [][]string{nil, AllGroups()} {
		for name, files := range map[string][]File{"traces": each, "profile": {merged}} {
			got, err := MergeFiles(t.Context(), files, Selection{GroupBy: grouped}, Pick{}, nil)
			if err != nil || got.Profile.Traces != 24 || got.Profile.Views != 12 {
				t.Errorf("%s, grouped %v: %d traces, %d views, %v", name, grouped, got.Profile.Traces, got.Profile.Views, err)
			}
		}
	}
	// Of a part of a profile nobody knows which page views its groups share.
	for _, grouped := range [][]string{nil, AllGroups()} {
		got, err := MergeFiles(t.Context(), []File{merged}, Selection{Feature: "edit", GroupBy: grouped}, Pick{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var c trie.Coverage
		for _, g := range got.Profile.Groups {
			c.Add(g.Coverage)
		}
		if p := got.Profile; p.Traces != c.Traces || p.Views != c.Views || p.Traces <= 16 {
			t.Errorf("grouped %v: %d traces, %d views, the groups have %+v", grouped, p.Traces, p.Views, c)
		}
	}
	got, err := MergeFiles(t.Context(), append(each, merged), Selection{}, Pick{}, nil)
	if err != nil || got.Profile.Traces != 48 || got.Profile.Views != 24 {
		t.Errorf("both: %d traces, %d views, %v", got.Profile.Traces, got.Profile.Views, err)
	}
}

// broken fails while it is read.
type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }
func (b broken) Close() error             { return nil }

func TestMergeFilesErrors(t *testing.T) {
	for want, f := range map[string]File{
		"open x: no such file":      {"x", func() (io.ReadCloser, error) { return nil, errors.New("open x: no such file") }},
		"read x: input/output":      {"x", func() (io.ReadCloser, error) { return broken{errors.New("input/output")}, nil }},
		"x: malformed: ":            fileOf("x", []byte("hello")),
		"x: is empty":               fileOf("x", nil),
		"read .: is a directory":    {".", func() (io.ReadCloser, error) { return os.Open(".") }},
		"x: read as profilertrace:": fileOf("x", []byte(`{"frames":[{"name":"f"}],"stacks":[]}`)),
	} {
		if _, err := MergeFiles(t.Context(), []File{f}, Selection{}, Pick{}, nil); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := MergeFiles(ctx, []File{fileOf("x", nil)}, Selection{}, Pick{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}
