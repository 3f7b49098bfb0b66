package shared

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store/objects"
)

// The time of the last backup is kept, and an unreadable time is an error. A backup does not
// include it.
func TestBackedUp(t *testing.T) {
	for _, home := range []string{"directory", "bucket"} {
		t.Run(home, func(t *testing.T) {
			ctx, place := t.Context(), emptyPlace(t, home == "bucket", time.Now)
			n, err := Open(ctx, place, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = n.Close(ctx) }()
			if at, err := n.BackedUp(ctx); !at.IsZero() || err != nil {
				t.Fatalf("empty: got %v %v", at, err)
			}
			for _, at := range []time.Time{time.Unix(1e9, 0), time.Unix(2e9, 0)} {
				if err := n.SetBackedUp(ctx, at); err != nil {
					t.Fatal(err)
				}
				if got, err := n.BackedUp(ctx); !got.Equal(at) || err != nil {
					t.Errorf("set %v: got %v %v", at, got, err)
				}
			}
			var stream bytes.Buffer
			if _, err := n.Backup(ctx, &stream); err != nil || strings.Contains(stream.String(), backedKey) {
				t.Errorf("the backup contains the time of the last one, or failed: %v", err)
			}
			for _, bad := range []string{"", "yesterday", strings.Repeat("2", 1000)} {
				if _, err := n.b.Put(ctx, backedKey, []byte(bad), objects.Condition{}); err != nil {
					t.Fatal(err)
				}
				if got, err := n.BackedUp(ctx); err == nil {
					t.Errorf("%q is read as %v", bad, got)
				}
			}
		})
	}
}
