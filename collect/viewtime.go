package collect

import (
	"sync"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
)

// viewTimes bounds the time that page views claim, by what the daemon has seen of them: a view
// whose first trace came ten minutes ago can not have run for hours. It may claim the time
// since then, and [maxTraceTime] for what was before. A view without an id has one trace.
//
// It remembers the last views that sent something, two generations of maxViewTimes. One that is
// forgotten, as after a restart, begins anew.
type viewTimes struct {
	mu           sync.Mutex
	now, earlier map[view128]viewTime
}

// view128 is the id of a view.
type view128 = [len(store.ID{}.View)]byte

type viewTime struct {
	first   time.Time // when its first trace came
	claimed int64     // µs
}

// maxViewTimes bounds a generation, which takes about 5 MiB.
const maxViewTimes = 1 << 16

// claim returns how much of some µs a view may claim now, and takes it down.
func (v *viewTimes) claim(view view128, us int64, now time.Time) int64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	x, ok := v.now[view]
	if !ok {
		if x, ok = v.earlier[view]; !ok {
			x.first = now
		}
		if v.now == nil || len(v.now) >= maxViewTimes {
			v.now, v.earlier = map[view128]viewTime{}, v.now
		}
	}
	may := maxTraceTime + max(now.Sub(x.first).Microseconds(), 0) - x.claimed
	us = max(min(us, may), 0)
	x.claimed += us
	v.now[view] = x
	return us
}

// giveBack says that a trace that claimed some µs was not stored.
func (v *viewTimes) giveBack(view view128, us int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if x, ok := v.now[view]; ok {
		x.claimed -= us
		v.now[view] = x
	}
}
