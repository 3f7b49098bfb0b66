package metamorphic

import (
	"context"
	"fmt"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"time"
)

// patience is how long an operation may take, even on a busy machine.
const patience = time.Minute * slowdown

// watch detects operations that do not end.
type watch struct {
	mu      sync.Mutex
	next    int
	running map[int]watched
}

type watched struct {
	what  string
	begun time.Time
}

// do runs f and watches its duration.
func (w *watch) do(what string, f func() error) error {
	w.mu.Lock()
	if w.running == nil {
		w.running = make(map[int]watched)
	}
	n := w.next
	w.next++
	w.running[n] = watched{what, time.Now()}
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		delete(w.running, n)
		w.mu.Unlock()
	}()
	return f()
}

// overdue returns the running operations if one of them takes too long, or "".
func (w *watch) overdue() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []string
	late := false
	for _, x := range w.running {
		d := time.Since(x.begun)
		late = late || d > patience
		out = append(out, fmt.Sprintf("%s takes %v", x.what, d.Round(time.Millisecond)))
	}
	if !late {
		return ""
	}
	slices.Sort(out)
	return strings.Join(out, "; ")
}

// stuck waits until an operation takes too long, and returns the running operations and all
// goroutines. It returns "" when ctx ends.
func (w *watch) stuck(ctx context.Context) string {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ""
		case <-tick.C:
		}
		if what := w.overdue(); what != "" {
			var all strings.Builder
			_ = pprof.Lookup("goroutine").WriteTo(&all, 2)
			return what + "\n\n" + all.String()
		}
	}
}
