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

// function is a function by name and file, without what differs between releases.
type function struct{ name, file string }

func functionOf(p *compare.Place) function {
	if p == nil {
		return function{}
	}
	return function{p.Name, compare.Stable(p.Resource)}
}

// key is a series without the page, to be compared.
type key struct {
	kind    Kind
	metric  string
	of      function
	feature string
}

func (w What) key() key { return key{w.Kind, w.Metric, functionOf(w.Function), w.Feature} }

// near is how far apart the begins of a change may be found: a point of the daily series, on both sides.
const near = 48 * time.Hour

// growing is how long after its begin a change that was found by time may become larger and still be the same one.
const growing = 14 * 24 * time.Hour

// same reports whether c is the same change as new, which was found later: what is known of it need not be told again.
func (c *Change) same(other *Change) bool {
	if c.What.key() != other.What.key() || c.Direction != other.Direction || c.What.Kind != OfFunction && !c.on(other.Pages[0].Page) {
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

// on reports whether c is a change of a page.
func (c *Change) on(page string) bool {
	return slices.ContainsFunc(c.Pages, func(p PageChange) bool { return p.Page == page })
}

// identify sets the ID of a change. Lengths are hashed, too, so that no two changes are one text.
func (c *Change) identify() {
	begin, page, k := "", "", c.What.key()
	if c.Release == "" {
		begin = c.Begin.UTC().Format(time.DateOnly)
	}
	if k.kind != OfFunction {
		page = c.Pages[0].Page
	}
	h := sha256.New()
	for _, text := range []string{string(k.kind), k.metric, k.of.name, k.of.file, k.feature, string(c.Direction), c.Release, begin, page} {
		h.Write([]byte{byte(len(text)), byte(len(text) >> 8), byte(len(text) >> 16)})
		io.WriteString(h, text)
	}
	c.ID = hex.EncodeToString(h.Sum(nil)[:8])
}

// sortPages sorts the pages of a change by the time that it adds for all visitors.
func sortPages(pages []PageChange) {
	slices.SortStableFunc(pages, func(a, b PageChange) int {
		return cmp.Or(cmp.Compare(b.added(), a.added()), cmp.Compare(a.Page, b.Page))
	})
}

// added is the size of the change for all visitors of a day; for those that were profiled, if the others are unknown.
func (p *PageChange) added() float64 {
	return math.Abs(p.decisive().Value) * cmp.Or(p.ViewsADay, p.Views.B)
}

// decisive is the estimate that has decided.
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
