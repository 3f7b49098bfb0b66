package local

import (
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"
)

// The time of a machine may be wrong, as with a flat battery or a bad time server, and by one that is a year ahead everything is too
// old. So a time that is further than [clockJump] from when the store last ran is not believed for deleting, until traces of
// several hours were received at it or an operator says that it is right.
const (
	clockJump    = 24 * time.Hour
	clockHours   = 3 // hours with traces that confirm a time
	clockNoted   = 10 * time.Minute
	clockNotedIn = "LOCK" // the file whose time of change is the last time that was believed
)

// clockWatch knows which time was believed last. All but doubt is for the committer.
type clockWatch struct {
	noted time.Time // zero before the first look
	doubt atomic.Pointer[string]
}

// ClockDoubt returns why nothing is deleted by its age; "" if the time is believed.
func (s *Store) ClockDoubt() string {
	if text := s.clock.doubt.Load(); text != nil {
		return *text
	}
	return ""
}

// believes reports whether things may be deleted by their age at now.
func (s *Store) believes(now time.Time) bool {
	if !s.opts.DoubtClock {
		return true
	}
	c, name := &s.clock, filepath.Join(s.dir, clockNotedIn)
	if c.noted.IsZero() {
		info, err := os.Stat(name)
		if err != nil {
			s.opts.Logger.Error("nothing is deleted by its age, as it is not known when this directory was used last", logErr, err)
			return false
		}
		c.noted = info.ModTime()
	}
	jump := now.Sub(c.noted)
	if jump > clockJump && s.hoursBefore(now) < clockHours {
		if c.doubt.Load() == nil {
			text := fmt.Sprintf("the clock says %s, %v after this directory was used last: nothing is deleted by its age until traces of %d hours were received, or ingest is started with --believe-clock",
				now.UTC().Format(time.RFC3339), jump.Round(time.Hour), clockHours)
			s.opts.Logger.Warn(text)
			c.doubt.Store(&text)
		}
		return false
	}
	if c.doubt.Swap(nil) != nil {
		s.opts.Logger.Info("the clock is believed", "jump", jump.Round(time.Hour))
	}
	if jump.Abs() >= clockNoted {
		if err := os.Chtimes(name, now, now); err != nil {
			s.opts.Logger.Warn("the time can not be noted", logErr, err)
		}
		c.noted = now
	}
	return true
}

// hoursBefore returns in how many hours of the day before now traces were received.
func (s *Store) hoursBefore(now time.Time) int {
	hours := map[int64]bool{}
	for _, p := range s.parts.All() {
		if last := time.UnixMicro(p.Last); !p.Blank() && now.Sub(last).Abs() < clockJump {
			hours[last.Unix()/3600] = true
		}
	}
	return len(hours)
}
