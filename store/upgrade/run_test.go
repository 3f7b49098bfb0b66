package upgrade

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store/directory"
	"github.com/fieldtrie/fieldtrie/store/shared"
)

// golden is what the engine of format 3 answered about a directory.
type golden struct {
	now  time.Time
	from time.Time // when the first of it was received, or before
	text string
}

func readGolden(t testing.TB, name string) (g golden) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		switch rest, isNow := strings.CutPrefix(line, "now "); {
		case isNow:
			if g.now, err = time.Parse(time.RFC3339Nano, strings.TrimSpace(rest)); err != nil {
				t.Fatal(err)
			}
		case !strings.HasPrefix(line, "there ") && !strings.HasPrefix(line, "unreadable "):
			g.text += line
		}
	}
	g.from = g.now.AddDate(0, 0, -3)
	return g
}

// options are those of a directory as of some time.
func (g *golden) options() Options {
	return Options{Program: "test", Now: func() time.Time { return g.now }, MinFree: -1, shards: 2, free: func() (int64, error) { return 1 << 40, nil }}
}

// open opens a directory that was upgraded.
func (g *golden) open(t testing.TB, dir string) *shared.Reader {
	t.Helper()
	at, err := directory.Open(dir, directory.Options{ReadOnly: true, Now: func() time.Time { return g.now }})
	if err != nil {
		t.Fatal(err)
	}
	r, err := shared.OpenReader(t.Context(), at, shared.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// answers returns the lines of what a directory answers.
func (g *golden) answers(t testing.TB, dir string) []string {
	t.Helper()
	text, err := answers(t.Context(), g.open(t, dir), g.from, g.now.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	return lines(text)
}

func lines(text string) []string { return strings.Split(strings.TrimSuffix(text, "\n"), "\n") }

// differ says which lines are in one of two texts alone, but for those that an exception takes.
func differ(got, want []string, except func(line string) bool) string {
	out := ""
	for _, line := range got {
		if !slices.Contains(want, line) && !except(line) {
			out += "got  " + line + "\n"
		}
	}
	for _, line := range want {
		if !slices.Contains(got, line) && !except(line) {
			out += "want " + line + "\n"
		}
	}
	return out
}

// empty takes lines of times in which there is nothing.
func empty(line string) bool { return strings.Contains(line, " catalogue of 0: ") }

// TestAnswers upgrades directories, which answer as before.
func TestAnswers(t *testing.T) {
	for _, name := range []string{"closed", "killed"} {
		t.Run(name, func(t *testing.T) {
			dir, g := unpack(t, name), readGolden(t, name)
			stats, err := Run(t.Context(), dir, g.options())
			if err != nil || len(stats.Left) > 0 || stats.Former != "" || stats.Hours == 0 {
				t.Fatalf("%+v, %v", stats, err)
			}
			if diff := differ(g.answers(t, dir), lines(g.text), empty); diff != "" {
				t.Errorf("it answers otherwise:\n%s", diff)
			}
			if needed, err := Needed(dir); needed || err != nil {
				t.Errorf("it is needed once more: %v", err)
			}
			v, err := g.open(t, dir).Verify(t.Context(), func(int, int, uint64) {})
			if err != nil || len(v.Findings) > 0 || v.Objects == 0 {
				t.Errorf("verified: %+v, %v", v, err)
			}
		})
	}
}

var errCut = errors.New("cut")

// cutter ends an upgrade at a step.
type cutter struct {
	mu    sync.Mutex
	left  int
	taken []string
}

func (c *cutter) step(what string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left--; c.left < 0 {
		return fmt.Errorf("%w before %s", errCut, what)
	}
	c.taken = append(c.taken, what)
	return nil
}
