package changes

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/query/watch"
	"github.com/fieldtrie/fieldtrie/store"
)

// memo is a document in memory.
type memo struct {
	text []byte
	n    int
}

func (m *memo) version() string { return fmt.Sprint(m.n) }

func (m *memo) Load(context.Context) ([]byte, string, error) { return m.text, m.version(), nil }

func (m *memo) Save(_ context.Context, text []byte, over string) (string, error) {
	if over != m.version() {
		return "", store.ErrReplaced
	}
	m.text, m.n = text, m.n+1
	return m.version(), nil
}

func (m *memo) Quarantine(context.Context, string) (string, error) { return "", nil }

// TestForget removes pages from random changes. Their names must not remain anywhere, and other
// pages must not change.
func TestForget(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	pages := []string{"/secret/a", "/secret/b", "/feed", "/cart"}
	gone := func(page string) bool { return strings.HasPrefix(page, "/secret") }
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		r := NewRegister()
		r.Memory.Pages = map[string]watch.PageMemory{}
		var found []watch.Change
		left, outbox := map[string]int{}, 0
		for range rnd.IntN(8) {
			c := testChange(rnd)
			c.Pages = nil
			for _, page := range pages {
				if rnd.IntN(2) == 0 {
					c.Pages = append(c.Pages, watch.PageChange{Page: page})
				}
				if rnd.IntN(3) == 0 {
					c.Consequences = append(c.Consequences, watch.Consequence{Page: page})
				}
				r.Memory.Pages[page] = watch.PageMemory{Release: "A"}
			}
			if len(c.Pages) == 0 {
				c.Pages = []watch.PageChange{{Page: pages[rnd.IntN(4)]}}
			}
			found = append(found, c)
			if n := len(slices.DeleteFunc(slices.Clone(c.Pages), func(p watch.PageChange) bool {
				return gone(p.Page)
			})); n > 0 {
				left[c.ID] = n
			}
		}
		memory := r.Memory
		r.Apply(watch.Evaluation{Found: found, Memory: memory}, now, now)
		for _, n := range r.Outbox {
			if left[n.Change] > 0 {
				outbox++
			}
		}
		text, err := r.Encode(now)
		if err != nil {
			t.Fatal(err)
		}
		doc := &memo{text: text, n: 1}
		b := NewBoard(doc, nil, watch.Settings{}, BoardOptions{Now: func() time.Time { return now }})
		if err := b.Forget(t.Context(), gone); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(doc.text), "secret") {
			t.Errorf("seed %d: a page is still named: %s", seed, doc.text)
		}
		got, err := DecodeRegister(doc.text)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Changes) != len(left) || len(got.Outbox) != outbox {
			t.Errorf("seed %d: %d changes and %d notifications are left, want %d and %d", seed, len(got.Changes),
				len(got.Outbox), len(left), outbox)
		}
		for _, c := range got.Changes {
			if len(c.Pages) != left[c.ID] {
				t.Errorf("seed %d: change %s has %d pages, want %d", seed, c.ID, len(c.Pages), left[c.ID])
			}
		}
		saves := doc.n
		if err := b.Forget(t.Context(), gone); err != nil || doc.n != saves {
			t.Errorf("seed %d: the register is saved without a change: %v", seed, err)
		}
	}
}
