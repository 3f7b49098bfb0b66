package roll

import (
	"context"
	"maps"
	"slices"

	"github.com/fieldtrie/fieldtrie/store/shared/layout"
)

// packBytes is about how much of the runs of a shard is packed at a time. The shard is not rolled up meanwhile.
const packBytes = 16 << 20

// pack writes runs of closed hours anew with traces that share their tables, which take half the room. It begins with the newest
// hour, and does some at a time. It reports whether it did. What can not be read stays as it is, and keeps no other run waiting.
func (r *Shard) pack(ctx context.Context, next *layout.Manifest) (changed bool, err error) {
	left := int64(packBytes)
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(next.Hours))) {
		h := next.Hours[name]
		if !h.Sealed {
			continue
		}
		for i := 0; i < len(h.Runs) && left > 0; i++ {
			f := h.Runs[i]
			if f.Tier == PackedTier || r.unpackable[f.ID] {
				continue
			}
			left -= f.Size
			out, err := r.packRun(ctx, name, f)
			if layout.IsWrong(err) {
				if r.unpackable == nil {
					r.unpackable = map[string]bool{}
				}
				r.unpackable[f.ID] = true
				continue
			}
			if err != nil {
				return false, err
			}
			h.Runs = slices.Replace(h.Runs, i, i+1, out...)
			i += len(out) - 1
			next.Remove(r.Bucket.Now(), layout.RunKey(r.Number, name, f.ID))
			changed = true
		}
	}
	return changed, nil
}

// packRun writes a run of an hour anew.
func (r *Shard) packRun(ctx context.Context, hour string, f layout.File) ([]layout.File, error) {
	o, err := r.OpenRun(ctx, layout.RunKey(r.Number, hour, f.ID))
	if err != nil {
		return nil, err
	}
	return r.writeRuns(ctx, []*layout.Cursor{o.Rows(1)}, r.PackedRuns(hour))
}

// writeRuns writes the rows of some runs as others, in order.
func (r *Shard) writeRuns(ctx context.Context, from []*layout.Cursor, to *Series[*layout.RunWriter]) ([]layout.File, error) {
	err := layout.Merge(ctx, from, func(x *layout.Row) error {
		w, err := to.Next(ctx)
		if err != nil {
			return err
		}
		return w.Add(x)
	})
	if err != nil {
		return nil, r.Missing(err)
	}
	return to.Finish(ctx)
}
