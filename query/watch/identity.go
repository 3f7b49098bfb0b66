package watch

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"math"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/query/compare"
)

// function identifies a function across releases by name and file, without the parts that differ
// between releases.
type function struct{ name, file string }

func functionOf(p *compare.Place) function {
	if p == nil {
		return function{}
	}
	return function{p.Name, compare.StableURL(p.Resource)}
}

// key is a comparable identifier of a series within a page.
type key struct {
	kind    Kind
	metric  string
	of      function
	feature string
}

func (w What) key() key { return key{w.Kind, w.Metric, functionOf(w.Function), w.Feature} }

// near is the largest distance between the begins of one change: one point of the daily series on
// either side.
const near = 48 * time.Hour

// growing is how long a change found by time may grow after its begin and still be the same change.
const growing = 14 * 24 * time.Hour

// same reports whether c and other, which was found later, are one change, so that other needs no
// notification.
func (c *Change) same(other *Change) bool {
	if c.What.key() != other.What.key() || c.Direction != other.Direction || c.What.Kind != OfFunction &&
		!c.on(other.Pages[0].Page) {
		return false
	}
	if c.Release != "" && other.Release != "" {
		return c.Release == other.Release
	}
	apart := other.Begin.Sub(c.Begin)
	if c.Detector == ByTime && other.Detector == ByTime && c.State != Resolved {
		return apart >= -near && apart <= growing
	}
	return apart.Abs() <= near
}

// on reports whether c includes the page.
func (c *Change) on(page string) bool {
	return slices.ContainsFunc(c.Pages, func(p PageChange) bool { return p.Page == page })
}

// identify sets the ID of a change. The hash includes lengths, so that different changes never hash
// the same text.
func (c *Change) identify() {
	begin, page, k := "", "", c.What.key()
	if c.Release == "" {
		begin = c.Begin.UTC().Format(time.DateOnly)
	}
	if k.kind != OfFunction {
		page = c.Pages[0].Page
	}
	h := sha256.New()
	for _, text := range []string{string(k.kind), k.metric, k.of.name, k.of.file, k.feature, string(c.Direction),
		c.Release, begin, page} {
		h.Write([]byte{byte(len(text)), byte(len(text) >> 8), byte(len(text) >> 16)})
		io.WriteString(h, text)
	}
	c.ID = hex.EncodeToString(h.Sum(nil)[:8])
}

// sortPages sorts the pages of a change by the time that it adds for all visitors, largest first.
func sortPages(pages []PageChange) {
	slices.SortStableFunc(pages, func(a, b PageChange) int {
		return cmp.Or(cmp.Compare(b.added(), a.added()), cmp.Compare(a.Page, b.Page))
	})
}

// added returns the time that the change adds for all visitors per day, or for the profiled
// visitors if the number of all visitors is unknown.
func (p *PageChange) added() float64 {
	return math.Abs(p.decisive().Value) * cmp.Or(p.ViewsADay, p.Views.B)
}

// decisive returns the estimate that the tests use.
func (p *PageChange) decisive() compare.Estimate {
	if p.Beside != nil {
		return *p.Beside
	}
	return p.Change
}

func directionOf(change float64) Direction {
	if change > 0 {
		return Slower
	}
	return Faster
}
