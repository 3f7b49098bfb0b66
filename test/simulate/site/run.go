package site

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/query/watch"
)

// Run evaluates a site after each hour, as a daemon does, and returns all changes in the state in
// which they were first found.
func Run(s *Site, settings watch.Settings) (found []watch.Change, err error) {
	var memory watch.Memory
	var known []watch.Change
	for hour := 1; hour <= len(s.hours); hour++ {
		now := Begin().Add(time.Duration(hour) * time.Hour)
		e, err := watch.Evaluate(context.Background(), s, now, settings, memory, known)
		if err != nil {
			return nil, err
		}
		for page, err := range e.Failed {
			return nil, fmt.Errorf("page %s: %w", page, err)
		}
		memory = e.Memory
		found = append(found, e.Found...)
		known = append(e.Known, e.Found...)
	}
	return found, nil
}

// Reports returns the changes that cause notifications, without moved ones.
func Reports(found []watch.Change) []watch.Change {
	return slices.DeleteFunc(slices.Clone(found), func(c watch.Change) bool { return c.Direction == watch.Moved })
}

// True reports whether a change is a planted one: of the function in its direction, or of the page,
// a feature or a Web Vital in the direction of an effect that is large enough to be visible there.
// If the change is attributed to a release, it must be the release of the effect.
func (p *Plan) True(c *watch.Change) bool {
	return slices.ContainsFunc(p.Effects, func(e Effect) bool { return p.causes(&e, c) })
}

// Delay returns after how many hours a planted effect was first reported, by any release if it has
// none. ok is false if it was not reported.
func (p *Plan) Delay(effect int, found []watch.Change) (hours int, ok bool) {
	e := &p.Effects[effect]
	for _, c := range Reports(found) {
		if e.Release == "" {
			c.Release = ""
		}
		if h := hourOf(c.Found) - p.begin(e); p.causes(e, &c) && (!ok || h < hours) {
			hours, ok = h, true
		}
	}
	return hours, ok
}

// begin returns the hour in which an effect begins: the hour of its release, if it has one.
func (p *Plan) begin(e *Effect) int {
	from := e.Hours.From
	for _, r := range p.Releases {
		if r.Name == e.Release {
			from = r.Hour
		}
	}
	return from
}

func (p *Plan) causes(e *Effect, c *watch.Change) bool {
	if e.Hours != (Hours{}) && e.Hours.Until < 24*p.Days { // it ends within the simulation: a spike
		return false
	}
	slower := (e.Factor > 1) == (c.Direction == watch.Slower)
	begin := hourOf(c.Begin)
	from := p.begin(e)
	if c.Release != "" && c.Release != e.Release || begin < from-48 || begin > from+24*(e.Growing+3) {
		return false
	}
	if c.What.Kind != watch.OfFunction {
		return slower
	}
	is := func(i int) bool {
		f := p.Page.Functions[i]
		return f.Name == c.What.Function.Name && f.Resource == c.What.Function.Resource
	}
	return slower && slices.ContainsFunc(e.Functions, is) || e.To > 0 && is(e.To)
}

// Describe returns a change as a line for people.
func Describe(c *watch.Change) string {
	p := &c.Pages[0]
	var out strings.Builder
	fmt.Fprintf(&out, "%s %s by %s: %s", c.What.Kind, c.Direction, c.Detector, c.What.Metric)
	if c.What.Function != nil {
		fmt.Fprintf(&out, " of %q in %s", c.What.Function.Name, c.What.Function.Resource)
	}
	fmt.Fprintf(&out, " %s, %.3g to %.3g", c.What.Feature, p.Value.A, p.Value.B)
	if p.Change.Low != nil {
		fmt.Fprintf(&out, " (%.3g to %.3g)", *p.Change.Low, *p.Change.High)
	}
	fmt.Fprintf(&out, ", since hour %d, found in hour %d; release %q", hourOf(c.Begin), hourOf(c.Found), c.Release)
	return out.String()
}
