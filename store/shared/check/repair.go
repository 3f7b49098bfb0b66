package check

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/fieldtrie/fieldtrie/store/shared/roll"
)

// Repair repairs the findings of [Verify] that can be repaired. It restores manifests from their
// copies, adds traces that no manifest names, and rebuilds the rollups of hours from traces and of
// days from hours. Page views without a trace and Web Vitals exist only in rollups, so it keeps all
// of them that can be read. It returns the number of repaired findings.
func Repair(ctx context.Context, n *roll.Roller, v Verified) (mended int, err error) {
	done := map[Finding]bool{}
	for step := range repairSteps {
		for _, f := range v.Findings {
			of := Finding{shard: f.shard, hour: f.hour, day: f.day, lost: f.lost, adopts: f.adopts}
			if !f.Mends || f.step() != step || done[of] {
				continue
			}
			done[of] = true
			if err := repair(ctx, n, of); err != nil {
				return mended, fmt.Errorf("repair %s%s of shard %d: %w", f.hour, f.day, f.shard, err)
			}
			mended++
		}
	}
	return mended, nil
}

// mender repairs a shard.
type mender struct{ *roll.Shard }

// repairSteps is the number of steps, see [Finding.step].
const repairSteps = 4

// step returns the order of repairs: manifests first, then hours, which depend on manifests, then
// days, which depend on hours.
func (f Finding) step() int {
	switch {
	case f.lost:
		return 0
	case f.adopts:
		return 1
	case f.day == "":
		return 2
	}
	return 3
}

// Retries if other nodes replace the same manifest.
const (
	pause    = 100 * time.Millisecond
	attempts = 50
)

// repair repairs a finding. It starts again if another node has replaced the manifest.
func repair(ctx context.Context, n *roll.Roller, f Finding) error {
	r := mender{n.Detached(f.shard)}
	for attempt := 0; ; attempt++ {
		err := r.repair(ctx, f)
		if !errors.Is(err, roll.ErrLost) && !errors.Is(err, roll.ErrUnknown) || attempt == attempts {
			return err
		}
		r.Forget()
		if err := n.Bucket.Pause(ctx, 0, pause/2+rand.N(pause)); err != nil {
			return err
		}
	}
}

func (r mender) repair(ctx context.Context, f Finding) error {
	if f.lost {
		if err := r.restore(ctx); err != nil {
			return err
		}
		r.Forget()
	}
	if f.lost || f.adopts {
		return r.adopt(ctx)
	}
	if err := r.Begin(ctx); err != nil {
		return err
	}
	next := r.Manifest.Clone()
	remake, name := r.RemakeHour, f.hour
	if f.day != "" {
		remake, name = r.remakeDay, f.day
	}
	if err := remake(ctx, next, name); err != nil {
		return err
	}
	return r.Replace(ctx, next)
}
