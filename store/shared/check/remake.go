package check

import (
	"context"

	"github.com/fieldtrie/fieldtrie/store/shared/layout"
)

// remakeDay replaces the rollups of a day by the sum of its hours.
func (r mender) remakeDay(ctx context.Context, next *layout.Manifest, name string) error {
	d := next.Days[name]
	if d == nil || !d.Complete(next) {
		return nil // it was rebuilt already, or its hours have expired
	}
	for _, f := range d.Rollups {
		next.Remove(r.Bucket.Now(), layout.DayKey(r.Number, name, f.ID))
	}
	return r.CloseDay(ctx, next, name)
}
