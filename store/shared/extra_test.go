package shared

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fieldtrie/fieldtrie/store/objects"
	"github.com/fieldtrie/fieldtrie/store/shared/layout"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
)

// Fields that a later release has written to a manifest are kept when this release rolls up and
// closes the hour.
func TestUnknownFields(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := fakebucket.New(1)
		n := openNode(t, s, Options{Flush: time.Millisecond, Shards: 1})
		appendTo(t, n, 1)
		settleNode(t.Context(), n, 1)
		m, tag, err := n.b.Manifest(t.Context(), 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		later, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		later = bytes.Replace(later, []byte("{"), []byte(`{"later":{"a":1},`), 1)
		for name := range m.Hours {
			hour := []byte(`"` + name + `":{`)
			later = bytes.Replace(later, hour, append(hour, `"later_hour":[2],`...), 1)
		}
		m = &layout.Manifest{}
		if err := json.Unmarshal(later, m); err != nil {
			t.Fatal(err)
		}
		m.Nonce = "of a later release"
		body, err := m.Encode(n.b.Codec, 0)
		if err == nil {
			_, err = n.b.Put(t.Context(), layout.ManifestKey(0), body, objects.Is(tag))
		}
		if err != nil {
			t.Fatal(err)
		}
		appendTo(t, n, 2)
		settleNode(t.Context(), n, 2)
		time.Sleep(2 * time.Hour)
		settleNode(t.Context(), n, 2)
		if m, _, err = n.b.Manifest(t.Context(), 0, 0); err != nil || m.Nonce == "of a later release" {
			t.Fatal("the manifest was not replaced", err)
		}
		text, err := json.Marshal(m)
		if err != nil || strings.Count(string(text), `"later":{"a":1}`) != 1 || strings.Count(string(text),
			`"later_hour":[2]`) != 1 {
			t.Errorf("%v: %s", err, text)
		}
		if v := verified(t, n); len(v.Findings) > 0 {
			t.Error(v.Findings)
		}
	})
}
