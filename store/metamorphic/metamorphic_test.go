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

// Flags. The environment has their defaults: METAMORPHIC_FOR, METAMORPHIC_SEED.
var (
	playFor  = flag.Duration("metamorphic.for", defaultFor(), "how long operations are done")
	onlySeed = flag.Uint64("metamorphic.seed", seedOfEnv(), "repeat the run of this seed, 0 for new ones")
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

// The store answers as a plain model does, whatever is done to it and in whatever order.
func TestMetamorphic(t *testing.T) {
	for name, in := range map[string]mode{"alone": alone, "together": together, "pressed": pressed} {
		t.Run("directory/"+name, func(t *testing.T) {
			t.Parallel()
			playAll(t, in, func(_ uint64, r *rand.Rand, c *clock, base string) home { return newDirectory(r, c, base) })
		})
	}
	for name, in := range map[string]mode{"alone": alone, "together": together} {
		t.Run("objects/"+name, func(t *testing.T) {
			t.Parallel()
			playAll(t, in, func(seed uint64, r *rand.Rand, c *clock, base string) home {
				return newObjectsDirectory(seed, r, c, base)
			})
		})
		t.Run("bucket/"+name, func(t *testing.T) {
			t.Parallel()
			playAll(t, in, func(seed uint64, r *rand.Rand, c *clock, _ string) home { return newBucket(seed, r, c) })
		})
	}
}

// build makes the home of a run.
type build func(seed uint64, r *rand.Rand, c *clock, base string) home

func playAll(t *testing.T, in mode, home build) {
	t.Helper()
	until := time.Now().Add(*playFor)
	if *onlySeed != 0 {
		play(t, *onlySeed, in, home, time.Now().Add(time.Hour))
		return
	}
	for runs := 0; time.Now().Before(until) && !t.Failed(); runs++ {
		play(t, uint64(rand.Uint32()), in, home, until)
	}
}

// operationsOfRun is how long a run is; then one of another seed finds more.
const operationsOfRun = 120

// play does the operations of a seed and fails the test with the first thing that is wrong.
func play(t *testing.T, seed uint64, in mode, home build, until time.Time) {
	t.Helper()
	base, err := os.MkdirTemp("", "metamorphic-*")
	if err != nil {
		t.Fatal(err)
	}
	x := newRun(seed, in, home, base)
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
	case what := <-stuck: // its files stay, since they are in use
		err = fmt.Errorf("stuck: %s", what)
	}
	t.Logf("seed %d: %d operations", seed, len(x.log))
	if err != nil {
		t.Fatalf("seed %d: %v\n\nwhat was done:\n%s\n\nto repeat it: go test ./store/metamorphic -run %s -metamorphic.seed %d",
			seed, err, x.history(), t.Name(), seed)
	}
}
