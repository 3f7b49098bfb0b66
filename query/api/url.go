package api

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/query/selection"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// queryOf returns s as the query parameters that parseSelection reads.
func queryOf(s selection.Selection) url.Values {
	v := url.Values{}
	set := func(k, x string) {
		if x != "" {
			v.Set(k, x)
		}
	}
	set("page", s.Page)
	set("feature", s.Feature)
	for _, m := range s.Where {
		v.Add("label", m.String())
	}
	setTimes(v, "", s.Since, s.Until)
	set("group_by", strings.Join(s.GroupBy, ","))
	if s.Minified {
		v.Set("names", namesMinified)
	}
	set("by", s.By)
	set("only", s.Only)
	return v
}

// setTimes sets prefix+since and prefix+until, in UTC with nanoseconds. It skips zero times.
func setTimes(v url.Values, prefix string, since, until time.Time) {
	if !since.IsZero() {
		v.Set(prefix+"since", since.UTC().Format(time.RFC3339Nano))
	}
	if !until.IsZero() {
		v.Set(prefix+"until", until.UTC().Format(time.RFC3339Nano))
	}
}

// parseSelection parses the parameters of a selection.
func parseSelection(v url.Values, now time.Time) (s selection.Selection, err error) {
	s.Page, s.Feature = v.Get("page"), v.Get("feature")
	if err := selection.CheckPage(s.Page); err != nil {
		return s, fmt.Errorf("parameter page: %w", err)
	}
	if s.Where, err = parseWhere(v, ""); err != nil {
		return s, err
	}
	if s.GroupBy, err = ParseGroupBy(v.Get("group_by")); err != nil {
		return s, fmt.Errorf("parameter group_by: %w", err)
	}
	switch names := v.Get("names"); names {
	case "", namesReadable:
	case namesMinified:
		s.Minified = true
	default:
		return s, fmt.Errorf("parameter names: %q is neither %s nor %s", names, namesReadable, namesMinified)
	}
	s.Parts = selection.Parts{By: v.Get("by"), Only: v.Get("only")}
	if err := s.Parts.Check(); err != nil {
		return s, fmt.Errorf("parameter %w", err)
	}
	s.Since, s.Until, err = parseTimes(v, "", now)
	return s, err
}

// compareSelection returns s with the parameters that begin with compare_ applied. A label or
// release replaces the conditions of s on the same key.
func compareSelection(s selection.Selection, v url.Values, now time.Time) (selection.Selection, error) {
	if v.Has("compare_page") {
		s.Page = v.Get("compare_page")
		if err := selection.CheckPage(s.Page); err != nil {
			return s, fmt.Errorf("parameter compare_page: %w", err)
		}
	}
	if v.Has("compare_feature") {
		s.Feature = v.Get("compare_feature")
	}
	where, err := parseWhere(v, "compare_")
	if err != nil {
		return s, err
	}
	s.Where = selection.Replace(s.Where, where)
	if v.Has("compare_since") || v.Has("compare_until") {
		since, until, err := parseTimes(v, "compare_", now)
		if err != nil {
			return s, err
		}
		s = s.Before(since, until)
	}
	return s, nil
}

// parseWhere parses the parameters release and label, with a prefix.
func parseWhere(v url.Values, prefix string) (where []selection.Matcher, err error) {
	if release := v.Get(prefix + "release"); release != "" {
		where = append(where, selection.Matcher{Key: rollup.KeyRelease, Op: selection.Equal, Value: release})
	}
	for _, text := range v[prefix+"label"] {
		m, err := selection.ParseMatcher(text)
		if err != nil {
			return nil, fmt.Errorf("parameter %slabel: %w", prefix, err)
		}
		where = append(where, m)
	}
	if len(where) > maxMatchers {
		return nil, fmt.Errorf("parameter %slabel: %d conditions, the most is %d", prefix, len(where), maxMatchers)
	}
	return where, nil
}

// ParseGroupBy parses label keys, separated by commas.
func ParseGroupBy(s string) (keys []string, err error) {
	if s == "" {
		return nil, nil
	}
	for key := range strings.SplitSeq(s, ",") {
		if key = strings.TrimSpace(key); key == "" || slices.Contains(keys, key) {
			return nil, fmt.Errorf("%q: name each label once, as in release,device", s)
		}
		keys = append(keys, key)
	}
	if len(keys) > maxMatchers {
		return nil, fmt.Errorf("%d labels, the most is %d", len(keys), maxMatchers)
	}
	return keys, nil
}

// parseTimes parses the parameters since and until, with a prefix.
func parseTimes(v url.Values, prefix string, now time.Time) (since, until time.Time, err error) {
	if since, err = selection.ParseSince(v.Get(prefix+"since"), now); err != nil {
		return since, until, fmt.Errorf("parameter %ssince: %w", prefix, err)
	}
	if until, err = selection.ParseTime(v.Get(prefix+"until"), now); err != nil {
		return since, until, fmt.Errorf("parameter %suntil: %w", prefix, err)
	}
	return since, until, selection.CheckTimes(since, until)
}

// maxMatchers bounds the number of conditions in a request.
const maxMatchers = 20

// Values of the parameter names.
const (
	namesReadable = "readable" // from uploaded symbols
	namesMinified = "minified" // as browsers reported them
)
