package quota

import (
	"math"
	"net/netip"
	"slices"
)

// places are the names of one kind that have a place in an hour. Names are identified by a hash, so
// that long names take no more memory.
//
// A name that several networks sent belongs to no network. The other names are divided: when all
// places are taken, a new name replaces the newest name of the network that has the most names, if
// the network of the new name would still have fewer. The same holds between sites.
//
// If networks are unknown, requests vote for their names: one vote for the first name, half a vote
// for the second, and so on. A new name replaces the name with the fewest votes if it has more than
// twice as many. So a request with many names gets few places.
type places struct {
	most  int
	kept  map[uint64]bool // names with a reserved place
	taken map[uint64]*place
	fresh int // names in taken without a reserved place
	full  bool
	moved int // places that were reassigned this hour
	sites map[string]*holding

	waiting map[uint64]float64 // votes for names without a place, at most as many names as there are places
}

// Sender is the sender of a name, between which places are divided.
type Sender struct {
	Site    string       // "" if there are no sites
	Network netip.Prefix // the zero Prefix if unknown
	Request *Request     // votes if the network is unknown; nil: no votes
}

// enoughVotes is needed to take the place of another name: the vote for the fourth name of a
// request. Otherwise a request with a thousand names could use up the reassignments of an hour.
const enoughVotes = 1.0 / 4

// Request counts the names of a request. It is not safe for concurrent use.
type Request struct{ names map[uint64]int }

// vote returns the weight of the request's next name of a kind, 0 if the sender has no request.
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

// place is the place of one name.
type place struct {
	owner Sender         // who sent it first
	from  []netip.Prefix // networks that sent the name, at most manyNetworks
	votes float64
}

// manyNetworks is how many networks must send a name until it cannot be one client's invention.
const manyNetworks = 3

// holding are the names that only clients of one site have sent.
type holding struct {
	names    int
	networks map[netip.Prefix][]uint64
	top      int     // the largest number of names of a network
	low      float64 // a lower bound of the votes for names of the unknown network
}

func newPlaces(most int, kept map[uint64]bool) *places {
	return &places{most: most, kept: kept, taken: map[uint64]*place{}, sites: map[string]*holding{}}
}

// take reports whether a name has a place or gets one. lost is the name that lost its place for it,
// or 0.
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

// wait adds votes for a name without a place. When there are too many names, it resets all votes:
// names that the site really has will be sent again.
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

// seen records that a name with a place was sent again.
func (p *places) seen(name uint64, x *place, who Sender) {
	if len(x.from) >= manyNetworks || !who.Network.IsValid() || slices.Contains(x.from, who.Network) {
		return
	}
	x.from = append(x.from, who.Network)
	if len(x.from) == manyNetworks {
		p.sites[x.owner.Site].drop(x.owner.Network, name)
	}
}

// release frees the place of a name.
func (p *places) release(name uint64) {
	x := p.taken[name]
	delete(p.taken, name)
	p.fresh--
	p.sites[x.owner.Site].drop(x.owner.Network, name)
}

// drop removes a name from the names of a network.
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

// displaced returns the name whose place a name from who with so many votes gets, or 0. The number
// of reassignments is limited, so that an hour has at most one and a half times as many names as
// places.
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
			most, fewer = h, 0 // another site has more, in any of its networks
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

// weakest returns the name of a site from unknown networks with the fewest votes, less than than,
// or 0.
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

// trusted returns the names that probably belong to a site. If places ran out in this hour, these
// are names that several networks sent, that have a vote, or for which neither is known.
func (p *places) trusted() []uint64 {
	var out []uint64
	for n, x := range p.taken {
		if !p.full || len(x.from) != 1 && (x.votes == 0 || x.votes >= 1) || p.kept[n] {
			out = append(out, n)
		}
	}
	return out
}
