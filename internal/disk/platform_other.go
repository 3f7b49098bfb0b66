//go:build !unix

package disk

import (
	"errors"
	"io/fs"
	"os"
)

// errPlatform: Badger has no durable writes and no read-only mode here, see docs/storage.md.
var errPlatform = errors.New("the store does not run on this system")

func tryFlock(*os.File, bool) error { return errPlatform }

func unlock(*os.File) error { return errPlatform }

func Bytes(fi fs.FileInfo) int64 { return fi.Size() }

func freeSpace(string) (bytes, inodes int64, err error) { return 0, 0, errPlatform }
