package commits

import (
	"fmt"
	"math/bits"
	"path/filepath"
)

// numbers are the numbers of records that were found, and up to which one all were acknowledged.
type numbers struct {
	found   []uint64 // a bit for each
	durable uint64
}

// add notes the number of a record.
func (n *numbers) add(r *record) {
	i := int(r.number / 64)
	for len(n.found) <= i {
		n.found = append(n.found, 0)
	}
	n.found[i] |= 1 << (r.number % 64)
	n.durable = max(n.durable, r.durable)
}

// lost returns how many records were acknowledged and not found, as far as those that were found
// say.
func (n *numbers) lost() int {
	found := 0
	for i, b := range n.found {
		low := uint64(64 * i)
		if i == 0 {
			b &^= 1 // there is no number 0
		}
		if n.durable < low {
			break
		}
		if rest := n.durable - low; rest < 63 {
			b &= 1<<(rest+1) - 1
		}
		found += bits.OnesCount64(b)
	}
	return int(n.durable) - found
}

// logState is what the files of a generation say about its newest log.
type logState struct {
	begun  bool   // Badger had opened, so there must be a log until the end
	ended  bool   // all of it is in tables
	newest string // its path; "" if there is no log
	bytes  int64  // in it
}

// logBytes is how many bytes each log of Badger has from its beginning on. Badger begins another
// one when half of it is used.
const logBytes = 2 * memTable

// OneLog is how many bytes of commits fit into one log.
const OneLog = memTable - 256<<10

// missing returns what is missing of the newest log, "" if nothing is. The numbers of records do
// not show a loss there, since none comes after it.
func (l *logState) missing() string {
	switch {
	case l.ended || !l.begun:
		return ""
	case l.newest == "":
		return "its log is missing"
	case l.bytes < logBytes:
		return fmt.Sprintf("its log %s has %d of %d bytes", filepath.Base(l.newest), l.bytes, int64(logBytes))
	}
	return ""
}

// report warns of lost records of a generation, and counts them. A loss of unknown size counts
// once.
func (l *Log) report(g *generation, s *content) {
	lost, missing := s.numbers.lost(), s.log.missing()
	switch {
	case lost > 0 && missing != "":
		missing = "; " + missing + ", so there may be more"
	case missing != "":
		l.lost++
		l.opts.Warn(fmt.Errorf("acknowledged commits of %s may be lost: %s", g.path, missing))
	}
	if lost > 0 {
		l.lost += lost
		l.opts.Warn(fmt.Errorf("%d acknowledged records of %s are lost, each a commit, "+
			"a part of a large one or a deletion%s", lost, g.path, missing))
	}
	if s.damaged > 0 && lost == 0 {
		l.opts.Warn(fmt.Errorf("%d records of %s are incomplete and left out: "+
			"they were being written when the machine stopped, or are damaged", s.damaged, g.path))
	}
}

// Lost returns how many records were acknowledged and are lost, as far as that was found when the
// log was opened.
func (l *Log) Lost() int { return l.lost }
