package tables

import (
	"slices"
	"testing"

	"github.com/fieldtrie/fieldtrie/symbols"
)

// Data sent to the store of a site is in no other store, and remains after all stores are reopened.
func TestSites(t *testing.T) {
	f := newMemory()
	open := func() *Sites {
		s, err := OpenSites(f, Options{}, 2)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := open()
	hashes := map[string]string{}
	for i, name := range []string{"", "shop", "blog"} {
		x := s.Shared()
		if name != "" {
			var err error
			if x, err = s.Site(name); err != nil {
				t.Fatal(err)
			}
		}
		hash, b := body(t, i+1, 5)
		if _, err := x.Put(hash, b); err != nil {
			t.Fatal(err)
		}
		if _, _, err := x.AddUpload(symbols.Upload{Release: name, Scripts: []symbols.Script{{Path: "a.js",
			SHA256: hash}}}); err != nil {
			t.Fatal(err)
		}
		hashes[name] = hash
	}
	for range 2 {
		all := s.All()
		if len(all) != 3 || s.Stats().Uploads != 3 || s.Stats().Tables != 3 {
			t.Fatalf("%d stores, %+v", len(all), s.Stats())
		}
		for name, x := range all {
			if u := x.Uploads(); len(u) != 1 || u[0].Release != name {
				t.Errorf("%q: uploads %+v", name, u)
			}
			for of, hash := range hashes {
				if x.Has(hash) != (of == name) {
					t.Errorf("%q has the table of %q: %t", name, of, !(of == name))
				}
			}
		}
		if err := s.Sweep(); err != nil {
			t.Fatal(err)
		}
		s = open()
	}
	r, err := OpenSitesReader(f)
	if err != nil || len(r.All()) != 3 {
		t.Errorf("a reader: %d stores, %v", len(r.All()), err)
	}
	for _, bad := range []string{"", "..", "a/b", "A", string(slices.Repeat([]byte("a"), 33))} {
		if _, err := s.Site(bad); err == nil {
			t.Errorf("%q is accepted as the name of a site", bad)
		}
	}
}
