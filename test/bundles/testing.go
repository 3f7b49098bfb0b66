package bundles

import (
	"os"
	"testing"
)

// Dir returns the folder of builds that the environment variable SOURCEMAPS names. They hold
// packages of others, so they are not part of this project, and the test is skipped without them.
func Dir(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("SOURCEMAPS")
	if dir == "" {
		t.Skip("SOURCEMAPS names no folder of builds")
	}
	return dir
}
