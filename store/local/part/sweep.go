package part

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/dgraph-io/badger/v4"
)

// sweep takes away what a crash can leave half-made or half-deleted in the partition in
// dir, and what Badger then refuses the whole partition for. It is called before Badger
// opens it for writing.
//
// Logs (*.mem, *.vlog) are created empty and sized after that, and emptied before they are
// removed. In between nothing is in them, or all of it is in a table. Badger takes one
// for a new file where it expects an old one, and ends with "Create a new file".
//
// Badger notes keys for encryption in KEYREGISTRY and at the head of each log. Nothing is
// encrypted here, so there is nothing to lose in either, and still Badger opens no
// partition in which they are damaged.
//
// The rest is harmless: DISCARD is made anew if it is empty, *-REWRITE are overwritten,
// and tables that the manifest does not name are seen to by hideOrphans.
func sweep(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case strings.HasSuffix(e.Name(), ".mem"), strings.HasSuffix(e.Name(), ".vlog"):
			err = sweepLog(path)
		case e.Name() == badger.KeyRegistryFileName:
			err = sweepKeys(path)
		}
		if err != nil {
			return fmt.Errorf("sweep %s: %w", e.Name(), err)
		}
	}
	return nil
}

// sweepLog removes an empty log, and repairs the head of one that is not. The head is the
// number of a key, u64, and 12 bytes that count only with a key.
func sweepLog(path string) error {
	fi, err := os.Stat(path)
	if err != nil {
		return err
	}
	if fi.Size() == 0 {
		return os.Remove(path)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	key, none := make([]byte, 8), make([]byte, 8)
	if _, err = f.ReadAt(key, 0); err == nil && !bytes.Equal(key, none) {
		_, err = f.WriteAt(none, 0)
	}
	if errors.Is(err, io.EOF) {
		err = nil // shorter than a head: Badger makes it anew
	}
	return errors.Join(err, f.Close())
}

// keysHead is what stands in KEYREGISTRY after 16 random bytes. No keys come after it.
const (
	keysRandom = 16
	keysHead   = "Hello Badger"
)

// sweepKeys removes a damaged list of keys. Badger makes it anew.
func sweepKeys(path string) error {
	b, err := os.ReadFile(path)
	if err == nil && (len(b) != keysRandom+len(keysHead) || string(b[keysRandom:]) != keysHead) {
		err = os.Remove(path)
	}
	return err
}
