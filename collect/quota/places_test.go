package quota

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"
)

func fromNetwork(n int) Sender {
	return Sender{Network: netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(n >> 8), byte(n), 0}), 24)}
}

// TestOneNetworkTakesNoPlaces checks that a network that sends thousands of names gets only unused
// places, and that names from many networks keep theirs.
func TestOneNetworkTakesNoPlaces(t *testing.T) {
	const most, site, flood = 200, 90, 2000
	b := Budget{most: most}
	b.Start(noon, "page", nil)
	at := noon
	places := func(prefix string, n int, who Sender) (found int) {
		for i := range n {
			if ok, _ := b.Take("page", fmt.Sprint(prefix, i), who, at); ok {
				found++
			}
		}
		return found
	}
	for hour := range 4 {
		if got := places("/flood-", flood, fromNetwork(1)); got != most-hour/2*site {
			t.Errorf("hour %d: the flood has %d places", hour, got) // from the third hour on, places are reserved
		}
		for n := range 20 { // visitors of the site, each of all pages
			if got := places("/page-", site, fromNetwork(100+n)); got != site {
				t.Fatalf("hour %d: visitor %d: %d of %d pages have a place", hour, n, got, site)
			}
		}
		if got := places("/later-", flood, fromNetwork(2)); got == 0 || got > most-site {
			t.Errorf("hour %d: a second flood has %d places", hour, got)
		}
		if got := places("/page-", site, fromNetwork(3)); got != site {
			t.Errorf("hour %d: %d of %d pages have a place after it", hour, got, site)
		}
		at = at.Add(time.Hour)
	}
}

// TestOneSiteTakesNoPlaces checks that two sites share the places: a site with identifiers in its
// pages takes none from the other, however many networks its visitors use.
func TestOneSiteTakesNoPlaces(t *testing.T) {
	const most = 100
	for _, known := range []bool{true, false} {
		b := Budget{most: most}
		b.Start(noon, "page", nil)
		who := func(site string, n int) Sender {
			c := Sender{Site: site}
			if known {
				c.Network = fromNetwork(n).Network
			}
			return c
		}
		for i := range 3000 {
			b.Take("page", fmt.Sprint("/order/", i), who("shop", i), noon)
		}
		found := 0
		for i := range 40 {
			if ok, _ := b.Take("page", fmt.Sprint("/article-", i), who("news", i), noon); ok {
				found++
			}
		}
		if found != 40 {
			t.Errorf("networks known %t: %d of 40 pages of the other site have a place", known, found)
		}
	}
}

// TestOneNetworkTakesNoKinds checks that keys of labels are shared like names.
func TestOneNetworkTakesNoKinds(t *testing.T) {
	b := Budget{most: 10}
	b.Start(noon, "page", nil)
	for i := range 200 {
		b.Take(fmt.Sprint("spam-", i), "x", fromNetwork(1), noon)
	}
	for i := range 20 {
		if ok, _ := b.Take(fmt.Sprint("label-", i), "x", fromNetwork(2), noon); !ok {
			t.Errorf("label %d has no place", i)
		}
	}
	if len(b.names) > maxKinds {
		t.Errorf("%d kinds", len(b.names))
	}
}

