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

// selectMergeProfile merges what is selected into a pprof profile. In the format of
// protobuf that is what the format pprof of fieldtrie is, with all of its values. In JSON it
// has the value that is asked for alone, as clients that read JSON look at the first one.
func (a *answerer) selectMergeProfile(ctx context.Context, read func(proto.Message) error, asJSON bool) (encoded, error) {
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

// pprofRequest returns the request for a pprof profile that a request for a flame graph is
// if it asks for that format.
func pprofRequest(r *querierv1.SelectMergeStacktracesRequest) *querierv1.SelectMergeProfileRequest {
	return &querierv1.SelectMergeProfileRequest{
		ProfileTypeID: r.ProfileTypeID, LabelSelector: r.LabelSelector, Start: r.Start, End: r.End, MaxNodes: r.MaxNodes,
		StackTraceSelector: r.StackTraceSelector, ProfileIdSelector: append(r.ProfileIdSelector, r.SpanSelector...), TraceIdSelector: r.TraceIdSelector,
	}
}

// stacksOf returns what a request for a pprof profile selects. If stacks are chosen by the
// names that flame graphs have for them, functions have these names.
func (a *answerer) stacksOf(ctx context.Context, r *querierv1.SelectMergeProfileRequest) (*stacks, error) {
	s, err := a.merged(ctx, &querierv1.SelectMergeStacktracesRequest{
		ProfileTypeID: r.ProfileTypeID, LabelSelector: r.LabelSelector, Start: r.Start, End: r.End,
		StackTraceSelector: r.StackTraceSelector, ProfileIdSelector: r.ProfileIdSelector, TraceIdSelector: r.TraceIdSelector,
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

// pprofWire returns stacks as a pprof profile in its own format, with the values of some
// types, or all.
func (a *answerer) pprofWire(s *stacks, types ...string) ([]byte, error) {
	var out bytes.Buffer
	err := pprof.Write(&out, s.Profile, output.Options{Since: s.asked.sel.Since, Until: a.endOf(s.asked.sel)}, types...)
	return out.Bytes(), err
}

// named returns what gives frames the names that flame graphs have for them.
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

// pprof returns a pprof profile that has the value that is asked for alone.
func (a *answerer) pprof(ctx context.Context, r *querierv1.SelectMergeProfileRequest) (*googlev1.Profile, error) {
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
