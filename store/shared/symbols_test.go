package shared

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/symbols"
	"github.com/fieldtrie/fieldtrie/symbols/tables"
	"github.com/fieldtrie/fieldtrie/test/fakebucket"
)

// Symbols that are sent to one node are available on all nodes, even if responses of the store are
// lost. A damaged table counts as missing.
func TestSymbols(t *testing.T) {
	server := fakebucket.New(3)
	a, b := openNode(t, server, Options{}), openNode(t, server, Options{})
	server.Faults = 0.1
	at := func(n *Node) *tables.Store {
		t.Helper()
		s, err := tables.Open(n.Symbols(), tables.Options{Now: n.Now})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	first, second := at(a), at(b)
	table := &symbols.Table{Script: sha256.Sum256([]byte("app")), Sources: []symbols.Source{{Name: "src/a.ts"}},
		Functions: []symbols.Function{{Line: 1, Column: 1, Name: "paint", Way: symbols.Start}}}
	var body bytes.Buffer
	if err := symbols.Encode(&body, table); err != nil {
		t.Fatal(err)
	}
	hash := fmt.Sprintf("%x", table.Script)
	if stored, err := first.Put(hash, body.Bytes()); err != nil || !stored {
		t.Fatalf("got %v, %v", stored, err)
	}
	u := symbols.Upload{Release: "1.0", Scripts: []symbols.Script{{Path: "app.js", SHA256: hash}}}
	if _, created, err := second.AddUpload(u); err != nil || !created {
		t.Fatalf("got %v, %v", created, err)
	}
	if err := first.Refresh(); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*tables.Store{first, second, at(a)} {
		got, err := s.Table(hash)
		if err != nil || len(got.Functions) != 1 || got.Functions[0].Name != "paint" || len(s.Uploads()) != 1 {
			t.Errorf("got %+v, %v", got, err)
		}
	}
	server.Faults = 0
	server.Deliver()
	if err := a.Symbols().Write("tables/"+hash[:2]+"/"+hash, body.Bytes()[:20]); err != nil {
		t.Fatal(err)
	}
	if _, err := at(b).Table(hash); !errors.Is(err, symbols.ErrMalformed) {
		t.Errorf("got %v", err)
	}
	later := func() time.Time { return time.Now().Add(500 * 24 * time.Hour) }
	s, err := tables.Open(a.Symbols(), tables.Options{Now: later})
	if err == nil {
		err = s.Sweep()
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Symbols().Read("tables/"+hash[:2]+"/"+hash, 1<<20); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the table was not deleted after its retention: %v", err)
	}
}
