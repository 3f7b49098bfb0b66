package pyroscope

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/fieldtrie/fieldtrie/encode"
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
	wire, _, err := a.pprofWire(ctx, r)
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

// pprofWire returns a pprof profile in its own format. If stacks are chosen by the names
// that flame graphs have for them, functions have these names.
func (a *answerer) pprofWire(ctx context.Context, r *querierv1.SelectMergeProfileRequest) ([]byte, profileType, error) {
	s, err := a.merged(ctx, &querierv1.SelectMergeStacktracesRequest{
		ProfileTypeID: r.ProfileTypeID, LabelSelector: r.LabelSelector, Start: r.Start, End: r.End,
		StackTraceSelector: r.StackTraceSelector, ProfileIdSelector: r.ProfileIdSelector, TraceIdSelector: r.TraceIdSelector,
	})
	if err != nil {
		return nil, profileType{}, err
	}
	p := s.Profile
	if r.GetMaxNodes() > 0 {
		p = p.Prune(int(min(r.GetMaxNodes(), mostNodes)))
	}
	if len(r.GetStackTraceSelector().GetCallSite()) > 0 {
		p = p.Coalesce(named(&s.Trie))
	}
	q, _, err := a.askType(r.ProfileTypeID, r.LabelSelector, r.Start, r.End)
	if err != nil {
		return nil, profileType{}, err
	}
	var out bytes.Buffer
	if err := encode.EncodePprof(&out, p, encode.Output{Since: q.sel.Since, Until: a.endOf(q.sel)}); err != nil {
		return nil, profileType{}, err
	}
	z, err := gzip.NewReader(&out)
	if err != nil {
		return nil, profileType{}, err
	}
	wire, err := io.ReadAll(z)
	return wire, s.of, err
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
	wire, t, err := a.pprofWire(ctx, r)
	if err != nil {
		return nil, err
	}
	p := &googlev1.Profile{}
	if err := proto.Unmarshal(wire, p); err != nil {
		return nil, err
	}
	i := slices.IndexFunc(p.SampleType, func(v *googlev1.ValueType) bool { return p.StringTable[v.Type] == t.sample })
	if i < 0 {
		return nil, failure(internalError, "the profile has no values of %s", t.sample)
	}
	p.SampleType = p.SampleType[i : i+1]
	p.DefaultSampleType = p.SampleType[0].Type
	for _, s := range p.Sample {
		s.Value = s.Value[i : i+1]
	}
	return p, nil
}
