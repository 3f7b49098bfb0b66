package roll

import (
	"context"
	"maps"
	"slices"

	"github.com/fieldtrie/fieldtrie/store/shared/layout"
)

// packBytes is roughly how many bytes of runs of a shard are packed per round. The shard is not
// rolled up meanwhile.
const packBytes = 16 << 20

// pack rewrites runs of closed hours so that their traces share tables, which halves their size. It
// starts with the newest hour, and rewrites about packBytes per call. It reports whether it rewrote
// any. Runs that cannot be read stay unchanged, and do not block other runs.
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

// packRun rewrites f as packed runs and returns them. The caller must replace f in the manifest.
func (r *Shard) packRun(ctx context.Context, hour string, f layout.File) ([]layout.File, error) {
	o, err := r.OpenRun(ctx, layout.RunKey(r.Number, hour, f.ID))
	if err != nil {
		return nil, err
	}
	return r.writeRuns(ctx, []*layout.Cursor{o.Rows(1)}, r.PackedRuns(hour))
}

// writeRuns writes the merged rows of cursors to a series.
func (r *Shard) writeRuns(ctx context.Context, from []*layout.Cursor, to *Series[*layout.RunWriter]) ([]layout.File,
	error) {
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
