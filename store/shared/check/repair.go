package check

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/fieldtrie/fieldtrie/store/shared/roll"
)

// Repair makes again what [Verify] has found wrong and can be made again: manifests of what is kept of them and of the traces that
// they do not name, rollups of hours of their traces, and of days of their hours. It returns how many there were. Of page views without a trace, and of Web Vitals, it
// keeps what can be read: nothing else has them.
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

// repairSteps is how many steps there are, see [Finding.step].
const repairSteps = 4

// step says in which order things are repaired: days are made of hours, and these of what manifests name.
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

// Waits between attempts to replace a manifest that others replace, too.
const (
	pause    = 100 * time.Millisecond
	attempts = 50
)

// repair makes something again. If another node was faster, it begins again.
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
