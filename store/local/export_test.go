package local

import (
	"context"
	"errors"
	"time"

	"github.com/fieldtrie/fieldtrie/store/local/part"
	"github.com/fieldtrie/fieldtrie/store/local/record"
	"github.com/fieldtrie/fieldtrie/store/local/rollups"
)

// What tests from outside can not do through the API alone.

// BatchRecords is how many traces a scan copies at once.
const BatchRecords = 512

// SetStint says how long a call of Roll goes on with one thing.
func (s *Store) SetStint(d time.Duration) { s.rolling.stint = d }

// Fail stops the store as a commit does that goes wrong.
func (s *Store) Fail(err error) { s.fail(err) }

// Parts returns the partitions.
func (r *Reader) Parts() *part.Shelf { return r.parts }

// Sums returns the files of sums.
func (r *Reader) Sums() *rollups.Shelf { return r.sums }

// NeedRolling reports whether a partition is over and not summed up.
func (s *Store) NeedRolling() bool {
	for _, l := range s.lifetimes(false) {
		if l.needed && l.kind == traces && !l.open {
			return true
		}
	}
	return false
}

// DictionaryFor returns the dictionary that traces of a page are compressed with, nil if there
// is none.
func (s *Store) DictionaryFor(page string) *record.Dictionary { return s.samples.Current(page) }

// ForgetDictionaries has r read dictionaries anew. Nobody may use r meanwhile.
func (r *Reader) ForgetDictionaries() {
	codec, err := record.NewCodec(r.opts.MaxPayload)
	if err != nil {
		panic(err) // its options are those of the codec that there is
	}
	r.codec = codec // the other one's dictionaries are still in use
	r.Reader = r.newReading()
}

// ForgetPages has r read what pages sum up to anew.
func (r *Reader) ForgetPages() { r.head.Forget(func(*part.Partition) bool { return false }) }

// Finish closes what a Close has left open that took too long.
func (s *Store) Finish() error {
	err := s.parts.CloseWriters(context.Background(), true)
	s.parts.CloseReaders()
	return errors.Join(err, s.release())
}
