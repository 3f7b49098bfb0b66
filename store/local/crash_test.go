package local_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
	"github.com/fieldtrie/fieldtrie/store/local"
)

// helperEnv makes the test binary act as another process with a store.
const helperEnv = "FIELDTRIE_STORE_HELPER"

func TestMain(m *testing.M) {
	if mode := os.Getenv(helperEnv); mode != "" {
		if err := helper(mode, os.Args[len(os.Args)-2], os.Args[len(os.Args)-1]); err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// startHelper runs helper in another process. The lines it prints are in out; it
// ends when in is closed, or when it is killed.
//
// A test that starts a process must not be parallel to others: until the child runs its own
// program it holds the locks of all files that are open here.
func startHelper(t *testing.T, mode, dir string, first int) (cmd *exec.Cmd, in io.WriteCloser, out *bufio.Scanner) {
	t.Helper()
	cmd = exec.Command(os.Args[0], "-test.run=^$", dir, strconv.Itoa(first))
	cmd.Env = append(os.Environ(), helperEnv+"="+mode)
	cmd.Stderr = t.Output()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // a no-op for one that has been waited for
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd, in, bufio.NewScanner(stdout)
}

func helper(mode, dir, first string) error {
	o := local.Options{Program: "helper", MemTableSize: smallMem}
	switch mode {
	case "hold":
		s, err := local.Open(dir, o)
		if err != nil {
			return err
		}
		fmt.Println("ready")
		_, _ = io.Copy(io.Discard, os.Stdin)
		return s.Close()
	case "read":
		r, err := local.OpenReader(dir, o)
		if err != nil {
			return err
		}
		st, err := r.Scan(context.Background(), store.Query{}, func(store.Record) error { return nil })
		if err != nil {
			return err
		}
		fmt.Println("ready", st.Traces, st.Complete())
		_, _ = io.Copy(io.Discard, os.Stdin)
		return r.Close()
	case "write":
		n, err := strconv.Atoi(first)
		if err != nil {
			return err
		}
		return writeForever(dir, o, n)
	case "fill":
		return fillDisk(dir, o)
	case "field":
		n, err := strconv.Atoi(first)
		if err != nil {
			return err
		}
		return fieldForever(dir, o, n)
	}
	return fmt.Errorf("no mode %q", mode)
}

// writeForever appends traces from number first on, until it is killed, and prints
// the number of each after it was acknowledged. An hour lasts 250 ms for it.
func writeForever(dir string, o local.Options, first int) error {
	start := time.Now()
	o.Now = func() time.Time { return start.Add(time.Since(start) * (3600 * 4)) }
	s, err := local.Open(dir, o)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	next := first
	errs := make(chan error)
	for range 16 {
		go func() {
			for {
				mu.Lock()
				n := next
				next += 4
				mu.Unlock()
				recs := testRecords(n, n+4)
				if n > first {
					recs = append(recs, testRecord(n-1), testRecord(n)) // repeats
				}
				if _, err := s.Append(context.Background(), recs); err != nil {
					errs <- err
					return
				}
				mu.Lock()
				fmt.Printf("%d\n%d\n%d\n%d\n", n, n+1, n+2, n+3)
				mu.Unlock()
			}
		}()
	}
	return <-errs
}

// writeAndKill runs a writer on dir, kills it after some time and returns the
// numbers of the traces that were acknowledged.
func writeAndKill(t *testing.T, dir string, first int, after time.Duration) (acked []int) {
	t.Helper()
	cmd, _, out := startHelper(t, "write", dir, first)
	var kill *time.Timer
	for out.Scan() {
		if kill == nil {
			kill = time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
		}
		n, err := strconv.Atoi(out.Text())
		if err != nil {
			t.Fatalf("writer says %q", out.Text())
		}
		acked = append(acked, n)
	}
	_ = cmd.Wait()
	if len(acked) == 0 {
		t.Fatal("nothing was acknowledged before the kill")
	}
	return acked
}

func TestKill(t *testing.T) {
	dir := t.TempDir()
	acked := make(map[int]bool)
	next := 0
	for round := range 5 {
		for _, n := range writeAndKill(t, dir, next, time.Duration(100+rand.IntN(500))*time.Millisecond) {
			acked[n] = true
			next = max(next, n+1000)
		}
		// Clock of the next round: the partitions of this one are in its future, so it
		// goes on in the newest.
		var s scanner
		var closer io.Closer
		if round%2 == 0 {
			st := mustOpen(t, dir, testOptions(t, nil))
			s, closer = st, st
		} else {
			r, err := local.OpenReader(dir, testOptions(t, nil))
			if err != nil {
				t.Fatal(err)
			}
			s, closer = r, r
		}
		seen, st := scanIDs(t, s, store.Query{})
		if !st.Complete() {
			t.Errorf("round %d: scan is incomplete: %+v", round, st)
		}
		for n := range acked {
			if seen[traceID(n)] == 0 {
				t.Errorf("round %d: acknowledged trace %d is lost", round, n)
			}
		}
		for _, where := range doubled(t, s) {
			t.Errorf("round %d: %s", round, where)
		}
		t.Logf("round %d: %d acknowledged, %d stored, %d partitions", round, len(acked), len(seen), st.Partitions)
		mustClose(t, closer)
	}
}

// doubled returns the traces that are there more often than is promised: twice in one
// partition, or in one and the next. On a busy machine an hour of 250 ms can pass between
// two deliveries, and another.
func doubled(t *testing.T, s scanner) (out []string) {
	t.Helper()
	in := make(map[store.ID][]string)
	var order []string
	_, err := s.Scan(context.Background(), store.Query{}, func(r store.Record) error {
		in[r.ID] = append(in[r.ID], r.Partition)
		if !slices.Contains(order, r.Partition) {
			order = append(order, r.Partition)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(order)
	for id, parts := range in {
		slices.Sort(parts)
		for i := range len(parts) - 1 {
			if slices.Index(order, parts[i+1])-slices.Index(order, parts[i]) <= 1 {
				out = append(out, fmt.Sprintf("trace %s is in partitions %s", id, parts))
			} else {
				t.Logf("trace %s is in partitions %s of %s", id, parts, order)
			}
		}
	}
	return out
}

func TestLock(t *testing.T) {
	dir := t.TempDir()
	cmd, in, out := startHelper(t, "hold", dir, 0)
	if !out.Scan() || out.Text() != "ready" {
		t.Fatalf("helper says %q", out.Text())
	}
	check := func(what string, err error) {
		t.Helper()
		e, ok := errors.AsType[*local.InUseError](err)
		if !ok {
			t.Fatalf("%s: got %v, want an InUseError", what, err)
		}
		want := fmt.Sprintf("data directory %s is in use by helper (pid %d)", dir, cmd.Process.Pid)
		if e.PID != cmd.Process.Pid || e.Program != "helper" || err.Error() != want {
			t.Errorf("%s: got %q, want %q", what, err, want)
		}
	}
	_, err := local.Open(dir, testOptions(t, nil))
	check("open", err)
	_, err = local.OpenReader(dir, testOptions(t, nil))
	check("open for reading", err)
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	s := mustOpen(t, dir, testOptions(t, nil)) // the lock is gone with its holder
	_, err = local.Open(dir, testOptions(t, nil))
	if e, ok := errors.AsType[*local.InUseError](err); !ok || e.PID != os.Getpid() || e.Program != "storetest" {
		t.Errorf("second open in one process: got %v, want an InUseError about this process", err)
	}
	mustClose(t, s)
}

// TestReadersShare lets several processes read at once, and a writer wait for them.
func TestReadersShare(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, dir, testOptions(t, nil))
	mustAppend(t, s, testRecords(0, 20)...)
	mustClose(t, s)
	var ins []io.Closer
	for range 3 {
		_, in, out := startHelper(t, "read", dir, 0)
		if !out.Scan() || out.Text() != "ready 20 true" {
			t.Fatalf("reader says %q", out.Text())
		}
		ins = append(ins, in)
	}
	opened := make(chan error, 1)
	go func() {
		s, err := local.Open(dir, testOptions(t, nil))
		if err == nil {
			err = s.Close()
		}
		opened <- err
	}()
	select {
	case err := <-opened:
		t.Fatalf("opened for writing while others read (%v)", err)
	case <-time.After(200 * time.Millisecond):
	}
	for _, in := range ins {
		in.Close()
	}
	if err := <-opened; err != nil {
		t.Errorf("open for writing after the readers ended: %v", err)
	}
}

// TestReadersRecover starts readers all at once on what a kill has left.
func TestReadersRecover(t *testing.T) {
	dir := t.TempDir()
	acked := writeAndKill(t, dir, 0, 200*time.Millisecond)
	if _, err := os.Stat(filepath.Join(dir, "LOCK")); err != nil {
		t.Fatal(err)
	}
	var outs []*bufio.Scanner
	for range 4 {
		_, _, out := startHelper(t, "read", dir, 0)
		outs = append(outs, out)
	}
	for _, out := range outs {
		out.Scan()
		var traces int
		var complete bool
		if n, err := fmt.Sscanf(out.Text(), "ready %d %t", &traces, &complete); n != 2 || traces < len(acked) || !complete {
			t.Errorf("reader says %q (%v), want at least %d traces", out.Text(), err, len(acked))
		}
	}
}
