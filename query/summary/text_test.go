package summary

import (
	"bytes"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/internal/terminal"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/test/simulate"
)

// TestTextWords compares tables of random comparisons with the definitions of their words.
func TestTextWords(t *testing.T) {
	rng := rand.New(rand.NewPCG(28, 5))
	cells := regexp.MustCompile(`\s{2,}`)
	said := map[compare.Status]int{}
	for range 2000 {
		in, o := simulate.Random(rng)
		of := query.Comparison{Result: compare.Compare(in, o)}
		var out bytes.Buffer
		if err := WriteText(&out, terminal.Screen{}, [2]string{}, &of, 0); err != nil {
			t.Fatal(err)
		}
		text := out.String()
		changes := map[string]*compare.Change{"JavaScript": &of.Total}
		for i := range of.Features {
			changes["feature "+of.Features[i].Name] = &of.Features[i].Change
		}
		if of.Enough {
			for i := range of.Functions {
				changes[place(of.Functions[i].Place)] = &of.Functions[i].Change
			}
		}
		for line := range strings.Lines(text) {
			row := cells.Split(strings.TrimSpace(line), -1)
			name, byRest := strings.CutSuffix(row[0], " †")
			if c := changes[name]; c != nil {
				delete(changes, name)
				if c.ByRest != byRest {
					t.Fatalf("%s: the mark of a change relative to the rest is wrong", name)
				}
				said[compare.Status(row[1])]++
				for _, mean := range []float64{c.Mean.A, c.Mean.B} {
					if !slices.Contains(row, terminal.Number(mean)) {
						t.Fatalf("the mean %g is not in the row: %q", mean, line)
					}
				}
				if err := simulate.Judge(compare.Status(row[1]), strings.Join(row[2:], "  "), c); err != nil {
					t.Fatalf("%v\n%s", err, text)
				}
			}
		}
		if len(changes) > 0 || of.Enough == strings.Contains(text, "Not known yet") ||
			of.Enough != strings.Contains(text, "by more than noise") {
			t.Fatalf("%d rows are missing, enough %t\n%s", len(changes), of.Enough, text)
		}
	}
	for _, s := range []compare.Status{compare.Slower, compare.Faster, compare.WithinNoise, compare.WithPage,
		compare.NotKnown, compare.TooFew} {
		if said[s] < 50 {
			t.Errorf("%q occurred %d times", s, said[s])
		}
	}
}
