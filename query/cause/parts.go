package cause

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/query/watch"
	"github.com/fieldtrie/fieldtrie/symbols/edits"
	"github.com/fieldtrie/fieldtrie/symbols/owner"
	"github.com/fieldtrie/fieldtrie/trie"
)

// part is code that differs between both times: a function, a package with another version, or a
// third-party script.
type part struct {
	function *query.EditedFunction
	pack     *edits.PackageChange
	others   *others

	share  float64 // of the change
	beyond float64 // share of the change minus share of the earlier time, from 0 to 1
	only   bool    // it is the only caller of the changed function
	steps  float64 // stack depth between the changed time and the part
}

// numbered indexes parts by their frames before and after.
type numbered struct {
	parts  []part
	places [2]map[compare.Place]int
	hosts  map[string]int
}

// others holds the scripts of a host that have no symbols.
type others struct {
	host          string
	before, after string // URL of a script whose URL changed, if any
}

// parts returns all code that differs, with its share of the change.
func (d *delta) parts(e *Evidence) []part {
	n := &numbered{places: [2]map[compare.Place]int{{}, {}}, hosts: map[string]int{}}
	if e.Edits != nil {
		n.addEdits(e.Edits)
	}
	of := hosts{e.Owners, e.Edits != nil}
	if of.rules == nil {
		of.rules = owner.Default()
	}
	n.addOthers(d, of)
	if len(n.parts) == 0 {
		return nil
	}
	in := func(side int) func(trie.Frame) int {
		return func(f trie.Frame) int {
			if i, ok := n.places[side][compare.PlaceOf(f)]; ok {
				return i
			}
			if i, ok := n.hosts[of.host(f)]; ok {
				return i
			}
			return -1
		}
	}
	before, after := d.before.split(d.is[0], in(0), len(n.parts)), d.after.split(d.is[1], in(1), len(n.parts))
	all := d.before.time(d.is[0])
	for i := range n.parts {
		p, a, b := &n.parts[i], before[i], after[i]
		change := b.all - a.all
		p.share = change / d.whole
		base := 0.0
		if all > 0 {
			base = a.all / all
		}
		if base < 1 {
			p.beyond = (p.share - base) / (1 - base)
		}
		p.only = d.change.What.Kind == watch.OfFunction && p.function != nil && a.direct >= only*all &&
			b.direct >= only*d.after.time(d.is[1])
		p.steps = (b.steps + a.steps) / max(b.all+a.all, math.SmallestNonzeroFloat64)
	}
	return n.parts
}

func (n *numbered) addEdits(e *query.Edits) {
	packs := map[string]int{}
	for i := range e.Packages {
		packs[e.Packages[i].Name] = len(n.parts)
		n.parts = append(n.parts, part{pack: &e.Packages[i]})
	}
	for i := range e.Functions {
		x := &e.Functions[i]
		if !x.Change.IsEdit() && x.Package == "" {
			continue
		}
		at, ok := packs[x.Package]
		switch {
		case ok:
		case x.Change.IsEdit():
			at = len(n.parts)
			n.parts = append(n.parts, part{function: x})
		default:
			continue
		}
		if x.Change != edits.Removed {
			n.places[1][x.Place] = at
		} else {
			n.places[0][x.Place] = at
		}
		if x.Before != nil {
			n.places[0][*x.Before] = at
		}
	}
}

// hosts identifies third-party scripts by their host.
type hosts struct {
	rules *owner.Rules
	known bool // the app's scripts have symbols, so scripts without are third-party
}

// host returns the host of the script of a frame, or "" if the script is not third-party.
func (h hosts) host(f trie.Frame) string {
	switch o := h.rules.Of(f, owner.Origin{}); {
	case o.Kind == owner.ThirdParty:
		return o.Name
	case o.Kind == owner.Unmapped && h.known:
		if u, err := url.Parse(f.Resource); err == nil {
			return u.Host
		}
	}
	return ""
}

// addOthers adds the hosts of third-party scripts, with a script whose URL changed.
func (n *numbered) addOthers(d *delta, of hosts) {
	a, b := scriptsOf(d.before.p, of), scriptsOf(d.after.p, of)
	for _, host := range slices.Sorted(maps.Keys(b)) {
		x := others{host: host}
		for _, url := range b[host] {
			for _, old := range a[host] {
				if !slices.Contains(a[host], url) && !slices.Contains(b[host], old) &&
					compare.StableURL(old) == compare.StableURL(url) {
					x.before, x.after = old, url
				}
			}
		}
		n.hosts[host] = len(n.parts)
		n.parts = append(n.parts, part{others: &x})
	}
}

// scriptsOf returns the third-party scripts in a profile by their host, sorted.
func scriptsOf(p *trie.Profile, of hosts) map[string][]string {
	out := map[string][]string{}
	for i := range p.Frames {
		f := p.FrameOf(trie.FrameID(i))
		if host := of.host(f); host != "" && !slices.Contains(out[host], f.Resource) {
			out[host] = append(out[host], f.Resource)
		}
	}
	for _, list := range out {
		slices.Sort(list)
	}
	return out
}

// scored returns the parts that explain a change, the most likely first.
func (d *delta) scored(parts []part) (causes []watch.Cause) {
	parts = slices.DeleteFunc(slices.Clone(parts), func(p part) bool {
		return p.share < least || p.share > mostShare || p.beyond < least && !p.only
	})
	slices.SortStableFunc(parts, func(a, b part) int {
		return cmp.Or(-cmp.Compare(math.Round(5*min(a.share, 1)), math.Round(5*min(b.share, 1))),
			cmp.Compare(a.steps, b.steps))
	})
	for _, p := range parts[:min(len(parts), most)] {
		causes = append(causes, d.cause(&p))
	}
	return causes
}

func (d *delta) cause(p *part) watch.Cause {
	share := compare.Estimate{Value: min(p.share, 1)}
	c := d.change
	switch {
	case p.pack != nil:
		text := fmt.Sprintf("package %s has version %s in release %s, and had %s", p.pack.Name, p.pack.After, c.Release,
			p.pack.Before)
		if p.pack.Before == "" {
			text = fmt.Sprintf("package %s %s is new in release %s", p.pack.Name, p.pack.After, c.Release)
		}
		return watch.Cause{Kind: watch.CausePackage, Text: fmt.Sprintf("%s; %.0f %% of the change runs in what differs",
			text, 100*share.Value),
			Package: p.pack.Name, Before: p.pack.Before, After: p.pack.After, Share: &share}
	case p.others != nil:
		text := fmt.Sprintf("%.0f %% of the change runs in scripts of %s, of which there are no symbols",
			100*share.Value, p.others.host)
		if p.others.after != "" {
			text += fmt.Sprintf("; one has the address %s and had %s", p.others.after, p.others.before)
		}
		return watch.Cause{Kind: watch.CauseThirdParty, Text: text, Resource: cmp.Or(p.others.after, p.others.host),
			Before: p.others.before, After: p.others.after, Share: &share}
	}
	x := p.function
	is := "runs in it and what it calls"
	if c.What.Kind == watch.OfFunction {
		is = "is in calls from it"
	}
	return d.ofFunction(x, p.share, fmt.Sprintf("%s %s in release %s: %s; %.0f %% of the change %s", name(x.Place),
		became(x.Change), c.Release, where(x.Place), 100*share.Value, is))
}
