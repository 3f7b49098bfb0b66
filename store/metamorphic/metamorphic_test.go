package metamorphic

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"
)

// Flags. The environment variables METAMORPHIC_FOR and METAMORPHIC_SEED set their defaults.
var (
	playFor  = flag.Duration("metamorphic.for", defaultFor(), "how long to run")
	onlySeed = flag.Uint64("metamorphic.seed", seedOfEnv(), "repeat the run of this seed; 0 for random seeds")
)

func defaultFor() time.Duration {
	if d, err := time.ParseDuration(os.Getenv("METAMORPHIC_FOR")); err == nil {
		return d
	}
	return 6 * time.Second
}

func seedOfEnv() uint64 {
	n, _ := strconv.ParseUint(os.Getenv("METAMORPHIC_SEED"), 10, 64) // 0 unless it is a number
	return n
}

// The store returns the same results as a simple model, for random operations in random order.
func TestMetamorphic(t *testing.T) {
	for name, in := range map[string]mode{"alone": alone, "together": together} {
		for kind, inDirectory := range map[string]bool{"directory": true, "bucket": false} {
			t.Run(kind+"/"+name, func(t *testing.T) {
				t.Parallel()
				playAll(t, in, inDirectory)
			})
		}
	}
}

func playAll(t *testing.T, in mode, inDirectory bool) {
	t.Helper()
	until := time.Now().Add(*playFor)
	if *onlySeed != 0 {
		play(t, *onlySeed, in, inDirectory, time.Now().Add(time.Hour))
		return
	}
	for runs := 0; time.Now().Before(until) && !t.Failed(); runs++ {
		play(t, uint64(rand.Uint32()), in, inDirectory, until)
	}
}

// operationsOfRun is the length of a run. Beyond that a run with another seed finds more.
const operationsOfRun = 120

// play runs the operations of a seed, and fails the test at the first violation.
func play(t *testing.T, seed uint64, in mode, inDirectory bool, until time.Time) {
	t.Helper()
	var base string
	var err error
	if inDirectory {
		if base, err = os.MkdirTemp("", "metamorphic-*"); err != nil {
			t.Fatal(err)
		}
	}
	x := newRun(seed, in, base)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done, stuck := make(chan error, 1), make(chan string, 1)
	go func() { done <- x.play(ctx, operationsOfRun, until) }()
	go func() {
		if what := x.watch.stuck(ctx); what != "" {
			stuck <- what
		}
	}()
	select {
	case err = <-done:
		err = errors.Join(err, os.RemoveAll(base))
	case err = <-x.broken:
	case what := <-stuck: // its files are kept, because they are in use
		err = fmt.Errorf("stuck: %s", what)
	}
	t.Logf("seed %d: %d operations", seed, len(x.log))
	if err != nil {
		t.Fatalf("seed %d: %v\n\noperations:\n%s\n\nrepeat with: go test ./store/metamorphic -run %s "+
			"-metamorphic.seed %d",
			seed, err, x.history(), t.Name(), seed)
	}
}