// TestPlaces checks with random senders that there are never more names than places, not many more
// in an hour, that counters are right, and that a network loses a name only to one with fewer.
func TestPlaces(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 7))
		p := newPlaces(1+r.IntN(40), map[uint64]bool{1: true})
		if p.most == 1 {
			p.kept = nil
		}
		had := map[uint64]bool{}
		networks := 1 + r.IntN(8)
		for range 2000 {
			who := Sender{Site: fmt.Sprint(r.IntN(1 + r.IntN(3)))}
			if n := r.IntN(networks + 1); n > 0 {
				who.Network = fromNetwork(n).Network
			}
			name := 1 + r.Uint64N(1+r.Uint64N(300))
			owner := map[uint64]Sender{}
			for n, x := range p.taken {
				owner[n] = x.owner
			}
			before := 0
			if h := p.sites[who.Site]; h != nil {
				before = len(h.networks[who.Network])
			}
			ok, lost := p.take(name, who, 0)
			if ok != (p.taken[name] != nil) {
				t.Fatalf("seed %d: %d: got %t", seed, name, ok)
			}
			if lost != 0 {
				of := owner[lost]
				left := len(p.sites[of.Site].networks[of.Network])
				if p.taken[lost] != nil || p.kept[lost] || of.Site == who.Site && left < before+1 {
					t.Fatalf("seed %d: %d of %v, with %d left, was replaced for %v, with %d", seed, lost, of, left,
						who, before)
				}
			}
			checkPlaces(t, p)
			for n := range p.taken {
				had[n] = true
			}
		}
		if len(had) > p.most+p.most/2 {
			t.Fatalf("seed %d: %d names used %d places", seed, len(had), p.most)
		}
	}
}

func checkPlaces(t *testing.T, p *places) {
	t.Helper()
	if len(p.taken) > p.most {
		t.Fatalf("%d of %d places are in use", len(p.taken), p.most)
	}
	held := 0
	for _, h := range p.sites {
		names := 0
		for _, n := range h.networks {
			names += len(n)
			if len(n) > h.top || len(n) == 0 {
				t.Fatalf("a network has %d names, the most is %d", len(n), h.top)
			}
			for _, name := range n {
				if p.taken[name] == nil {
					t.Fatalf("%d is counted for a network and has no place", name)
				}
			}
		}
		if names != h.names {
			t.Fatalf("networks have %d names, %d are counted", names, h.names)
		}
		held += names
	}
	shared, fresh := 0, 0
	for n, x := range p.taken {
		if !p.kept[n] {
			fresh++
			if len(x.from) == manyNetworks {
				shared++
			}
		}
	}
	if held+shared != fresh || fresh != p.fresh {
		t.Fatalf("%d of one network, %d of many, %d without a known network, %d counted", held, shared, fresh, p.fresh)
	}
}

// TestFewRequestsTakeNoPlaces checks without known networks that a few requests with many names
// take no place from names of page views, whichever come first.
func TestFewRequestsTakeNoPlaces(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 11))
		most := 40 + r.IntN(400)
		b := New(most)
		invented := 0
		flood := func() {
			for range r.IntN(most / 16) {
				who := Sender{Request: new(Request)}
				for range r.IntN(2 * most) {
					invented++
					b.Take("page", fmt.Sprint("/flood-", invented), who, noon)
				}
			}
		}
		flood()
		own := 1 + r.IntN(most/8)
		for view := range 4 {
			for i := range own {
				who := Sender{Request: new(Request)}
				for range r.IntN(3) { // views of other pages come first
					b.Take("page", fmt.Sprint("/own-", r.IntN(own)), who, noon)
				}
				b.Take("page", fmt.Sprint("/own-", i), who, noon)
			}
			if view == 2 {
				flood()
			}
		}
		flood()
		for i := range own {
			if ok, _ := b.Take("page", fmt.Sprint("/own-", i), Sender{Request: new(Request)}, noon); !ok {
				t.Fatalf("seed %d: page %d of %d has no place of %d, after a flood of %d", seed, i, own, most, invented)
			}
		}
		if n := len(b.names[hashOf("page")].waiting); n > most {
			t.Fatalf("seed %d: %d names wait for %d places", seed, n, most)
		}
		// Names that a flood invented are not reserved later; names with page views are.
		b.Take("page", "/own-0", Sender{Request: new(Request)}, noon.Add(time.Hour))
		b.Take("page", "/own-0", Sender{Request: new(Request)}, noon.Add(2*time.Hour))
		if n := len(b.earlier[hashOf("page")]); invented > most && n > own+most/4 {
			t.Fatalf("seed %d: %d names are known for later, of %d that are the site's and %d invented ones", seed, n,
				own, invented)
		}
	}
}
