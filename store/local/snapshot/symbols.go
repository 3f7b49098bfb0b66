package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/fieldtrie/fieldtrie/internal/disk"
)

// symbolsGroup is the group of the symbols of builds, and their folder in a data directory.
const symbolsGroup = "symbols"

// symbolsFile matches the files of symbols: tables, and uploads, which name tables. The store
// knows no more of them than that each is written once and whole.
var symbolsFile = regexp.MustCompile(`^tables/([0-9a-f]{2})/[0-9a-f]{64}$|^uploads/[0-9A-Za-z.-]{1,80}\.json$`)

// eachSymbolsFile calls f with each file of symbols in a data directory, and its path in their
// folder. Tables come first.
func eachSymbolsFile(dir string, f func(file, name string, info fs.FileInfo) error) error {
	root := filepath.Join(dir, symbolsGroup)
	return filepath.WalkDir(root, func(file string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // as it may be deleted meanwhile
		}
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		if name = filepath.ToSlash(name); !symbolsFile.MatchString(name) {
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return nil
		}
		return f(file, name, info)
	})
}

// symbolsBytes returns how many bytes the symbols in a data directory are.
func symbolsBytes(dir string) (n int64, err error) {
	err = eachSymbolsFile(dir, func(_, _ string, info fs.FileInfo) error {
		n += info.Size()
		return nil
	})
	return n, err
}

// symbols writes the symbols that are there now.
func (b *backup) symbols(h head) error {
	if h.Symbols == 0 {
		return nil
	}
	b.archive.begin(symbolsGroup)
	err := eachSymbolsFile(b.Dir, func(file, name string, _ fs.FileInfo) error {
		if err := b.ctx.Err(); err != nil {
			return context.Cause(b.ctx)
		}
		err := b.archive.putFile(file, name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("symbols: %w", err)
	}
	return b.archive.endGroup()
}

// symbols restores the symbols. It ends at the entry behind them.
func (x *restore) symbols() error {
	root := filepath.Join(x.dir, symbolsGroup)
	folders := []string{root, filepath.Join(root, "tables"), filepath.Join(root, "uploads")}
	made := map[string]bool{}
	for _, folder := range folders {
		if err := os.Mkdir(folder, 0o700); err != nil {
			return err
		}
	}
	for {
		name, ok := strings.CutPrefix(x.in.name, symbolsGroup+"/")
		if !ok {
			return fmt.Errorf("%w: %s ends without %s", errBackup, symbolsGroup, sumsEntry)
		}
		x.say(symbolsGroup)
		if name == sumsEntry {
			break
		}
		if !symbolsFile.MatchString(name) {
			return fmt.Errorf("%w: entry %q is not a file of symbols", errBackup, x.in.name)
		}
		if folder := path.Dir(name); folder != "uploads" && !made[folder] {
			made[folder] = true
			folders = append(folders, filepath.Join(root, folder))
			if err := os.Mkdir(filepath.Join(root, folder), 0o700); err != nil {
				return err
			}
		}
		if err := x.file(filepath.Join(root, name)); err != nil {
			return err
		}
		x.in.done()
		if err := x.in.next(); err != nil {
			return err
		}
	}
	if err := x.in.sums(symbolsGroup); err != nil {
		return err
	}
	for _, folder := range folders {
		if err := disk.SyncDir(folder); err != nil {
			return err
		}
	}
	return x.in.next()
}
