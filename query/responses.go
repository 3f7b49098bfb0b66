package query

import (
	"context"
	"fmt"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/fresh"
	"github.com/fieldtrie/fieldtrie/query/selection"
)

// ResponseCache keeps responses as long as they may lag behind ([selection.Selection.Lag]), because
// dashboards repeat queries, often several at the same time. It is safe for concurrent use by
// multiple goroutines.
type ResponseCache struct{ responses *fresh.Cache[any] }

const (
	// maxResponses and maxResponseBytes bound the cache.
	maxResponses     = 1024
	maxResponseBytes = 64 << 20
)

// NewResponseCache returns an empty ResponseCache. It stops renewing responses ahead of time when
// ctx is done.
func NewResponseCache(ctx context.Context) *ResponseCache {
	return &ResponseCache{fresh.New[any](ctx, maxResponses, maxResponseBytes)}
}

// cached returns the response of compute, or a cached response with the same key and source that is
// younger than lag, and its age. Responses are shared, so callers must not change them.
func cached[T interface{ size() int }](ctx context.Context, l Local, key string, lag time.Duration,
	compute func(context.Context) (T, error)) (T, time.Duration, error) {
	if l.Responses == nil || lag <= 0 {
		x, err := compute(ctx)
		return x, 0, err
	}
	got, age, err := l.Responses.responses.Get(ctx, l.key(key), lag, func(ctx context.Context) (any, int, error) {
		x, err := compute(ctx)
		if err != nil {
			return nil, 0, err
		}
		return x, x.size(), nil
	})
	if err != nil {
		return *new(T), 0, err
	}
	return got.(T), age, nil
}

// alignment is the granularity of the start of a time range, if a response may lag behind.
const alignment = 15 * time.Second

// recently returns s with its start rounded down, so that repeated queries for the last hour are
// equal for a while, and its cache key. A response, and the data behind it, may be as old as the
// Lag of the returned selection.
func recently(s selection.Selection) (selection.Selection, string) {
	s.Lag /= 2
	if s.Lag > 0 && !s.Since.IsZero() {
		s.Since = s.Since.Truncate(min(s.Lag, alignment))
	}
	return s, fmt.Sprintf("%q %q %q %v %v %q %v %v %v", s.Page, s.Feature, s.Where, s.Since, s.Until, s.GroupBy, s.Lag,
		s.Minified, s.Parts)
}
