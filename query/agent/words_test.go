package agent

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/test/simulate"
)

// compared returns a fixed comparison.
type compared struct {
	query.Source
	with query.Comparison
}

func (c compared) Compare(context.Context, query.CompareQuery) (query.Comparison, error) {
	return c.with, nil
}

// TestWords compares the words about random comparisons with their definitions.
func TestWords(t *testing.T) {
	rng := rand.New(rand.NewPCG(28, 4))
	said := map[compare.Status]int{}
	for range 2000 {
		in, o := simulate.Random(rng)
		of := query.Comparison{Result: compare.Compare(in, o)}
		if of.Views.A == 0 || of.Views.B == 0 {
			continue // the tool returns an error
		}
		tools := tools{Source: compared{with: of}, Options: Options{Now: func() time.Time { return noon }}}
		out, err := tools.compare(t.Context(), compareIn{CompareRelease: "1", Limit: 200})
		if err != nil {
			t.Fatal(err)
		}
		text := out.text()
		first, rest, _ := strings.Cut(text, "\n")
		judge := func(of *compare.Change, word, line string) {
			said[compare.Status(word)]++
			if err := simulate.Judge(compare.Status(word), line, of); err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
		}
		after := strings.TrimPrefix(first, "JavaScript of a page view: ")
		judge(&of.Total, after[:strings.IndexByte(after, ',')], after)
		functions := 0
		for line := range strings.Lines(rest) {
			for i := range of.Functions {
				if word, _, ok := strings.Cut(line, ","); ok && strings.Contains(line, ": "+of.Functions[i].Name+" ") {
					functions++
					judge(&of.Functions[i].Change, word, line)
				}
			}
		}
		if of.Enough && functions != len(of.Functions) || !of.Enough && functions > 0 {
			t.Fatalf("%d of %d functions, enough %t\n%s", functions, len(of.Functions), of.Enough, text)
		}
		if !of.Enough && !strings.Contains(text, "as it was measured") {
			t.Fatalf("a note about too few page views is missing\n%s", text)
		}
	}
	for _, s := range []compare.Status{compare.Slower, compare.Faster, compare.WithinNoise, compare.NotKnown,
		compare.TooFew} {
		if said[s] < 50 {
			t.Errorf("%q occurred %d times", s, said[s])
		}
	}
}
