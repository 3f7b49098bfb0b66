package trie

import "math"

// Scale returns p as if it had been made of views page views: with all weights and what
// coverage counts multiplied alike, and rounded. Two profiles of as many views differ by
// what they take for each view, and not by how many there were. A profile without views
// stays as it is.
func (p *Profile) Scale(views int64) *Profile {
	if p.Views <= 0 {
		return p
	}
	by := float64(views) / float64(p.Views)
	scaled := func(v int64) int64 {
		return int64(min(max(math.Round(float64(v)*by), -MaxWeight), MaxWeight))
	}
	out := &Profile{Trie: p.Trie, Views: views, Traces: scaled(p.Traces), Groups: make([]Group, len(p.Groups))}
	for i := range p.Groups {
		from, to := &p.Groups[i], &out.Groups[i]
		c := from.Coverage
		to.Labels = from.Labels
		to.Coverage = Coverage{scaled(c.Views), scaled(c.Traces), scaled(c.Stackless), scaled(c.Idle), scaled(c.Unsampled), scaled(c.Truncated)}
		for n, w := range from.Weights.All() {
			to.Weights.Add(n, Weight{scaled(w.Self), scaled(w.Samples), scaled(w.Reach)})
		}
	}
	return out
}
