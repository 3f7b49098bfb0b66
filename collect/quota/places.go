package quota

import (
	"net/netip"
	"slices"
)

// places are the names of one kind that have a place in an hour. Names are told apart by a
// hash, so that it does not matter how long they are.
//
// A name that came from several networks is nobody's. The others are shared out: when all
// places are taken, a new name gets that of the newest name of the network that has the most,
// if the network of the new one has fewer by more than one; and so between sites.
type places struct {
	most  int
	kept  map[uint64]bool // the names for which a place is kept
	taken map[uint64]*place
	fresh int // of the taken: those for which none is kept
	full  bool
	moved int // places that went from one name to another
	sites map[string]*holding
}

// Sender is who sends a name, as far as names are shared out.
type Sender struct {
	Site    string       // "" without
	Network netip.Prefix // the zero Prefix if that is not known
}

// place is that of a name.
type place struct {
	owner Sender         // who sent it first
	from  []netip.Prefix // networks that sent it, manyNetworks at most
}

// manyNetworks is from how many networks a name comes that is not one client's invention.
const manyNetworks = 3

// holding is what clients of one site hold that no others sent.
type holding struct {
	names    int
	networks map[netip.Prefix][]uint64
	top      int // no network has more names
}

func newPlaces(most int, kept map[uint64]bool) *places {
	return &places{most: most, kept: kept, taken: map[uint64]*place{}, sites: map[string]*holding{}}
}

// take reports whether a name that somebody sends has a place or gets one. lost is the name
// that has none any more for it, 0 for none.
func (p *places) take(name uint64, who Sender) (ok bool, lost uint64) {
	if x := p.taken[name]; x != nil {
		p.seen(name, x, who)
		return true, 0
	}
	if !p.kept[name] && p.fresh+len(p.kept) >= p.most {
		p.full = true
		if lost = p.displaced(who); lost == 0 {
			return false, 0
		}
		p.release(lost)
		p.moved++
	}
	p.add(name, who)
	return true, lost
}

func (p *places) add(name uint64, who Sender) {
	x := &place{owner: who}
	if who.Network.IsValid() {
		x.from = []netip.Prefix{who.Network}
	}
	p.taken[name] = x
	if p.kept[name] {
		return
	}
	p.fresh++
	h := p.sites[who.Site]
	if h == nil {
		h = &holding{networks: map[netip.Prefix][]uint64{}}
		p.sites[who.Site] = h
	}
	h.names++
	h.networks[who.Network] = append(h.networks[who.Network], name)
	h.top = max(h.top, len(h.networks[who.Network]))
}

// seen notes that a name that has a place came once more.
func (p *places) seen(name uint64, x *place, who Sender) {
	if len(x.from) >= manyNetworks || !who.Network.IsValid() || slices.Contains(x.from, who.Network) {
		return
	}
	x.from = append(x.from, who.Network)
	if len(x.from) == manyNetworks {
		p.sites[x.owner.Site].drop(x.owner.Network, name)
	}
}

// release takes the place of a name away.
func (p *places) release(name uint64) {
	x := p.taken[name]
	delete(p.taken, name)
	p.fresh--
	p.sites[x.owner.Site].drop(x.owner.Network, name)
}

// drop takes a name off what a network holds, if it is there.
func (h *holding) drop(network netip.Prefix, name uint64) {
	if h == nil {
		return
	}
	names := h.networks[network]
	i := slices.Index(names, name)
	if i < 0 {
		return
	}
	h.names--
	if names = slices.Delete(names, i, i+1); len(names) == 0 {
		delete(h.networks, network)
	} else {
		h.networks[network] = names
	}
}

// displaced returns the name whose place one of who's gets, 0 if there is none. So many places
// go from one name to another that an hour has half as many names more than places at most.
func (p *places) displaced(who Sender) uint64 {
	if p.moved >= p.most/2 {
		return 0
	}
	own := p.sites[who.Site]
	if own == nil {
		own = &holding{}
	}
	most, fewer := own, len(own.networks[who.Network])+1
	for _, h := range p.sites {
		if h.names > most.names && h.names > own.names+1 {
			most, fewer = h, 0 // another site has more, whichever network of it
		}
	}
	if most.top <= fewer {
		return 0
	}
	var of []uint64
	for _, names := range most.networks {
		if len(names) > len(of) {
			of = names
		}
	}
	most.top = len(of)
	if len(of) <= fewer {
		return 0
	}
	return of[len(of)-1]
}

// trusted returns the names that may be a site's own: in an hour in which there were not
// places for all, those that several networks sent, or of which that is not known.
func (p *places) trusted() []uint64 {
	var out []uint64
	for n, x := range p.taken {
		if !p.full || len(x.from) != 1 || p.kept[n] {
			out = append(out, n)
		}
	}
	return out
}
