package upgrade

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// TestCut ends an upgrade before each of its steps, and has the next one go on: the result is the same, and until the new form is whole the
// old one is as it was.
func TestCut(t *testing.T) {
	t.Run("closed", func(t *testing.T) { cutEverywhere(t, "closed", 9, 1, func(string) {}) })
	if testing.Short() {
		return
	}
	t.Run("killed", func(t *testing.T) { cutEverywhere(t, "killed", 29, 4, func(string) {}) })
	t.Run("damaged", func(t *testing.T) { cutEverywhere(t, "closed", 37, 2, func(dir string) { damage(t, dir) }) })
}

// cutEverywhere cuts the upgrade of a directory that was changed: before one in so many of the steps that make the new form, and of those
// that put it in its place.
func cutEverywhere(t *testing.T, name string, making, swapping int, change func(dir string)) {
	g := readGolden(t, name)
	run := func(dir string, c *cutter) (Stats, error) {
		o := g.options()
		o.step = c.step
		return Run(t.Context(), dir, o)
	}
	dir := unpack(t, name)
	change(dir)
	whole := &cutter{left: 1 << 30}
	wantStats, err := run(dir, whole)
	if err != nil {
		t.Fatal(err)
	}
	want, tree := g.answers(t, dir), treeOf(t, dir)
	if testing.Short() {
		making *= 5
	}
	begun := slices.Index(whole.taken, "write "+swapFile)
	for n := 0; n < len(whole.taken); n++ {
		if n < begun && n%making != 0 || n >= begun && (n-begun)%swapping != 0 {
			continue
		}
		dir := unpack(t, name)
		change(dir)
		var before []string
		if name == "closed" { // to recover partitions changes them
			before = treeOf(t, dir)
		}
		c := &cutter{left: n}
		if _, err := run(dir, c); !errors.Is(err, errCut) {
			t.Fatalf("not cut before step %d: %v", n, err)
		}
		if !slices.Contains(c.taken, "write "+swapFile) && before != nil {
			if diff := differ(treeOf(t, dir), before, func(line string) bool { return strings.HasPrefix(line, workFolder) }); diff != "" {
				t.Fatalf("cut before %s, the old form is another one:\n%s", whole.taken[n], diff)
			}
		}
		if needed, err := Needed(dir); !needed || err != nil {
			t.Fatalf("cut before %s, nothing is to be done: %v", whole.taken[n], err)
		}
		again := &cutter{left: 1 + n/2} // and once more
		if _, err := run(dir, again); err != nil && !errors.Is(err, errCut) {
			t.Fatalf("cut before %s: %v", whole.taken[n], err)
		}
		stats, err := run(dir, &cutter{left: 1 << 30})
		if err != nil {
			t.Fatalf("cut before %s: %v", whole.taken[n], err)
		}
		if stats.Hours != 0 && (stats.Traces != wantStats.Traces || len(stats.Left) != len(wantStats.Left)) { // else it was done by then
			t.Errorf("cut before %s: %+v, want %+v", whole.taken[n], stats, wantStats)
		}
		if diff := differ(g.answers(t, dir), want, func(string) bool { return false }); diff != "" {
			t.Fatalf("cut before %s, it answers otherwise:\n%s", whole.taken[n], diff)
		}
		if diff := differ(shapeOf(treeOf(t, dir)), shapeOf(tree), func(string) bool { return false }); diff != "" {
			t.Fatalf("cut before %s, other files are there:\n%s", whole.taken[n], diff)
		}
	}
}
