package budget

import (
	"slices"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/strictyaml"
	"github.com/fieldtrie/fieldtrie/query/watch"
	"github.com/fieldtrie/fieldtrie/rules/feature"
)

// maxWatched limits the patterns of watched pages.
const maxWatched = 100

// parseWatch parses the settings of change detection, see docs/changes.md.
func parseWatch(v strictyaml.Value) (s watch.Settings, err error) {
	if v == (strictyaml.Value{}) {
		return s, nil
	}
	fields, err := v.Fields("pages", "of", "min", "min_share", "min_function", "min_views")
	if err != nil {
		return s, err
	}
	patterns, err := fields["pages"].Items()
	if err != nil {
		return s, err
	}
	if len(patterns) > maxWatched {
		return s, fields["pages"].Errorf("%d patterns of pages, the most are %d", len(patterns), maxWatched)
	}
	var pages []string
	for _, p := range patterns {
		text, err := p.Text()
		if err == nil {
			err = feature.CheckPage(text)
		}
		if err != nil {
			return s, p.Errorf("watch: %w", err)
		}
		pages = append(pages, text)
	}
	if len(pages) > 0 {
		s.Pages = func(page string) bool {
			return slices.ContainsFunc(pages, func(pattern string) bool { return feature.FitsPage(pattern, page) })
		}
	}
	kinds, err := fields["of"].Items()
	if err != nil {
		return s, err
	}
	known := []watch.Kind{watch.OfPage, watch.OfFeature, watch.OfFunction, watch.OfVital}
	for _, k := range kinds {
		text, err := k.Text()
		if err != nil {
			return s, err
		}
		if !slices.Contains(known, watch.Kind(text)) {
			return s, k.Errorf("watch: of: %.40q is none of page, feature, function, vital", text)
		}
		s.Of = append(s.Of, watch.Kind(text))
	}
	if text, err := fields["min"].Text(); err != nil {
		return s, err
	} else if text != "" {
		d, err := time.ParseDuration(strings.TrimSpace(text))
		if err != nil || d < 0 || d > maxLimit {
			return s, fields["min"].Errorf("watch: min: %.40q is no time such as 2ms", text)
		}
		s.Min = float64(d) / float64(time.Millisecond)
	}
	if fields["min_views"] != (strictyaml.Value{}) {
		n, err := fields["min_views"].Float()
		if err != nil || !(n >= 100 && n <= maxMinViews) {
			return s, fields["min_views"].Errorf("watch: min_views: it is no number from 100 on")
		}
		s.MinViews = n
	}
	for name, to := range map[string]*float64{"min_share": &s.MinShare, "min_function": &s.MinFunction} {
		text, err := fields[name].Text()
		if err != nil {
			return s, err
		}
		if text == "" {
			continue
		}
		percent, err := ParsePercent(text)
		if err != nil {
			return s, fields[name].Errorf("watch: %s: %w", name, err)
		}
		*to = percent / 100
	}
	return s, nil
}
