package commits

import (
	"fmt"
	"math/bits"
	"path/filepath"
)

// numbers are the numbers of the records that were found. All records up to durable were
// acknowledged.
type numbers struct {
	found   []uint64 // a bit for each number
	durable uint64
}

func (n *numbers) add(r *record) {
	i := int(r.number / 64)
	for len(n.found) <= i {
		n.found = append(n.found, 0)
	}
	n.found[i] |= 1 << (r.number % 64)
	n.durable = max(n.durable, r.durable)
}

// lost returns how many acknowledged records were not found, according to the records that were
// found.
func (n *numbers) lost() int {
	found := 0
	for i, b := range n.found {
		low := uint64(64 * i)
		if i == 0 {
			b &^= 1 // numbers start at 1
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

// logState is the state of a generation's newest log, according to its files.
type logState struct {
	begun  bool   // Badger was opened, so there must be a log unless it ended
	ended  bool   // all records are in tables
	newest string // path; "" if there is no log
	bytes  int64  // its size
}

// logBytes is the initial size of each log of Badger. Badger starts another log when half of it is
// used.
const logBytes = 2 * memTable

// OneLog is the maximum size of commits that fit into one log.
const OneLog = memTable - 256<<10

// missing returns a description of what is missing from the newest log, or "". Record numbers do
// not reveal a loss at the end of the log, because no record follows it.
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

// report warns of lost records in a generation, and counts them. A loss of unknown size counts as
// one.
func (l *Log) report(g *generation, s *content) {
	lost, missing := s.numbers.lost(), s.log.missing()
	switch {
	case lost > 0 && missing != "":
		missing = "; " + missing + ", so more may be lost"
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
		l.opts.Warn(fmt.Errorf("%d records of %s are incomplete and skipped: "+
			"they were being written when the machine stopped, or are damaged", s.damaged, g.path))
	}
}

// Lost returns how many acknowledged records were found to be lost when the log was opened.
func (l *Log) Lost() int { return l.lost }
