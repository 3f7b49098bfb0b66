package store

import (
	"os"
	"path/filepath"
)

const ballastFile = "BALLAST"

// ballastBytes returns the size of the ballast in dir.
func ballastBytes(dir string) int64 {
	fi, err := os.Stat(filepath.Join(dir, ballastFile))
	if err != nil {
		return 0
	}
	return diskBytes(fi)
}
