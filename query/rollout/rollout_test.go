package rollout_test

import (
	"slices"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/query/rollout"
)

// at returns the time the given number of minutes after the start.
func at(minutes int) time.Time {
	return time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC).Add(time.Duration(minutes) * time.Minute)
}

func traced(name string, first int) rollout.Release {
	return rollout.Release{Name: name, First: at(first)}
}

func uploaded(name string, first, upload int) rollout.Release {
	return rollout.Release{Name: name, First: at(first), Uploaded: at(upload)}
}

func TestNewest(t *testing.T) {
	for name, c := range map[string]struct {
		all    []rollout.Release
		newest string
		tied   []string
	}{
		"one":               {[]rollout.Release{traced("1.0.0", 0)}, "1.0.0", nil},
		"one after another": {[]rollout.Release{traced("1.1.0", 90), traced("1.0.0", 0)}, "1.1.0", nil},
		"an older version":  {[]rollout.Release{traced("2.0.0", 0), traced("1.9.1", 500)}, "1.9.1", nil},
		"at the same time": {[]rollout.Release{traced("1.9.0", 20), traced("1.10.0", 0)}, "1.10.0",
			[]string{"1.9.0", "1.10.0"}},
		"three together": {[]rollout.Release{traced("3", 0), traced("1", 20), traced("2", 10)}, "3",
			[]string{"1", "2", "3"}},
		"an hour apart": {[]rollout.Release{traced("2", 0), traced("1", 60)}, "1", nil},
		"a chain": {[]rollout.Release{traced("3", 0), traced("2", 50), traced("1", 100)}, "2",
			[]string{"1", "2", "3"}},
		"uploads together":   {[]rollout.Release{uploaded("1.1.0", 0, -5), uploaded("1.0.0", 1, -6)}, "1.1.0", nil},
		"uploads, downwards": {[]rollout.Release{uploaded("1.1.0", 0, -6), uploaded("1.0.0", 1, -5)}, "1.0.0", nil},
		"upload of old symbols": {[]rollout.Release{uploaded("1.0.0", 0, 2000), uploaded("1.1.0", 900, 890)},
			"1.1.0", nil},
		"one upload of two, together": {[]rollout.Release{uploaded("1.0.0", 10, 0), traced("1.1.0", 5)}, "1.1.0",
			[]string{"1.0.0", "1.1.0"}},
		"one upload of two, apart": {[]rollout.Release{uploaded("1.0.0", 10, 0), traced("0.9.0", 600)},
			"0.9.0", nil},
	} {
		for range 2 { // in any order
			slices.Reverse(c.all)
			got, ok := rollout.Newest(c.all)
			if !ok || got.Name != c.newest || !slices.Equal(got.Tied, c.tied) {
				t.Errorf("%s: newest %q, tied %q, want %q, %q", name, got.Name, got.Tied, c.newest, c.tied)
			}
			if len(got.Earlier) >= len(c.all) {
				t.Errorf("%s: %d of %d are earlier", name, len(got.Earlier), len(c.all))
			}
		}
	}
	if _, ok := rollout.Newest(nil); ok {
		t.Error("no releases have a newest one")
	}
}

func TestAt(t *testing.T) {
	all := []rollout.Release{traced("1", 0), traced("2", 100), traced("3", 200), traced("4", 210)}
	o, ok := rollout.At(all, "3")
	if !ok || len(o.Earlier) != 2 || !slices.Equal(o.Tied, []string{"3", "4"}) {
		t.Errorf("3: %+v", o)
	}
	if _, ok := rollout.At(all, "5"); ok {
		t.Error("an unknown release was found")
	}
}

func TestBase(t *testing.T) {
	o, _ := rollout.Newest([]rollout.Release{traced("1", 0), traced("2", 100), traced("3", 200), traced("4", 300)})
	for _, c := range []struct {
		views map[string]int64
		want  string
	}{
		{map[string]int64{"1": 5, "2": 900, "3": 20, "4": 5000}, "2"},
		{map[string]int64{"1": 20, "3": 20}, "3"},
		{map[string]int64{"4": 20}, ""},
		{nil, ""},
	} {
		if got := o.Base(func(release string) int64 { return c.views[release] }); got != c.want {
			t.Errorf("%v: %q, want %q", c.views, got, c.want)
		}
	}
}

func TestCompareVersions(t *testing.T) {
	sorted := []string{"0.9", "1.0.0-alpha", "1.0.0-rc.2", "1.0.0-rc.10", "1.0.0", "1.0.1", "1.9.0", "1.10.0", "2",
		"2026.9.30", "2026.10.1", "build-9", "build-10", "v1.2", "v1.10"}
	for i, a := range sorted {
		for k, b := range sorted {
			got := rollout.CompareVersions(a, b)
			if got < 0 != (i < k) || got > 0 != (i > k) {
				t.Errorf("%s and %s: %d", a, b, got)
			}
		}
	}
	if rollout.CompareVersions("01", "1") == 0 {
		t.Error("different names have equal versions")
	}
}
