package api

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/query/selection"
)

// selectionParameters lists the parameters that parseSelection reads, without group_by and names.
var selectionParameters = [...]string{"page", "feature", "release", "label", "since", "until"}

// parameters holds the query parameters of a request, and the first error in them.
type parameters struct {
	url.Values
	now time.Time
	lag time.Duration // lag of the selection
	err error
}

// parametersOf returns the query parameters of r. Unknown parameters are errors, so that a typo
// does not widen the selection.
func parametersOf(r *http.Request, known []string, now time.Time) (*parameters, error) {
	v, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, selection.Refuse("query string: %w", err)
	}
	for k, values := range v {
		if !slices.Contains(known, k) {
			if len(known) == 0 {
				return nil, selection.Refuse("unknown parameter %q; there are none here", k)
			}
			return nil, selection.Refuse("unknown parameter %q; known are %s", k, strings.Join(known, ", "))
		}
		if k != "label" && k != "compare_label" && len(values) > 1 {
			return nil, selection.Refuse("parameter %s is given %d times", k, len(values))
		}
	}
	return &parameters{Values: v, now: now}, nil
}

func (p *parameters) clone() *parameters {
	return &parameters{Values: maps.Clone(p.Values), now: p.now}
}

func (p *parameters) fail(err error) {
	if _, refused := err.(*selection.RefusedError); err != nil && !refused {
		err = &selection.RefusedError{Err: err}
	}
	p.err = cmp.Or(p.err, err)
}

// selection returns the selected data. A parameter that cannot be parsed fails p.
func (p *parameters) selection() selection.Selection {
	s, err := parseSelection(p.Values, p.now)
	p.fail(err)
	s.Lag = p.lag
	return s
}

// number returns a number from low to high, or def if the parameter is missing.
func (p *parameters) number(name string, def, low, high int) int {
	text := p.Get(name)
	if text == "" {
		return def
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < low || n > high {
		p.fail(selection.Refuse("parameter %s: %q is not a number from %d to %d", name, text, low, high))
	}
	return n
}

// flag returns a boolean, or false if the parameter is missing.
func (p *parameters) flag(name string) bool {
	text := p.Get(name)
	if text == "" {
		return false
	}
	b, err := strconv.ParseBool(text)
	if err != nil {
		p.fail(selection.Refuse("parameter %s: %q is neither true nor false", name, text))
	}
	return b
}

// choice returns one of some words, or the first one if the parameter is missing.
func (p *parameters) choice(name string, of ...string) string {
	text := cmp.Or(p.Get(name), of[0])
	if !slices.Contains(of, text) {
		p.fail(selection.Refuse("parameter %s: %q is none of %s", name, text, strings.Join(of, ", ")))
	}
	return text
}

// mostQuantiles is the maximum number of quantiles in a query.
const mostQuantiles = 20

// quantiles returns numbers from 0 to 1, which are separated by commas, or nil if the parameter is
// missing.
func (p *parameters) quantiles(name string) (all []float64) {
	text := p.Get(name)
	if text == "" {
		return nil
	}
	for x := range strings.SplitSeq(text, ",") {
		q, err := strconv.ParseFloat(strings.TrimSpace(x), 64)
		if err != nil || !(q >= 0 && q <= 1) || len(all) == mostQuantiles {
			p.fail(selection.Refuse("parameter %s: %.100q is not up to %d numbers from 0 to 1, with commas between",
				name, text, mostQuantiles))
			return nil
		}
		all = append(all, q)
	}
	return all
}

// duration returns a duration, or def if the parameter is missing.
func (p *parameters) duration(name string, def time.Duration) time.Duration {
	text := p.Get(name)
	if text == "" {
		return def
	}
	d, err := selection.ParseAge(text)
	if err != nil || d < time.Second {
		p.fail(selection.Refuse("parameter %s: %q is not a duration such as 1h or 7d, a second at least", name, text))
	}
	return d
}
