package cause_test

import (
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/query/cause"
	"github.com/fieldtrie/fieldtrie/symbols/edits"
	"github.com/fieldtrie/fieldtrie/test/simulate/releases"
)

// For nearly all changes with a planted cause, the first result is that cause. Changes without a
// cause have none.
func TestCauses(t *testing.T) {
	const runs, views = 5, 1500
	wrong := 0
	for _, kind := range releases.Kinds() {
		found := 0
		for seed := uint64(0); found < runs && seed < 400; seed++ {
			x, ok := releases.Draw(kind, seed, views)
			if !ok {
				continue
			}
			found++
			causes, note := cause.Of(&x.Change, &x.Evidence)
			if (len(causes) == 0) != (note != "") || len(causes) > 3 {
				t.Errorf("%s, seed %d: %d causes and the note %q", kind, seed, len(causes), note)
			}
			silent := kind == releases.None || kind == releases.All
			if silent != (len(causes) == 0) || !silent && !x.Right(&causes[0]) {
				wrong++
				t.Logf("%s, seed %d: %s", kind, seed, note)
				for _, c := range causes {
					t.Logf("   %s", c.Text)
				}
			}
		}
		if found < runs {
			t.Errorf("%s: drawn %d times", kind, found)
		}
	}
	if wrong > 4 {
		t.Errorf("wrong about %d of %d", wrong, runs*len(releases.Kinds()))
	}
}

// A function with different code from the same source explains a change as an edited one does.
func TestRecompiled(t *testing.T) {
	for _, kind := range []releases.Kind{releases.Itself, releases.Caller} {
		tried := 0
		for seed := uint64(0); tried < 3 && seed < 400; seed++ {
			x, ok := releases.Draw(kind, seed, 1500)
			if !ok {
				continue
			}
			tried++
			for i := range x.Evidence.Edits.Functions {
				x.Evidence.Edits.Functions[i].Change = edits.Recompiled
			}
			causes, note := cause.Of(&x.Change, &x.Evidence)
			if len(causes) == 0 || !x.Right(&causes[0]) || !strings.Contains(causes[0].Text,
				" has other code from the same source in release b: ") {
				t.Errorf("%s, seed %d: %+v, %q", kind, seed, causes, note)
			}
		}
		if tried == 0 {
			t.Errorf("%s: never drawn", kind)
		}
	}
}
