package releases

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/cause"
	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/query/watch"
	"github.com/fieldtrie/fieldtrie/symbols/edits"
	"github.com/fieldtrie/fieldtrie/symbols/owner"
	"github.com/fieldtrie/fieldtrie/trie"
)

// Kind is a planted cause.
type Kind string

// Kinds returns the kinds of planted causes. None and All are changes that no edit, label or call
// explains.
func Kinds() []Kind {
	return []Kind{Itself, Caller, Page, Package, Script, Label, Calls, None, All}
}

// Causes, as they are printed.
const (
	Itself  Kind = "the function was edited"
	Caller  Kind = "a function that calls it was edited"
	Page    Kind = "a function was edited, and the page is slower"
	Package Kind = "a package has another version"
	Script  Kind = "a script of others has another version"
	Label   Kind = "a new version of a browser"
	Calls   Kind = "more page views run it"
	None    Kind = "slower everywhere, and not edited"
	All     Kind = "all of the page is slower"
)

// Drawn is a change with its evidence and its cause.
type Drawn struct {
	Change   watch.Change
	Evidence cause.Evidence
	// Right reports whether a cause is the planted one.
	Right func(*watch.Cause) bool
}

// call is a node of the tree of calls.
type call struct {
	function, parent int     // parent is the number of a call, -1 at the top
	self             float64 // ms
	feature          int     // of the call; feature 0 is in each page view
}

// app is a tree of calls.
type app struct {
	frames []trie.Frame
	calls  []call
}

const (
	features  = 4
	functions = 80
	inPackage = 8 // the last functions of the app are in a package
	ofOthers  = 6 // and this many more are in a third-party script
)

func newApp(rng *rand.Rand) *app {
	a := &app{}
	for i := range functions + inPackage + ofOthers {
		f := trie.Frame{Name: fmt.Sprintf("f%d", i), Resource: fmt.Sprintf("src/part%d.ts", i%9),
			Line: uint32(10 + i), Column: 1}
		switch {
		case i >= functions+inPackage:
			f = trie.Frame{Name: fmt.Sprintf("t%d", i), Resource: "https://www.googletagmanager.com/gtm.js?v=1",
				Line: 1, Column: uint32(1 + 100*i)}
		case i >= functions:
			f.Resource = "node_modules/lodash/lodash.js"
		}
		a.frames = append(a.frames, f)
	}
	// A task of each feature, and its calls: mostly few functions with much time, as in real
	// programs.
	for feature := range features {
		a.calls = append(a.calls, call{feature, -1, 0.1, feature})
	}
	for len(a.calls) < 250 {
		parent := rng.IntN(len(a.calls))
		f := features + rng.IntN(len(a.frames)-features)
		// Third-party functions do not call the app.
		if of := a.frames[a.calls[parent].function]; of.Line == 1 && f < functions+inPackage {
			continue
		}
		a.calls = append(a.calls, call{f, parent, math.Exp(1.3*rng.NormFloat64() - 1), a.calls[parent].feature})
	}
	return a
}

// under reports whether a call belongs to a function or has it as an ancestor.
func (a *app) under(at, function int) bool {
	for ; at >= 0; at = a.calls[at].parent {
		if a.calls[at].function == function {
			return true
		}
	}
	return false
}

// time returns the mean time of the calls that is accepts, in ms per page view.
func (a *app) time(share []float64, is func(at int) bool) (ms float64) {
	for at, c := range a.calls {
		if is(at) {
			ms += c.self * share[c.feature]
		}
	}
	return ms
}

// plan holds the parts of a change.
type plan struct {
	factor  func(at int, chrome157 bool) float64 // of the self time of a call in the new release
	share   [2][]float64                         // share of page views with each feature, by release
	target  int                                  // the function that changed, -1: the page
	edited  map[int]bool
	version bool // the package has a new version
	script  bool
	browser bool // Chrome 157 is released
	right   func(*watch.Cause) bool
}

// side is the page views of a release.
type side struct {
	p            *trie.Profile
	sum, squares float64 // of the target, ms
	seen         float64 // page views with the target
}

