package shared

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/store/bucket"
)

// What is missing never deletes: a manifest that is not there names nothing, which does not mean that there is nothing.

// lostMeans says what a lost manifest means, and what to do.
const lostMeans = "Nothing of its pages is answered, rolled up or deleted; ingest --verify --repair brings it back from what is kept of it, or put its newest version back, from a replica or an older version of the object"

// LostError says that a shard has objects and no manifest. Nothing of it is answered, rolled up or deleted.
type LostError struct{ Object, Example string }

func (e *LostError) Error() string {
	return fmt.Sprintf("%s is lost: there is %s, which it should name. %s", e.Object, e.Example, lostMeans)
}

func (e *LostError) Unwrap() error { return bucket.ErrNotFound }

// absent returns the empty manifest of a shard that has none yet, or a [*LostError] where it had one.
func (r *Reader) absent(ctx context.Context, shard int) (*manifest, error) {
	for _, kind := range []string{"raw/", "hours/", "days/", "shard/"} {
		for e, err := range r.b.List(ctx, kind+shardName(shard)+"/", "") {
			if err != nil {
				return nil, fmt.Errorf("look whether shard %d is new: %w", shard, err)
			}
			return nil, &LostError{manifestKey(shard), e.Key}
		}
	}
	return newManifest(), nil
}

// noteLost remembers whether a shard has lost its manifest, for [Node.Unready].
func (r *Reader) noteLost(shard int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lost[shard] = err
}

// anyLost returns why a shard stands still, nil if none does.
func (r *Reader) anyLost() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return cmp.Or(r.lost...)
}

// maxAbandoned bounds how many objects are remembered of commits that failed.
const maxAbandoned = 10_000

// deletable reports whether an object that no manifest names may be deleted: if this process has put it and given it up, or if
// the hour or day in its name is older than what is kept. Any other one may have been named by a manifest that was lost, or
// that an older one has taken the place of.
func (r *roller) deletable(m *manifest, key string, now time.Time) bool {
	if r.abandoned[key] {
		return true
	}
	kind, rest, _ := strings.Cut(key, "/")
	_, rest, _ = strings.Cut(rest, "/")
	name, _, _ := strings.Cut(rest, "/")
	kept := m.kept(&r.n.opts)
	switch kind {
	case "raw":
		return r.n.opts.expired(name, time.Duration(kept.Traces), now)
	case "hours":
		return r.n.opts.expired(name, time.Duration(kept.Hours), now)
	case "days":
		return r.n.opts.expired(name+"T23", time.Duration(kept.Days), now)
	}
	return false
}

// kept is how long a shard keeps traces, and their sums by the hour and by the day, ns; 0 is for ever.
type kept struct {
	Traces int64 `json:"traces"`
	Hours  int64 `json:"hours"`
	Days   int64 `json:"days"`
}

// kept returns how long a shard keeps what it has: the longest time that any machine which rolled it up was told, so that one with other
// settings, which nobody thinks of, deletes nothing that others keep. Options.Shorten is for who means it.
func (m *manifest) kept(o *Options) kept {
	mine := kept{int64(o.Retention), int64(o.HourRetention), int64(o.DayRetention)}
	if m.Kept == nil || o.Shorten {
		return mine
	}
	longest := func(a, b int64) int64 {
		if a == 0 || b == 0 {
			return 0
		}
		return max(a, b)
	}
	return kept{longest(mine.Traces, m.Kept.Traces), longest(mine.Hours, m.Kept.Hours), longest(mine.Days, m.Kept.Days)}
}
