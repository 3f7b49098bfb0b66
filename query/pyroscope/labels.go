package pyroscope

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/fieldtrie/fieldtrie/query"

	querierv1 "github.com/fieldtrie/fieldtrie/proto/querier/v1"
	settingsv1 "github.com/fieldtrie/fieldtrie/proto/settings/v1"
	typesv1 "github.com/fieldtrie/fieldtrie/proto/types/v1"
)

// methods returns the methods served, by path.
func (a *backend) methods() map[string]method {
	return map[string]method{
		querierService + "ProfileTypes":           unaryMethod(a.profileTypes),
		querierService + "LabelNames":             unaryMethod(a.labelNames),
		querierService + "LabelValues":            unaryMethod(a.labelValues),
		querierService + "Series":                 unaryMethod(a.series),
		querierService + "SelectSeries":           unaryMethod(a.selectSeries),
		querierService + "SelectHeatmap":          unaryMethod(a.selectHeatmap),
		querierService + "SelectMergeStacktraces": unaryMethod(a.selectMergeStacktraces),
		querierService + "SelectMergeProfile":     a.selectMergeProfile,
		querierService + "Diff":                   unaryMethod(a.diff),
		querierService + "GetProfileStats":        unaryMethod(a.profileStats),
		settingsService + "Get":                   unaryMethod(a.settings),
	}
}

// profileTypes lists the profile types. Grafana uses them to test a data source, so they
// are listed even if nothing is stored.
func (a *backend) profileTypes(context.Context, *querierv1.ProfileTypesRequest) (*querierv1.ProfileTypesResponse,
	error) {
	out := &querierv1.ProfileTypesResponse{}
	for _, t := range profileTypes() {
		out.ProfileTypes = append(out.ProfileTypes, &typesv1.ProfileType{
			ID: t.id(), Name: typeName, SampleType: t.sample, SampleUnit: t.unit, PeriodType: periodType,
			PeriodUnit: periodUnit,
		})
	}
	return out, nil
}

func (a *backend) settings(context.Context, *settingsv1.GetSettingsRequest) (*settingsv1.GetSettingsResponse, error) {
	return &settingsv1.GetSettingsResponse{}, nil
}

// labelNames lists the keys of labels with some time.
func (a *backend) labelNames(ctx context.Context, r *typesv1.LabelNamesRequest) (*typesv1.LabelNamesResponse, error) {
	names := map[string]bool{}
	err := a.eachLabels(ctx, r.Matchers, r.Start, r.End, func(_ labelQuery, l query.Labels) {
		for _, key := range append(l.Keys(), labelService) {
			names[key] = true
		}
	})
	return &typesv1.LabelNamesResponse{Names: slices.Sorted(maps.Keys(names))}, err
}

// labelValues lists the values of a label with some time.
func (a *backend) labelValues(ctx context.Context, r *typesv1.LabelValuesRequest) (*typesv1.LabelValuesResponse,
	error) {
	if r.Name == "" {
		return nil, failure(invalidArgument, "the name of the label is missing")
	}
	all, err := a.askAny(r.Matchers, r.Start, r.End)
	if err != nil {
		return nil, err
	}
	values := map[string]bool{}
	for _, q := range all {
		key := r.Name
		if key == labelService || isPrivate(key) { // all time has it
			key = labelPage
		}
		found, err := a.src.Values(ctx, q.sel, key)
		if err != nil {
			return nil, err
		}
		switch {
		case len(found) == 0:
		case r.Name == labelService:
			values[a.opts.Site] = true
		case isPrivate(r.Name):
			for _, t := range q.types {
				values[t.private(r.Name)] = true
			}
		default:
			for _, v := range found {
				values[v] = true
			}
		}
	}
	delete(values, "") // a private name that profile types do not have
	return &typesv1.LabelValuesResponse{Names: slices.Sorted(maps.Keys(values))}, nil
}

// eachLabels calls f with the labels that match each selector, or all without selectors.
func (a *backend) eachLabels(ctx context.Context, selectors []string, start, end int64, f func(labelQuery,
	query.Labels)) error {
	all, err := a.askAny(selectors, start, end)
	if err != nil {
		return err
	}
	for _, q := range all {
		labels, err := a.src.Labels(ctx, q.sel)
		if err != nil {
			return err
		}
		if len(labels.Labels) > 0 {
			f(q, labels)
		}
	}
	return nil
}

// series lists combinations of labels. Combinations of all labels would be too many, so
// these are page, release and environment unless others are requested.
func (a *backend) series(ctx context.Context, r *querierv1.SeriesRequest) (*querierv1.SeriesResponse, error) {
	names := r.LabelNames
	if len(names) == 0 {
		names = []string{labelService, "__profile_type__", labelPage, "release", "environment"}
	}
	all, err := a.askAny(r.Matchers, r.Start, r.End)
	if err != nil {
		return nil, err
	}
	out := &querierv1.SeriesResponse{}
	seen := map[string]bool{}
	for _, q := range all {
		q.sel.GroupBy = groupKeys(names)
		s, err := a.src.Series(ctx, query.SeriesQuery{Selection: q.sel})
		if err != nil {
			return nil, err
		}
		for _, g := range s.Groups {
			for _, t := range q.types {
				set := &typesv1.Labels{Labels: pairs(a.named(g.Labels, names, t))}
				if key := set.String(); !seen[key] && len(set.Labels) > 0 {
					seen[key] = true
					out.LabelsSet = append(out.LabelsSet, set)
				}
			}
		}
	}
	return out, nil
}

// groupKeys returns the keys that a selection can be grouped by.
func groupKeys(names []string) (keys []string) {
	for _, n := range names {
		if n != labelService && !isPrivate(n) && !slices.Contains(keys, n) {
			keys = append(keys, n)
		}
	}
	return keys
}

// named adds the requested labels that are not labels of a group.
func (a *backend) named(group map[string]string, names []string, t profileType) map[string]string {
	labels := maps.Clone(group)
	for _, n := range names {
		switch {
		case n == labelService:
			labels[n] = a.opts.Site
		case isPrivate(n) && t.private(n) != "":
			labels[n] = t.private(n)
		}
	}
	return labels
}

// profileStats reports whether anything is stored, and its time range.
func (a *backend) profileStats(ctx context.Context,
	_ *typesv1.GetProfileStatsRequest) (*typesv1.GetProfileStatsResponse, error) {
	catalog, err := a.src.Catalog(ctx, time.Time{}, time.Time{}, a.opts.Lag)
	if err != nil {
		return nil, err
	}
	out := &typesv1.GetProfileStatsResponse{}
	for _, p := range catalog.Pages() {
		first, last := p.First.UnixMilli(), p.Last.UnixMilli()
		if !out.DataIngested || first < out.OldestProfileTime {
			out.OldestProfileTime = first
		}
		out.NewestProfileTime = max(out.NewestProfileTime, last)
		out.DataIngested = true
	}
	return out, nil
}
