package encode

import (
	"bytes"
	"testing"
)

// dump returns the output of Dump.
func dump(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Dump(&b, data); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
