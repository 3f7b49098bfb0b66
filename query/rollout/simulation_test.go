package rollout_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/query/rollout"
)

// share is a release and its share of the page views, from a minute until the next share.
type share struct {
	name  string
	since int     // minute
	of    float64 // share of the page views, from 0 to 1
}

// history is a site with its releases, and the truth about them.
type history struct {
	shares   []share // in the order of time; the shares of one minute add up to 1
	deployed []string
	minute   map[string]int // when each was deployed
	uploads  bool
	perHour  float64
	guess    bool   // the order of the newest cannot be known
	base     string // the earlier release with the most page views
}

func (h *history) deploy(name string, at int) {
	h.deployed, h.minute[name] = append(h.deployed, name), at
}

// simulate draws a history of one kind.
func simulate(rng *rand.Rand, kind string) *history {
	h := &history{minute: map[string]int{}, uploads: rng.IntN(2) == 0, perHour: 200 + 600*rng.Float64()}
	version := func(minor, patch int) string { return fmt.Sprintf("1.%d.%d", minor, patch) }
	minor, at := 7+rng.IntN(4), 0
	old, next := version(minor, 0), version(minor+1, 0)
	h.deploy(old, at)
	h.shares = append(h.shares, share{old, at, 1})
	at += 360 + rng.IntN(5000)
	h.base = old
	switch kind {
	case "all together":
		h.deploy(next, at)
		h.shares = append(h.shares, share{next, at, 1})
	case "canary":
		part := 0.05 + 0.2*rng.Float64()
		h.deploy(next, at)
		h.shares = append(h.shares, share{next, at, part}, share{old, at, 1 - part})
	case "two together":
		h.deploy(next, at)
		other := version(minor+2, 0)
		h.deploy(other, at+rng.IntN(2))
		h.shares = append(h.shares, share{next, at, 0.3}, share{other, at, 0.3}, share{old, at, 0.4})
		h.guess = !h.uploads
	case "rollback":
		h.deploy(next, at)
		h.shares = append(h.shares, share{next, at, 1})
		at += 60 + rng.IntN(600)
		h.shares = append(h.shares, share{old, at, 1})
	case "hotfix of an older line":
		h.deploy(next, at)
		h.shares = append(h.shares, share{next, at, 0.5}, share{old, at, 0.5})
		at += 360 + rng.IntN(2000)
		fix := version(minor, 1)
		h.deploy(fix, at)
		h.shares = append(h.shares, share{next, at, 0.5}, share{fix, at, 0.5})
		h.base = "" // either one may have more
	}
	return h
}

// seen returns the releases as a store reports them, with their page views from a minute on.
func (h *history) seen(rng *rand.Rand, until int) (all []rollout.Release, views map[string]int64) {
	views = map[string]int64{}
	first := map[string]time.Time{}
	end := time.Duration(until) * time.Minute
	for now := time.Duration(0); ; {
		now += time.Duration(rng.ExpFloat64() * float64(time.Hour) / h.perHour)
		if now >= end {
			break
		}
		name := h.draw(rng, int(now/time.Minute))
		views[name]++
		arrived := at(0).Add(now + time.Duration(rng.IntN(60))*time.Second) // a tab sends when the visitor leaves it
		if t, ok := first[name]; !ok || arrived.Before(t) {
			first[name] = arrived
		}
	}
	for i, name := range h.deployed {
		r := rollout.Release{Name: name, First: first[name]}
		if h.uploads { // uploads of builds are in the order of deployments
			r.Uploaded = at(h.minute[name]).Add(-10*time.Minute + time.Duration(i)*time.Second)
		}
		if !r.First.IsZero() {
			all = append(all, r)
		}
	}
	rng.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
	return all, views
}

// draw returns the release of a page view. One page view in fifty comes from a tab that was opened
// long ago.
func (h *history) draw(rng *rand.Rand, minute int) string {
	current := h.shares[0].since
	for _, s := range h.shares {
		if s.since <= minute {
			current = s.since
		}
	}
	if current > 0 && rng.IntN(50) == 0 {
		return h.shares[0].name
	}
	p := rng.Float64()
	for _, s := range h.shares {
		if s.since != current {
			continue
		}
		if p -= s.of; p <= 0 {
			return s.name
		}
	}
	return h.shares[len(h.shares)-1].name
}

// In fifty simulated rollouts of each kind, the newest release is the one that was deployed last,
// and the order is reported as a guess only if it cannot be known.
func TestSimulatedRollouts(t *testing.T) {
	rng := rand.New(rand.NewPCG(56, 2))
	for _, kind := range []string{"all together", "canary", "two together", "rollback", "hotfix of an older line"} {
		for i := range 50 {
			h := simulate(rng, kind)
			last := h.deployed[len(h.deployed)-1]
			all, views := h.seen(rng, h.shares[len(h.shares)-1].since+120)
			got, ok := rollout.Newest(all)
			if !ok || got.Name != last {
				t.Errorf("%s %d, uploads %v: newest %q, want %q of %+v", kind, i, h.uploads, got.Name, last, all)
			}
			if guess := slices.Contains(got.Tied, last); guess != h.guess {
				t.Errorf("%s %d, uploads %v: guess %v: %q", kind, i, h.uploads, guess, got.Tied)
			}
			base := got.Base(func(release string) int64 { return views[release] })
			if h.base != "" && base != h.base || base == "" || base == last {
				t.Errorf("%s %d: %q is compared with %q, want %q", kind, i, last, base, h.base)
			}
		}
	}
}
