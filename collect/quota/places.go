package quota

import (
	"math"
	"net/netip"
	"slices"
)

// places are the names of one kind that have a place in an hour. Names are told apart by a
// hash, so that it does not matter how long they are.
//
// A name that came from several networks is nobody's. The others are shared out: when all
// places are taken, a new name gets that of the newest name of the network that has the most,
// if the network of the new one has fewer by more than one; and so between sites.
//
// Where networks are not known, requests vote for the names that they bring: each has one vote for the first, half a one for
// the second, and so on. A new name gets the place of the one with the fewest votes if it has more than twice as many. So who brings
// many names in one request gets few places.
type places struct {
	most  int
	kept  map[uint64]bool // the names for which a place is kept
	taken map[uint64]*place
	fresh int // of the taken: those for which none is kept
	full  bool
	moved int // places that went from one name to another
	sites map[string]*holding

	waiting map[uint64]float64 // votes for names that have no place, for so many names as there are places
}

// Sender is who sends a name, as far as names are shared out.
type Sender struct {
	Site    string       // "" without
	Network netip.Prefix // the zero Prefix if that is not known
	Request *Request     // what votes if so; nil if nothing does
}

// enoughVotes are needed for the place of another name: those of the fourth name of a request. Else a request with a thousand names
// could use up what may change places in an hour.
const enoughVotes = 1.0 / 4

// Request counts the names that a request brings. It is for one goroutine.
type Request struct{ names map[uint64]int }

// vote returns what the next name of a kind that a request brings is worth, 0 if requests do not vote.
func (s *Sender) vote(kind uint64) float64 {
	if s.Request == nil || s.Network.IsValid() {
		return 0
	}
	if s.Request.names == nil {
		s.Request.names = map[uint64]int{}
	}
	s.Request.names[kind]++
	return 1 / float64(s.Request.names[kind])
}

// place is that of a name.
type place struct {
	owner Sender         // who sent it first
	from  []netip.Prefix // networks that sent it, manyNetworks at most
	votes float64
}

// manyNetworks is from how many networks a name comes that is not one client's invention.
const manyNetworks = 3

// holding is what clients of one site hold that no others sent.
type holding struct {
	names    int
	networks map[netip.Prefix][]uint64
	top      int     // no network has more names
	low      float64 // no name of the unknown network has fewer votes
}

func newPlaces(most int, kept map[uint64]bool) *places {
	return &places{most: most, kept: kept, taken: map[uint64]*place{}, sites: map[string]*holding{}}
}

// take reports whether a name that somebody sends has a place or gets one. lost is the name
// that has none any more for it, 0 for none.
func (p *places) take(name uint64, who Sender, vote float64) (ok bool, lost uint64) {
	if x := p.taken[name]; x != nil {
		x.votes += vote
		p.seen(name, x, who)
		return true, 0
	}
	if !p.kept[name] && p.fresh+len(p.kept) >= p.most {
		p.full = true
		vote += p.waiting[name]
		if lost = p.displaced(who, vote); lost == 0 {
			p.wait(name, vote)
			return false, 0
		}
		p.release(lost)
		p.moved++
		delete(p.waiting, name)
	}
	p.add(name, who, vote)
	return true, lost
}

// wait keeps the votes for a name that has no place. When there are too many, all are forgotten: a name of the site's own comes again.
func (p *places) wait(name uint64, votes float64) {
	if votes == 0 {
		return
	}
	if p.waiting == nil || len(p.waiting) >= p.most && p.waiting[name] == 0 {
		p.waiting = map[uint64]float64{}
	}
	p.waiting[name] = votes
}

func (p *places) add(name uint64, who Sender, votes float64) {
	who.Request = nil
	x := &place{owner: who, votes: votes}
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
	if !who.Network.IsValid() {
		h.low = min(h.low, votes)
	}
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

// displaced returns the name whose place one of who's gets, for which there are so many votes; 0 if there is none. So many places
// go from one name to another that an hour has half as many names more than places at most.
func (p *places) displaced(who Sender, votes float64) uint64 {
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
	if most == own && votes >= enoughVotes {
		return p.weakest(own, votes/2)
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

// weakest returns the name of a site from unknown networks that has the fewest votes, fewer than so many; 0 if none has.
func (p *places) weakest(h *holding, than float64) (name uint64) {
	names := h.networks[netip.Prefix{}]
	if h.low >= than || len(names) == 0 {
		return 0
	}
	h.low = math.Inf(1)
	for _, n := range names {
		if votes := p.taken[n].votes; votes < h.low {
			h.low, name = votes, n
		}
	}
	if h.low >= than {
		return 0
	}
	return name
}

// trusted returns the names that may be a site's own: in an hour in which there were not
// places for all, those that several networks sent, for which there is a vote, or of which neither is known.
func (p *places) trusted() []uint64 {
	var out []uint64
	for n, x := range p.taken {
		if !p.full || len(x.from) != 1 && (x.votes == 0 || x.votes >= 1) || p.kept[n] {
			out = append(out, n)
		}
	}
	return out
}
