package shared

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
)

// If several nodes replace the same version of the state of changes, one of them succeeds. A backup
// contains the state, and Verify checks it. An unreadable state is quarantined unchanged.
func TestChanges(t *testing.T) {
	for _, home := range []string{"directory", "bucket"} {
		t.Run(home, func(t *testing.T) {
			ctx := t.Context()
			n, err := Open(ctx, emptyPlace(t, home == "bucket", time.Now), Options{})
			if err != nil {
				t.Fatal(err)
			}
			d := n.Changes()
			if content, version, err := d.Load(ctx); content != nil || version != "" || err != nil {
				t.Fatalf("empty: got %q %q %v", content, version, err)
			}
			first, err := d.Save(ctx, []byte("1"), "")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := d.Save(ctx, []byte("2"), ""); !errors.Is(err, store.ErrReplaced) {
				t.Errorf("a second initial version: got %v", err)
			}
			second, err := d.Save(ctx, []byte("2"), first)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := d.Save(ctx, []byte("3"), first); !errors.Is(err, store.ErrReplaced) {
				t.Errorf("replacing an older version: got %v", err)
			}
			if content, version, err := d.Load(ctx); string(content) != "2" || version != second || err != nil {
				t.Errorf("%q %q %v", content, version, err)
			}
			if _, err := d.Save(ctx, make([]byte, layout.MaxChanges+1), second); err == nil {
				t.Error("a state beyond the limit is saved")
			}
			if v := verified(t, n); len(v.Findings) > 0 {
				t.Error(v.Findings)
			}
			var b bytes.Buffer
			if stats, err := n.Backup(ctx, &b); err != nil || len(stats.Wrong) > 0 {
				t.Fatal(err, stats.Wrong)
			}
			to := emptyPlace(t, home == "directory", time.Now)
			if stats := restored(t, b.Bytes(), to); len(stats.Wrong) > 0 {
				t.Error(stats.Wrong)
			}
			r, err := OpenReader(ctx, to, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if content, _, err := r.Changes().Load(ctx); string(content) != "2" || err != nil {
				t.Errorf("restored: %q %v", content, err)
			}
			damageChanges(t, n)
		})
	}
}

// damageChanges flips a bit in each byte in turn.
func damageChanges(t *testing.T, n *Node) {
	t.Helper()
	ctx, d := t.Context(), n.Changes()
	sound, err := n.b.Get(ctx, layout.ChangesKey, layout.MaxChanges, "")
	if err != nil {
		t.Fatal(err)
	}
	for i := range sound.Body {
		body := bytes.Clone(sound.Body)
		body[i] ^= 4
		if _, err := n.b.Put(ctx, layout.ChangesKey, body, objects.Condition{}); err != nil {
			t.Fatal(err)
		}
		_, version, err := d.Load(ctx)
		if !errors.Is(err, store.ErrDamaged) || version == "" || !strings.Contains(err.Error(), layout.ChangesKey) {
			t.Fatalf("byte %d: %q %v", i, version, err)
		}
		if i > 0 {
			continue
		}
		if v := verified(t, n); len(v.Findings) != 1 || v.Findings[0].Object != layout.ChangesKey {
			t.Errorf("damaged: %+v", v.Findings)
		}
		name, err := d.Quarantine(ctx, version)
		if err != nil {
			t.Fatal(err)
		}
		key := strings.TrimPrefix(name, n.b.Name())
		if got, err := n.b.Get(ctx, key, layout.MaxChanges, ""); err != nil || !bytes.Equal(got.Body, body) {
			t.Errorf("quarantined as %s: %v", key, err)
		}
		if _, err := d.Quarantine(ctx, version); err != nil {
			t.Errorf("quarantined again: %v", err)
		}
		if _, err := d.Quarantine(ctx, "another"); !errors.Is(err, store.ErrReplaced) {
			t.Errorf("another version: %v", err)
		}
		if _, err := d.Save(ctx, []byte("new"), version); err != nil {
			t.Fatal(err)
		}
		if v := verified(t, n); len(v.Findings) != 1 || v.Findings[0].Object != key {
			t.Errorf("quarantined: %+v", v.Findings)
		}
	}
}
