package pyroscope

import (
	"bytes"
	"context"

	"google.golang.org/protobuf/proto"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/encode/pprof"
	"github.com/fieldtrie/fieldtrie/trie"

	googlev1 "github.com/fieldtrie/fieldtrie/proto/google/v1"
	querierv1 "github.com/fieldtrie/fieldtrie/proto/querier/v1"
)

// selectMergeProfile merges a selection into a pprof profile. In protobuf it equals
// fieldtrie's pprof format, with all its values. In JSON it only has the requested value, as
// JSON clients read the first one.
func (a *backend) selectMergeProfile(ctx context.Context, read func(proto.Message) error,
	asJSON bool) (encoded, error) {
	r := &querierv1.SelectMergeProfileRequest{}
	if err := read(r); err != nil {
		return encoded{}, err
	}
	if asJSON {
		p, err := a.pprof(ctx, r)
		return encoded{Message: p}, err
	}
	s, err := a.stacksOf(ctx, r)
	if err != nil {
		return encoded{}, err
	}
	wire, err := a.pprofWire(s)
	return encoded{wire: wire}, err
}

// pprofRequest converts a flame graph request for the pprof format into a request for a
// pprof profile.
func pprofRequest(r *querierv1.SelectMergeStacktracesRequest) *querierv1.SelectMergeProfileRequest {
	return &querierv1.SelectMergeProfileRequest{
		ProfileTypeID: r.ProfileTypeID, LabelSelector: r.LabelSelector, Start: r.Start, End: r.End,
		MaxNodes:           r.MaxNodes,
		StackTraceSelector: r.StackTraceSelector, ProfileIdSelector: append(r.ProfileIdSelector, r.SpanSelector...),
		TraceIdSelector: r.TraceIdSelector,
	}
}

// stacksOf returns the stacks of a request for a pprof profile. If it chooses stacks by
// their names in flame graphs, functions get these names.
func (a *backend) stacksOf(ctx context.Context, r *querierv1.SelectMergeProfileRequest) (*stacks, error) {
	s, err := a.merged(ctx, &querierv1.SelectMergeStacktracesRequest{
		ProfileTypeID: r.ProfileTypeID, LabelSelector: r.LabelSelector, Start: r.Start, End: r.End,
		StackTraceSelector: r.StackTraceSelector, ProfileIdSelector: r.ProfileIdSelector,
		TraceIdSelector: r.TraceIdSelector,
	})
	if err != nil {
		return nil, err
	}
	name := named(&s.Trie) // names of all stacks, so that they do not change with how many are shown
	if r.GetMaxNodes() > 0 {
		s.Profile = s.Prune(int(min(r.GetMaxNodes(), mostNodes)))
	}
	if len(r.GetStackTraceSelector().GetCallSite()) > 0 {
		s.Profile = s.Coalesce(name)
	}
	return s, nil
}

// pprofWire encodes stacks as a pprof profile in its own format, with the named types of
// values, or all.
func (a *backend) pprofWire(s *stacks, types ...string) ([]byte, error) {
	var out bytes.Buffer
	err := pprof.Write(&out, s.Profile, output.Options{Since: s.asked.sel.Since, Until: a.endOf(s.asked.sel)}, types...)
	return out.Bytes(), err
}

// named returns a function that renames frames to their names in flame graphs.
func named(t *trie.Trie) func(trie.Frame) trie.Frame {
	names := map[trie.Frame]string{}
	for i, name := range namesOf(t) {
		names[t.FrameOf(trie.FrameID(i))] = name
	}
	return func(f trie.Frame) trie.Frame {
		if name, ok := names[f]; ok {
			f.Name = name
		}
		return f
	}
}

// pprof returns a pprof profile with only the requested value.
func (a *backend) pprof(ctx context.Context, r *querierv1.SelectMergeProfileRequest) (*googlev1.Profile, error) {
	s, err := a.stacksOf(ctx, r)
	if err != nil {
		return nil, err
	}
	wire, err := a.pprofWire(s, s.of.sample)
	if err != nil {
		return nil, err
	}
	p := &googlev1.Profile{}
	return p, proto.Unmarshal(wire, p)
}