func (a *app) draw(rng *rand.Rand, frames []trie.Frame, share []float64, newer bool, x *plan, views int) *side {
	s := &side{p: trie.NewProfile()}
	nodes := make([]trie.NodeID, len(a.calls))
	for at, c := range a.calls {
		parent := trie.Root
		if c.parent >= 0 {
			parent = nodes[c.parent]
		}
		nodes[at] = s.p.Child(parent, s.p.Intern(frames[c.function]))
	}
	devices := []string{"desktop-high", "desktop-mid", "mobile-low", "mobile-mid"}
	speed := []float64{0.6, 1, 2.5, 1.6}
	has := make([]bool, features)
	for range views {
		d := rng.IntN(4)
		chrome157 := newer && x.browser && rng.Float64() < 0.35
		browser := "Chrome 156"
		if chrome157 {
			browser = "Chrome 157"
		} else if rng.Float64() < 0.2 {
			browser = "Edge 156"
		}
		g := trie.MakeLabels("browser", browser, "connection", []string{"3g", "4g"}[min(1, rng.IntN(4))], "device",
			devices[d])
		s.p.Views++
		group := s.p.Group(g)
		group.Coverage.Views++
		whole := speed[d] * math.Exp(0.5*rng.NormFloat64())
		for i := range has {
			has[i] = rng.Float64() < share[i]
		}
		of, seen := 0.0, false
		for at, c := range a.calls {
			if !has[c.feature] {
				continue
			}
			ms := c.self * whole * rng.ExpFloat64()
			if newer {
				ms *= x.factor(at, chrome157)
			}
			group.Weights.Add(nodes[at], trie.Weight{Self: int64(1000 * ms), Samples: 1, Reach: 1})
			if x.target < 0 || c.function == x.target {
				of, seen = of+ms, true
			}
		}
		s.sum, s.squares = s.sum+of, s.squares+of*of
		if seen {
			s.seen++
		}
	}
	return s
}

// Draw draws a change with a cause, with the given number of page views of each release. ok is
// false if the change is too small to be found.
func Draw(kind Kind, seed uint64, views int) (out Drawn, ok bool) {
	rng := rand.New(rand.NewPCG(seed, 7))
	a := newApp(rng)
	x := a.plan(rng, kind)
	if x == nil {
		return out, false
	}
	after := append([]trie.Frame{}, a.frames...)
	if x.script {
		for i := functions + inPackage; i < len(after); i++ {
			after[i].Resource = "https://www.googletagmanager.com/gtm.js?v=2"
		}
	}
	before := a.draw(rng, a.frames, x.share[0], false, x, views)
	now := a.draw(rng, after, x.share[1], true, x, views)
	n := float64(views)
	meanA, meanB := before.sum/n, now.sum/n
	err := math.Sqrt((before.squares/n - meanA*meanA + now.squares/n - meanB*meanB) / n)
	difference := meanB - meanA
	if math.Abs(difference) < 4*err {
		return out, false
	}
	what := watch.What{Kind: watch.OfPage, Metric: "js"}
	both := compare.Pair{A: n, B: n}
	compared := &query.Comparison{Result: compare.Result{Views: both}}
	if x.target >= 0 {
		f := after[x.target]
		place := compare.Place{Name: f.Name, Resource: f.Resource, Line: f.Line, Column: f.Column}
		what = watch.What{Kind: watch.OfFunction, Metric: "self", Function: &place}
		compared.Functions = []compare.FunctionChange{{Place: place, Change: compare.Change{Mean: compare.Pair{A: meanA,
			B: meanB}}, Reach: compare.Pair{A: before.seen, B: now.seen}}}
	}
	out.Change = watch.Change{What: what, Direction: watch.Slower, Detector: watch.ByRelease, Release: "b",
		CompareRelease: "a",
		Pages: []watch.PageChange{{Page: "/", Views: both, Value: compare.Pair{A: meanA, B: meanB}, Level: 0.95,
			Change: compare.Estimate{Value: difference, Low: new(difference - 1.96*err),
				High: new(difference + 1.96*err)}}}}
	out.Evidence = cause.Evidence{Before: before.p, After: now.p, Edits: a.editsOf(x), Compared: compared,
		Owners: owner.Default()}
	out.Right = x.right
	return out, true
}

func (a *app) editsOf(x *plan) *query.Edits {
	e := &query.Edits{Release: "b", CompareRelease: "a"}
	for i := range functions + inPackage {
		if !x.edited[i] {
			continue
		}
		f := a.frames[i]
		place := compare.Place{Name: f.Name, Resource: f.Resource, Line: f.Line, Column: f.Column}
		y := query.EditedFunction{Change: edits.Edited, Place: place, Before: &place}
		if i >= functions {
			y.Package = "lodash"
		}
		e.Functions = append(e.Functions, y)
	}
	if x.version {
		e.Packages = []edits.PackageChange{{Name: "lodash", Before: "4.17.20", After: "4.17.21"}}
	}
	return e
}
