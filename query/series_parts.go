package query

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/query/memory"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/query/sums"
	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/symbols/naming"
	"github.com/fieldtrie/fieldtrie/symbols/owner"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// defaultParts is the default number of parts of the code in each group of labels.
const defaultParts = 20

// byParts reports whether the query is by parts of the code.
func (q SeriesQuery) byParts() bool {
	return q.By != "" || slices.Contains(q.GroupBy, selection.KeyOwner)
}

// partSeries returns the time of each part of the code as a group. The page views of a part are all
// page views of the point, so means are per page view and add up.
func (l Local) partSeries(ctx context.Context, q SeriesQuery) (Series, error) {
	sel, byOwner := q.WithoutOwner()
	q.Selection = sel
	switch {
	case byOwner && q.By != "" && q.By != selection.KeyOwner:
		return Series{}, selection.Refuse("group_by=owner and by=%s exclude each other", q.By)
	case byOwner:
		q.By = selection.KeyOwner
	}
	if q.Only != "" || q.Coverage || q.Histogram {
		return Series{}, selection.Refuse(
			"a series by parts of the code has self time only: leave out only, coverage and histogram")
	}
	if q.Step > 0 { // steps of less than an hour have no stacks
		q.Step = roundUp(q.Step, time.Hour)
	}
	since, step, err := l.stepOf(ctx, q)
	if err != nil {
		return Series{}, err
	}
	q.Since = since
	room := l.Memory.Room(l.MaxSize)
	defer room.Release()
	n := l.naming(q.Selection)
	days, err := l.daysOfAll(ctx, q)
	if err != nil {
		return Series{}, err
	}
	s := &partSums{all: &seriesSums{q: q, days: days, groups: map[string]*groupSums{}}, naming: n, room: room,
		code: map[*pointSums]codeSums{}}
	out := Series{Step: step.Seconds(),
		Spreads: "distributions are stored by function for whole time ranges, not by part of the code and step"}
	if err := l.eachStep(ctx, q, forNaming(q.Selection, n).Wanted(), step, s, &out.Stats); err != nil {
		return Series{}, err
	}
	names := s.names()
	out.Stats.Names = names.Coverage()
	out.Groups, err = s.series(naming.Finder(l.Rules(), names), names)
	return out, err
}

// codeSums has self times and samples by function.
type codeSums map[sums.ReleasedFrame]trie.Weight

// codeSize is the approximate size of a function in codeSums, in bytes.
const codeSize = 160

// partSums adds records by the part of the code in which time was spent.
type partSums struct {
	all    *seriesSums // sums of all code
	code   map[*pointSums]codeSums
	naming *naming.Naming
	room   *memory.Room
	size   int // bytes
}

// cellFrame is a frame of a record's stack table under a cell.
type cellFrame struct {
	cell  int
	frame trie.FrameID
}

func (s *partSums) add(at time.Time, x store.Rolled) error {
	if err := s.all.add(at, x); err != nil {
		return err
	}
	flat := map[cellFrame]trie.Weight{}
	x.Record.EachWeight(func(c int, n trie.NodeID, self, samples int64) {
		k := cellFrame{c, x.Stacks.Nodes[n].Frame}
		w := flat[k]
		flat[k] = trie.Weight{Self: w.Self + self, Samples: w.Samples + samples}
	})
	to := make([][]codeSums, len(x.Record.Cells))
	for i, c := range x.Record.Cells {
		if !s.all.q.TakesCell(c.Labels) {
			continue
		}
		for _, l := range s.all.groupsOf(x.Page, c.Labels) {
			to[i] = append(to[i], s.codeOf(s.all.at(l, at)))
		}
	}
	for k, w := range flat {
		f := sums.ReleasedFrame{Frame: x.Stacks.FrameOf(k.frame)}
		if s.naming.ByRelease() {
			f.Release = x.Record.Cells[k.cell].Labels.Value(rollup.KeyRelease)
		}
		for _, code := range to[k.cell] {
			old, known := code[f]
			if !known {
				s.size += codeSize
			}
			code[f] = trie.Weight{Self: old.Self + w.Self, Samples: old.Samples + w.Samples}
		}
	}
	return s.room.Fits(s.size)
}

func (s *partSums) codeOf(p *pointSums) codeSums {
	if s.code[p] == nil {
		s.code[p] = codeSums{}
	}
	return s.code[p]
}

// names determines the names of all functions.
func (s *partSums) names() *naming.Names {
	if s.naming == nil {
		return nil
	}
	for _, code := range s.code {
		for f, w := range code {
			s.naming.See(f.Release, f.Frame, w.Self)
		}
	}
	return s.naming.Names()
}

// series returns a group for each part in each group of labels, the most time first.
func (s *partSums) series(of *owner.Finder, names *naming.Names) ([]SeriesGroup, error) {
	q := s.all.q
	by := q.Renamer(of)
	parts := map[sums.ReleasedFrame]string{}
	partOf := func(f sums.ReleasedFrame) string {
		text, known := parts[f]
		if !known {
			frame := names.Of(f.Release, f.Frame)
			if by != nil {
				frame = by(frame)
			}
			text = placeText(frame)
			parts[f] = text
		}
		return text
	}
	split := &seriesSums{q: q, days: s.all.days, groups: map[string]*groupSums{}}
	for _, g := range s.all.groups {
		byPart, self := map[string]map[time.Time]trie.Weight{}, map[string]int64{}
		for at, p := range g.points {
			for f, w := range s.code[p] {
				part := partOf(f)
				if byPart[part] == nil {
					byPart[part] = map[time.Time]trie.Weight{}
				}
				old := byPart[part][at]
				byPart[part][at] = trie.Weight{Self: old.Self + w.Self, Samples: old.Samples + w.Samples}
				self[part] += w.Self
			}
		}
		heaviest := slices.SortedFunc(maps.Keys(self), func(a, b string) int {
			return cmp.Or(cmp.Compare(self[b], self[a]), cmp.Compare(a, b))
		})
		for i, part := range heaviest {
			name := part
			if i >= cmp.Or(q.Limit, defaultParts) {
				name = trie.FrameOther
			}
			labels := append(slices.Clone(g.labels), trie.Label{Key: q.By, Value: name}).Sort()
			for at, w := range byPart[part] {
				to, whole := split.at(labels, at), g.points[at]
				to.weight.Self += w.Self
				to.weight.Samples += w.Samples
				to.views, to.traces = whole.views, whole.traces
			}
		}
	}
	return split.series()
}

// placeText returns a frame as one line: its name and place.
func placeText(f trie.Frame) string {
	name := cmp.Or(f.Name, "(anonymous)")
	if f.Resource == "" {
		return name
	}
	return fmt.Sprintf("%s %s:%d:%d", name, f.Resource, f.Line, f.Column)
}
