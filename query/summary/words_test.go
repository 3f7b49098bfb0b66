package summary

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/test/simulate"
)

var (
	verdictLine = regexp.MustCompile(`(?m)^\S+ \*\*([A-Z][a-z ]+?)(?: over all pages)?\*\*: (.*)$`)
	wordOf      = map[string]compare.Status{"no change beyond noise": compare.WithinNoise, "slower": compare.Slower,
		"faster": compare.Faster,
		"new":    compare.New, "gone": compare.Gone, "not known": compare.NotKnown}
)

// TestWords compares reports of random comparisons with the definitions of their words.
func TestWords(t *testing.T) {
	rng := rand.New(rand.NewPCG(28, 3))
	said := map[compare.Status]int{}
	for range 2000 {
		in, o := simulate.Random(rng)
		of := query.Comparison{Result: compare.Compare(in, o)}
		src := fake{pages: map[string]query.Comparison{"": of, "/p": of}, order: []string{"/p"}}
		text := markdown(t, src, Query{SideA: "release 1", SideB: "release 2", Pages: 4, Functions: 100})
		for _, problem := range judged(text, &of, said) {
			t.Fatalf("%s\n%s", problem, text)
		}
	}
	for _, s := range []compare.Status{compare.Slower, compare.Faster, compare.WithinNoise, compare.TooFew} {
		if said[s] < 50 {
			t.Errorf("%q occurred %d times", s, said[s])
		}
	}
}

func judged(text string, of *query.Comparison, said map[compare.Status]int) (problems []string) {
	judge := func(word compare.Status, line string, c *compare.Change) {
		said[word]++
		if err := simulate.Judge(word, line, c); err != nil {
			problems = append(problems, err.Error())
		}
	}
	switch {
	case of.Views.A == 0 || of.Views.B == 0:
		if strings.Contains(text, " ms") {
			problems = append(problems, "times without page views")
		}
		return problems
	case !of.Enough:
		if !strings.Contains(text, "**Not known yet**") || !strings.Contains(text, "min&#95;views") {
			problems = append(problems, "the note about unknown changes, or its hint, is missing")
		}
		for _, cause := range []string{"slower", "faster", "noise", "Functions", "as if both had"} {
			if strings.Contains(text, cause) {
				problems = append(problems, cause+": reported for unknown changes")
			}
		}
		judge(compare.TooFew, text[strings.Index(text, "As measured"):], &of.Total)
		return problems
	}
	if v := verdictLine.FindStringSubmatch(text); v == nil {
		problems = append(problems, "there is no verdict")
	} else {
		judge(wordOf[strings.ToLower(v[1])], v[2], &of.Total)
	}
	changed := 0
	for line := range strings.Lines(text) {
		cells := strings.Split(line, " | ")
		if len(cells) != 6 || !strings.Contains(line, "<code>") {
			continue
		}
		c, name, change := &of.Total, cells[1], cells[4]
		for i := range of.Functions {
			if f := &of.Functions[i]; strings.HasPrefix(name, "<code>"+f.Name+"</code>") {
				c, change, changed = &f.Change, cells[5], changed+1
			}
		}
		_, word, marked := strings.Cut(strings.TrimPrefix(cells[0], "| "), " ")
		if marked {
			judge(wordOf[word], change, c)
		} else if c.Status.Alarm() {
			problems = append(problems, "a change that is not marked: "+line)
		}
	}
	alarms := 0
	for i := range of.Functions {
		if of.Functions[i].Status.Alarm() {
			alarms++
		}
	}
	if alarms != changed {
		problems = append(problems, "functions that changed are missing")
	}
	return problems
}
