package local

import (
	"context"
	"io"

	"github.com/fieldtrie/fieldtrie/store/local/snapshot"
)

// BackupStats say what a backup holds, or what was restored.
type BackupStats = snapshot.Stats

// RestoreStats say what was restored.
type RestoreStats = snapshot.Stats

// Progress is told now and then how far something is: in bytes, and what it is at.
type Progress = snapshot.Progress

// Backup writes all that is committed when it is called to w, while the store goes on: see
// [Restore]. It holds up deletions until it ends, and nothing else. Partitions that can not
// be read are left out and named. After an error the stream has no end, and Restore refuses
// it.
func (r *Reader) Backup(ctx context.Context, w io.Writer) (BackupStats, error) {
	if err := r.life.Enter(); err != nil {
		return BackupStats{}, err
	}
	defer r.life.Leave()
	return snapshot.Backup(ctx, w, snapshot.Source{Dir: r.dir, Parts: r.parts, Sums: r.sums, Space: r.space,
		Format: FormatVersion, Now: r.opts.Now()})
}

// Restore makes the data directory dir of what [Reader.Backup] wrote. dir must be new or
// empty. All is on disk when it returns; after an error dir is as it was. An error that
// wraps neither [store.ErrNoSpace] nor one of the context says what is wrong with the stream, or
// with dir.
func Restore(ctx context.Context, r io.Reader, dir string, o Options, progress Progress) (RestoreStats, error) {
	o, err := o.withDefaults()
	if err != nil {
		return RestoreStats{}, err
	}
	return snapshot.Restore(ctx, r, dir, snapshot.Options{Program: o.Program, Format: FormatVersion, FormatFile: formatFile,
		MemTableSize: o.MemTableSize, MinFree: o.MinFree, Log: o.Logger}, progress)
}
