package snapshot

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/internal/disk"
	"github.com/fieldtrie/fieldtrie/store/local/part"
	"github.com/fieldtrie/fieldtrie/store/local/record"
	"github.com/fieldtrie/fieldtrie/store/local/rollups"
)

// Options say how a directory is restored.
type Options struct {
	Program      string // that others see when the directory is in use
	Format       int    // version of a directory that this program reads
	FormatFile   string // name of the file that says which version a directory has
	MemTableSize int64
	MinFree      int64 // bytes that must stay free; negative: not checked
	Log          *slog.Logger
}

// Progress is told now and then how far something is: in bytes, and what it is at.
type Progress func(done, total int64, at string)

// RestoringFile is in a directory that is being restored, and becomes its FORMAT in the
// end. Until then nobody opens the directory.
const RestoringFile = "FORMAT.restoring"

// Restore makes the data directory dir of what [Backup] wrote. dir must be new or
// empty. All is on disk when it returns; after an error dir is as it was. An error that
// wraps neither [disk.ErrNoSpace] nor one of the context says what is wrong with the stream, or
// with dir.
func Restore(ctx context.Context, r io.Reader, dir string, o Options, progress Progress) (stats Stats, err error) {
	fresh, err := emptyDir(dir)
	if err != nil {
		return stats, fmt.Errorf("restore into %s: %w", dir, err)
	}
	lock, err := disk.OpenLock(dir, o.Program)
	if err == nil {
		err = lock.Exclusive("restore", 0)
	}
	if err != nil {
		return stats, fmt.Errorf("restore into %s: %w", dir, err)
	}
	x := &restore{ctx: ctx, dir: dir, opts: o, in: newArchiveReader(&contextReader{ctx, r}), space: disk.NewSpace(dir, disk.SpaceOptions{MinFree: o.MinFree, Log: o.Log}), progress: progress}
	err = x.run()
	if err != nil {
		err = errors.Join(fmt.Errorf("restore into %s: %w", dir, err), removeRestored(dir, fresh))
	}
	return x.stats, errors.Join(err, lock.Release())
}

// emptyDir makes dir if it is not there, and refuses one that has something in it.
func emptyDir(dir string) (fresh bool, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return true, os.MkdirAll(dir, 0o700)
	}
	if slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == RestoringFile }) {
		return false, errors.New("an interrupted restore has left something there: delete it and try again")
	}
	for _, e := range entries {
		if e.Name() != "lost+found" { // of a filesystem of its own
			return false, fmt.Errorf("it is not empty (%s is there): use a new directory", e.Name())
		}
	}
	return false, err
}

