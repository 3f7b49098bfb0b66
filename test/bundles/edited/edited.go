// Package edited judges the edits that a comparison of two builds finds.
package edited

import (
	"fmt"

	"github.com/fieldtrie/fieldtrie/symbols"
	"github.com/fieldtrie/fieldtrie/symbols/edits"
	"github.com/fieldtrie/fieldtrie/test/bundles"
)

// Judgement counts the edits found between two builds. It only counts functions that are in a
// script of one of the builds.
type Judgement struct {
	Functions int // in either build
	Edited    int // edited, added or removed
	Missed    int // of these, not found
	Extra     int // wrongly reported as edited, added or removed
	// Recompiled counts the functions whose code differs although their source does not, because
	// the minifier inlined an edited function into them.
	Recompiled int
	Faults     []string
}

// Judge compares the edits found between the tables of two builds with the true edits.
func Judge(before, after []bundles.Script, a, b []*symbols.Table, truth []bundles.Edit) (out Judgement) {
	inA, inB := sourcesOf(before), sourcesOf(after)
	got := map[[2]bundles.SourcePlace]edits.Kind{}
	byBefore, byAfter := map[bundles.SourcePlace]edits.Kind{}, map[bundles.SourcePlace]edits.Kind{}
	for _, e := range edits.Between(a, b).Edits {
		var pair [2]bundles.SourcePlace
		if e.Before != nil {
			pair[0] = bundles.SourcePlace{File: e.Before.Source.Name, Line: e.Before.SourceLine,
				Column: e.Before.SourceColumn}
			byBefore[pair[0]] = e.Kind
		}
		if e.After != nil {
			pair[1] = bundles.SourcePlace{File: e.After.Source.Name, Line: e.After.SourceLine,
				Column: e.After.SourceColumn}
			byAfter[pair[1]] = e.Kind
		}
		got[pair] = e.Kind
	}
	fault := func(n *int, e bundles.Edit, what string) {
		*n++
		out.Faults = append(out.Faults, fmt.Sprintf("%s: %v to %v is %s", e.Kind, e.Before, e.After, what))
	}
	told := map[bundles.SourcePlace]bool{} // before or after
	for _, e := range truth {
		told[e.Before], told[e.After] = true, true
		// Functions that are in no script do not count.
		if !inA[e.Before] {
			e.Before = bundles.SourcePlace{}
		}
		if !inB[e.After] {
			e.After = bundles.SourcePlace{}
		}
		none := bundles.SourcePlace{}
		if e.Before == none && e.After == none {
			continue
		}
		out.Functions++
		kind := got[[2]bundles.SourcePlace{e.Before, e.After}]
		switch {
		case e.Before == none, e.After == none:
			out.Edited++
			if want := map[bool]edits.Kind{true: edits.Added, false: edits.Removed}[e.Before == none]; kind != want {
				e.Kind = string(want)
				fault(&out.Missed, e, string(byBefore[e.Before]+byAfter[e.After]))
			}
		case e.Kind == "edited":
			out.Edited++
			if kind != edits.Edited {
				fault(&out.Missed, e, string(byBefore[e.Before]+" and "+byAfter[e.After]))
			}
		case e.Kind == "replaced":
			out.Edited++
			if kind != edits.Edited && (byBefore[e.Before] != edits.Removed || byAfter[e.After] != edits.Added) {
				fault(&out.Missed, e, string(byBefore[e.Before]+" and "+byAfter[e.After]))
			}
		case e.Kind == "around":
			if kind != edits.Around && kind != edits.Moved {
				fault(&out.Extra, e, string(byBefore[e.Before]+" and "+byAfter[e.After]))
			}
		case kind == edits.Recompiled:
			out.Recompiled++
		default:
			if kind != edits.Unchanged && kind != edits.Moved {
				fault(&out.Extra, e, string(byBefore[e.Before]+" and "+byAfter[e.After]))
			}
		}
	}
	// Packages were not edited. For implicit members of classes the truth is unknown.
	for pair, kind := range got {
		e := bundles.Edit{Kind: "not edited", Before: pair[0], After: pair[1]}
		if told[pair[0]] || told[pair[1]] || !inA[pair[0]] && !inB[pair[1]] {
			continue
		}
		switch kind {
		case edits.Unchanged, edits.Moved:
		case edits.Recompiled:
			out.Recompiled++
		default:
			fault(&out.Extra, e, string(kind))
		}
	}
	return out
}

func sourcesOf(scripts []bundles.Script) map[bundles.SourcePlace]bool {
	out := map[bundles.SourcePlace]bool{}
	for _, s := range scripts {
		for _, row := range s.Truth {
			if row.Known {
				out[bundles.SourcePlace{File: row.File, Line: row.SourceLine, Column: row.SourceColumn}] = true
			}
		}
	}
	return out
}
