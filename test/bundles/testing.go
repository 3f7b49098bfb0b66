package bundles

import (
	"os"
	"testing"
)

// Dir returns the folder of builds in the environment variable SOURCEMAPS. Builds contain
// third-party packages, so they are not part of this project, and the test is skipped
// without them.
func Dir(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("SOURCEMAPS")
	if dir == "" {
		t.Skip("SOURCEMAPS names no folder of builds")
	}
	return dir
}
