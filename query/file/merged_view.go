package file

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/trie"
)

// Views implements [query.Source]. It lists the selected threads of files by time, largest first.
// The names of the threads take the place of pages. If files have no times, a warning gives the
// reason.
func (s Merged) Views(ctx context.Context, q query.ViewsQuery) (query.Views, error) {
	out := query.Views{List: []query.ViewEntry{}, Stats: s.Result.Stats}
	lines, err := s.lines(ctx)
	if ctx.Err() != nil {
		return query.Views{}, ctx.Err()
	}
	if err != nil {
		out.Stats.Warnings = append(slices.Clone(out.Stats.Warnings), err.Error())
	}
	for i, line := range lines {
		if len(line.Calls) > 0 && q.TakesLabels(trie.MakeLabels(output.LabelThread, strconv.Itoa(i))) {
			out.List = append(out.List, entryOf(i, line))
		}
	}
	slices.SortStableFunc(out.List, func(a, b query.ViewEntry) int { return cmp.Compare(b.Time, a.Time) })
	out.Views = int64(len(out.List))
	return out, nil
}

// View implements [query.Source]. It returns the thread with the id from [Merged.Views]. Times are
// since the first call of any thread.
func (s Merged) View(ctx context.Context, q query.ViewQuery) (query.View, error) {
	lines, err := s.lines(ctx)
	if err != nil {
		return query.View{}, selection.Refuse("%w", err)
	}
	i, err := strconv.ParseUint(q.ID, 16, 31)
	if err != nil || int(i) >= len(lines) || q.ID != threadID(int(i)) {
		return query.View{}, &query.NotFoundError{What: fmt.Sprintf("thread %.40q", q.ID)}
	}
	out, err := query.ViewOf(entryOf(int(i), lines[i]), lines[i], firstCall(lines))
	out.Stats = s.Result.Stats
	return out, err
}

func (s Merged) lines(ctx context.Context) ([]*trie.Timeline, error) {
	if s.Lines == nil {
		return nil, errors.New("time order is not available for compared files and standard input")
	}
	return s.Lines(ctx)
}

// threadID returns an id in the format of page view ids.
func threadID(i int) string { return fmt.Sprintf("%032x", i) }

// firstCall returns the begin of the first call of any line.
func firstCall(lines []*trie.Timeline) (first int64) {
	known := false
	for _, line := range lines {
		if len(line.Calls) > 0 && (!known || line.Calls[0].Start < first) {
			first, known = line.Calls[0].Start, true
		}
	}
	return first
}

// entryOf returns the list entry of line i.
func entryOf(i int, line *trie.Timeline) query.ViewEntry {
	name := threadName(&trie.Thread{Process: line.Process, ID: line.Thread, Name: line.Name})
	v := query.ViewEntry{ID: threadID(i), Page: cmp.Or(name, fmt.Sprintf("thread %d", i+1)), Traces: 1,
		Time: float64(line.Self()) / 1000}
	v.CountLong(line)
	return v
}
