package encode

import (
	"bytes"
	"testing"
)

// dump returns what Dump writes.
func dump(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Dump(&b, data); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
