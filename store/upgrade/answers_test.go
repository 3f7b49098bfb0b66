package upgrade

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/encode"
	"github.com/fieldtrie/fieldtrie/query"
	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/store"
)

// answering is a store that is asked.
type answering interface {
	store.Reader
	store.Scanner
}

// answers says in words what a store has of [from, until): each trace, the catalogue, and what queries answer of each page by
// the hour and by the day. The texts in testdata were made by it.
func answers(ctx context.Context, r answering, from, until time.Time) (string, error) {
	var lines []string
	_, err := r.Scan(ctx, store.Query{EachPage: true}, func(rec store.Record) error {
		lines = append(lines, fmt.Sprintf("trace %s %s of %s received %s payload %s", rec.Page, rec.ID, strings.Join(rec.Pages, "+"), rec.Received.Format(time.RFC3339Nano), sumOf(rec.Payload)))
		return nil
	})
	if err != nil {
		return "", err
	}
	slices.Sort(lines)
	all, _, err := r.Catalog(ctx, time.Time{}, time.Time{}, 0)
	if err != nil {
		return "", err
	}
	var pages []string
	for _, e := range all {
		lines = append(lines, "catalogue "+entryText(e))
		pages = append(pages, e.Page)
	}
	pages = append(pages, "/quiet") // it has nothing but page views without a trace
	slices.Sort(pages)
	pages = slices.Compact(pages)
	for _, step := range []time.Duration{time.Hour, 24 * time.Hour} {
		for at := from.Truncate(step); at.Before(until); at = at.Add(step) {
			got, err := timeText(ctx, r, pages, at, at.Add(step))
			if err != nil {
				return "", err
			}
			lines = append(lines, got...)
		}
	}
	whole, err := timeText(ctx, r, pages, time.Time{}, time.Time{})
	return strings.Join(append(lines, whole...), "\n") + "\n", err
}

func entryText(e store.CatalogEntry) string {
	return fmt.Sprintf("%s %s=%s: %d from %s to %s", e.Page, e.Tag.Key, e.Tag.Value, e.Traces, e.First.Format(time.RFC3339Nano), e.Last.Format(time.RFC3339Nano))
}

// timeText says what queries answer of a time.
func timeText(ctx context.Context, r answering, pages []string, since, until time.Time) (lines []string, err error) {
	name := "all"
	if !since.IsZero() {
		name = fmt.Sprintf("%s+%s", since.Format("2006-01-02T15"), until.Sub(since))
	}
	entries, _, err := r.Catalog(ctx, since, until, 0)
	if err != nil {
		return nil, err
	}
	var counted []string
	for _, e := range entries {
		counted = append(counted, entryText(e))
	}
	lines = append(lines, fmt.Sprintf("%s catalogue of %d: %s", name, len(entries), sumOf([]byte(strings.Join(counted, "\n")))))
	l := query.Local{Reader: r}
	for _, page := range pages {
		sel := selection.Selection{Page: page, Since: since, Until: until}
		p, err := l.Profile(ctx, sel, nil)
		if err != nil {
			return nil, err
		}
		data, err := encode.EncodeProfile(p.Profile)
		if err != nil {
			return nil, err
		}
		report, err := l.Report(ctx, sel)
		if err != nil {
			return nil, err
		}
		report.Stats = query.Stats{}
		if err := formerScaled(ctx, l, sel, report.Pages); err != nil {
			return nil, err
		}
		vitals, err := l.Vitals(ctx, sel)
		if err != nil {
			return nil, err
		}
		vitals.Stats = query.Stats{}
		views, coverage := int64(0), []string(nil)
		for _, x := range report.Pages {
			views += x.Views
			for _, why := range slices.Sorted(maps.Keys(x.Coverage)) {
				coverage = append(coverage, fmt.Sprintf("%s:%d", why, x.Coverage[why]))
			}
		}
		if views == 0 && len(coverage)+len(vitals.Pages) == 0 {
			continue // there is nothing
		}
		lines = append(lines, fmt.Sprintf("%s %s: %d page views %v; profile %s report %s vitals %s", name, page, views, coverage, sumOf(data), sumOf(textOf(report)), sumOf(textOf(vitals))))
	}
	return lines, nil
}

// formerScaled makes the estimate of reports that which the answers have: by the share of JavaScript in the time that was sampled.
func formerScaled(ctx context.Context, l query.Local, sel selection.Selection, pages []query.PageReport) error {
	all, err := l.Series(ctx, query.SeriesQuery{Selection: sel})
	if err != nil {
		return err
	}
	for i := range pages { // one, if the selection has a page
		x := &pages[i]
		x.ScaledLow, x.ScaledHigh, x.Scaled = 0, 0, x.Time.Mean.Value
		if len(all.Groups) == 0 || all.Groups[0].Points[0].Self <= 0 {
			continue
		}
		p := all.Groups[0].Points[0]
		self := float64(p.Self)
		x.Scaled *= self * (1 + float64(p.Unsampled)/(self+float64(p.Stackless))) / self
	}
	return nil
}

func sumOf(b []byte) string {
	sum := sha256.Sum256(b)
	return fmt.Sprintf("%x", sum[:6])
}

func textOf(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		return []byte(err.Error())
	}
	return text
}
