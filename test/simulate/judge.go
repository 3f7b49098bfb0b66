package simulate

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/fieldtrie/fieldtrie/query/compare"
)

// estimateText matches a change in a text: +28 ms (+27 to +29), +0.123 (+0.1 to +0.2).
var estimateText = regexp.MustCompile(
	`([+-][\d.]+(?:e[+-]?\d+)?)(?: ms)?(?:\s+\(([+-][\d.]+(?:e[+-]?\d+)?) to ([+-][\d.]+(?:e[+-]?\d+)?)\))?`)

// Judge returns an error if a sentence or row of a comparison is contradictory: if its word, as
// defined by [compare.Status], its numbers and the change that it describes do not agree. The text
// must contain the change, with its interval if there is one.
func Judge(word compare.Status, text string, of *compare.Change) error {
	found := estimateText.FindStringSubmatch(text)
	if found == nil {
		return fmt.Errorf("%q has no change", text)
	}
	number := func(i int) float64 {
		v, err := strconv.ParseFloat(found[i], 64)
		if err != nil && found[i] != "" {
			panic(err)
		}
		return v
	}
	value, known := number(1), found[2] != ""
	low, high := number(2), number(3)
	shown := of.Shown
	says := func(ok bool, what string) error {
		if ok {
			return nil
		}
		return fmt.Errorf("%s: %q, %q", what, word, text)
	}
	if known != (shown.Low != nil) {
		return says(false, "an interval that is not known, or none that is")
	}
	if wide := 0.006 * max(1, abs(shown.Value)); abs(value-shown.Value) > wide {
		return says(false, fmt.Sprintf("the change is %g", shown.Value))
	}
	if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
		return says(false, "no number")
	}
	switch word {
	case compare.Slower, compare.New:
		return says(known && low > 0, "a change without an interval above 0")
	case compare.Faster, compare.Gone:
		return says(known && high < 0, "a change without an interval below 0")
	case compare.WithinNoise, compare.Moved:
		return says(known && low <= 0 && high >= 0, "no change, but an interval without 0")
	case compare.WithPage:
		return says(known && (low > 0 || high < 0), "a change with the page, but an interval with 0")
	case compare.NotKnown:
		return says(!known, "an interval of an unknown change")
	case compare.TooFew:
		return says(of.Adjusted == nil && of.Mix == nil, "a cause of an unknown change")
	}
	return says(false, "no word that is known")
}

func abs(x float64) float64 { return max(x, -x) }