// removeRestored deletes what a restore has made, what says so last.
func removeRestored(dir string, fresh bool) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if e.Name() != "lost+found" && e.Name() != RestoringFile {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	if err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(dir, RestoringFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if fresh {
		return os.Remove(dir)
	}
	return nil
}

// restore is a Restore on its way.
type restore struct {
	ctx      context.Context
	dir      string
	opts     Options
	in       *archiveReader
	space    *disk.Space
	head     head
	stats    Stats
	progress Progress
	said     time.Time
}

func (x *restore) run() error {
	if err := disk.WriteFile(filepath.Join(x.dir, RestoringFile), []byte("{}\n")); err != nil {
		return err
	}
	if err := x.readHead(); err != nil {
		return err
	}
	left := map[string]member{}
	for _, p := range x.head.Partitions {
		left[p.Name] = p
	}
	withSums, withSymbols := len(x.head.Sums) == 0, x.head.Symbols == 0
	if err := x.in.next(); err != nil {
		return err
	}
	for x.in.name != endEntry {
		name := path.Dir(x.in.name)
		if name == sumsGroup && !withSums {
			withSums = true
			if err := x.sums(); err != nil {
				return err
			}
			continue
		}
		if strings.HasPrefix(x.in.name, symbolsGroup+"/") && !withSymbols {
			withSymbols = true
			if err := x.symbols(); err != nil {
				return err
			}
			continue
		}
		p, ok := left[name]
		if !ok {
			return fmt.Errorf("%w: entry %s is of no partition that is expected now", errBackup, x.in.name)
		}
		delete(left, name)
		if err := x.partition(p); err != nil {
			return err
		}
	}
	end, err := x.in.end()
	if err != nil {
		return err
	}
	if len(left) > 0 || !withSums || !withSymbols {
		return fmt.Errorf("%w: something that %s names is not there", errBackup, headEntry)
	}
	x.stats.Traces, x.stats.Bytes = end.Traces, end.Bytes
	return x.finish()
}

// sums restores the files of sums. It ends at the entry behind them.
func (x *restore) sums() error {
	left := map[string]bool{}
	for _, m := range x.head.Sums {
		left[m.Name] = true
	}
	for {
		file, ok := strings.CutPrefix(x.in.name, sumsGroup+"/")
		if !ok {
			return fmt.Errorf("%w: %s ends without %s", errBackup, sumsGroup, sumsEntry)
		}
		x.say(sumsGroup)
		if file == sumsEntry {
			break
		}
		if !left[file] {
			return fmt.Errorf("%w: entry %q is not expected", errBackup, x.in.name)
		}
		delete(left, file)
		if err := x.file(filepath.Join(x.dir, file)); err != nil {
			return err
		}
		x.in.done()
		if err := x.in.next(); err != nil {
			return err
		}
	}
	if err := x.in.sums(sumsGroup); err != nil {
		return err
	}
	if len(left) > 0 {
		return fmt.Errorf("%w: %d files of sums that %s names are not there", errBackup, len(left), headEntry)
	}
	return x.in.next()
}

// readHead reads what there is to come, and looks for room for it.
func (x *restore) readHead() error {
	if err := x.in.next(); err != nil {
		return err
	}
	if x.in.name == ofObjects {
		return errors.New("it is the backup of a bucket, or of a directory of objects: restore it with --data file:///DIR or --data s3://BUCKET/PREFIX")
	}
	if x.in.name != headEntry {
		return fmt.Errorf("%w: it begins with %s, not with %s", errBackup, x.in.name, headEntry)
	}
	b, err := x.in.content(maxHead)
	if err != nil {
		return err
	}
	x.in.done()
	if err := x.in.next(); err != nil {
		return err
	}
	if x.in.name != sumsEntry {
		return fmt.Errorf("%w: behind %s is %s, not %s", errBackup, headEntry, x.in.name, sumsEntry)
	}
	if err := x.in.sums(""); err != nil {
		return err
	}
	h := &x.head
	if err := json.Unmarshal(b, h); err != nil {
		return fmt.Errorf("%w: entry %s: %w", errBackup, headEntry, err)
	}
	if h.Backup > version || h.Format > x.opts.Format {
		return fmt.Errorf("the backup is of version %d and format %d, this program reads up to %d and %d: use a newer release",
			h.Backup, h.Format, version, x.opts.Format)
	}
	if h.Backup < withoutSymbols || h.Format < x.opts.Format {
		return fmt.Errorf("the backup is of version %d and format %d, this program reads from %d and %d on: no release wrote or reads it",
			h.Backup, h.Format, withoutSymbols, x.opts.Format)
	}
	for _, p := range h.Partitions {
		if _, ok := part.ParseName(p.Name); !ok {
			return fmt.Errorf("%w: %q is not the name of a partition", errBackup, p.Name)
		}
	}
	for _, f := range h.Sums {
		if _, _, ok := rollups.ParseName(f.Name); !ok {
			return fmt.Errorf("%w: %q is not the name of a file of sums", errBackup, f.Name)
		}
	}
	x.stats.Made, x.stats.Partitions = h.Made, len(h.Partitions)+len(h.Sums)
	return x.space.Room(max(0, x.opts.MinFree)+max(0, min(h.Bytes, math.MaxInt64/2)), 0)
}

// partition restores the partition whose first entry is the present one. It ends at the
// entry behind the partition.
func (x *restore) partition(p member) error {
	dir := filepath.Join(x.dir, p.Name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	put := x.file
	var e *part.Importer
	if p.Open {
		var err error
		if e, err = part.NewImporter(dir, x.opts.MemTableSize, x.opts.Log); err != nil {
			return fmt.Errorf("partition %s: %w", p.Name, err)
		}
		defer e.Cancel()
		put = func(path string) error {
			if isPiece(filepath.Base(path)) {
				return x.piece(e)
			}
			return x.file(path)
		}
	}
	for {
		file, ok := strings.CutPrefix(x.in.name, p.Name+"/")
		if !ok {
			return fmt.Errorf("%w: %s ends without %s", errBackup, p.Name, sumsEntry)
		}
		x.say(p.Name)
		if file == sumsEntry {
			break
		}
		if !backupFile(file) {
			return fmt.Errorf("%w: entry %q is not a file of a partition", errBackup, x.in.name)
		}
		if err := put(filepath.Join(dir, file)); err != nil {
			return err
		}
		x.in.done()
		if err := x.in.next(); err != nil {
			return err
		}
	}
	if err := x.in.sums(p.Name); err != nil {
		return err
	}
	if e != nil {
		if err := e.Close(); err != nil {
			return fmt.Errorf("partition %s: %w", p.Name, err)
		}
	}
	if err := disk.SyncDir(dir); err != nil {
		return err
	}
	return x.in.next()
}

func (x *restore) say(at string) {
	if now := time.Now(); x.progress != nil && now.Sub(x.said) > 200*time.Millisecond {
		x.said = now
		x.progress(x.in.bytes, x.head.Bytes, at)
	}
}

// file writes the present entry to a new file.
func (x *restore) file(name string) (err error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("entry %s: %w", x.in.name, err)
	}
	err = copySparse(f, x.in, x.in.size)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// copySparse writes size bytes of r to an empty file, with holes for zeros: what Badger
// maps into memory is mostly those.
func copySparse(f *os.File, r io.Reader, size int64) error {
	buf := make([]byte, 256<<10)
	zeros := make([]byte, 4<<10)
	for at := int64(0); at < size; {
		n, err := io.ReadFull(r, buf[:min(int64(len(buf)), size-at)])
		if err != nil {
			return err
		}
		for b := buf[:n]; len(b) > 0; {
			k := min(len(b), len(zeros))
			if !bytes.Equal(b[:k], zeros[:k]) {
				if _, err := f.WriteAt(b[:k], at); err != nil {
					return err
				}
			}
			at += int64(k)
			b = b[k:]
		}
	}
	return f.Truncate(size)
}

// piece writes the present entry, which is a piece of ENTRIES.
func (x *restore) piece(e *part.Importer) error {
	b, err := x.in.content(maxPiece)
	if err != nil {
		return err
	}
	if len(b) < 4 || !record.SumOK(nil, b) {
		return fmt.Errorf("%w: entry %s does not have its checksum", errBackup, x.in.name)
	}
	if err := x.space.Room(max(0, x.opts.MinFree), 0); err != nil {
		return err
	}
	for rest := b[4:]; len(rest) > 0; {
		var key, value []byte
		var version uint64
		if key, version, value, rest, err = cutEntry(rest); err != nil {
			return fmt.Errorf("%w: entry %s: %w", errBackup, x.in.name, err)
		}
		if err := e.Set(key, value, version); err != nil {
			return fmt.Errorf("entry %s: %w", x.in.name, err)
		}
	}
	return nil
}

// finish notes what is missing, and makes the directory one that can be opened.
func (x *restore) finish() error {
	for _, m := range x.head.Missing {
		if err := x.missing(m); err != nil {
			return err
		}
		x.stats.Missing = append(x.stats.Missing, m.Name+": "+m.Reason)
	}
	text := fmt.Appendf(nil, "{\"format\":%d}\n", x.head.Format)
	if err := disk.WriteFile(filepath.Join(x.dir, RestoringFile), text); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(x.dir, RestoringFile), filepath.Join(x.dir, x.opts.FormatFile)); err != nil {
		return err
	}
	return disk.SyncDir(x.dir)
}

// missing notes what the backup does not have.
func (x *restore) missing(m missing) error {
	reason := fmt.Sprintf("left out of the backup of %s: %s", x.head.Made.Format(time.RFC3339), m.Reason)
	if _, ok := rollups.ParseAsideName(m.Name); ok {
		return rollups.WriteAside(x.dir, m.Name, reason, m.Sums)
	}
	of, ok := part.ParseAsideName(m.Name)
	if _, isPartition := part.ParseName(of); !ok || !isPartition {
		return fmt.Errorf("%w: %q is not the name of something that was set aside", errBackup, m.Name)
	}
	return part.WriteAside(x.dir, m.Name, reason, m.Contents)
}
