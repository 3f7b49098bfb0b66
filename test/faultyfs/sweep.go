package faultyfs

import (
	"fmt"
	"syscall"
	"testing"
)

// Kinds of faults that [Sweep] tries.
var kinds = []struct {
	name  string
	fault Fault
}{
	{"EIO", Fault{}},
	{"EMFILE", Fault{Err: syscall.EMFILE}},
	{"ENOSPC, half written", Fault{Err: syscall.ENOSPC, Torn: true}},
	{"EIO from then on", Fault{Stays: true, Torn: true}},
}

// Sweep calls run with each kind of fault at the first operation that only accepts, at the second
// one and so on, until the activity has no more operations. With -short it tries a fixed sample of
// about most operations for each kind of fault, or all for 0.
//
// Run prepares its state while nothing fails, calls begin, executes the activity, calls end, and
// checks the result without faults. It must use the file system for all operations that may fail.
func Sweep(t *testing.T, only func(Op) bool, most int, run func(t *testing.T, f *FS, begin, end func())) {
	t.Helper()
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			var operations int
			step := 1
			for n := 0; n == 0 || n <= operations; n += step {
				fault := k.fault
				fault.N, fault.Only = n, only
				f := &FS{}
				begun := false
				run(t, f, func() { begun = true; f.Set(fault) }, func() {
					if c := f.Count(); n == 0 || c > operations {
						operations = c
					}
					if t.Failed() {
						return
					}
					t.Log(describe(n, f))
					f.Set(Fault{})
				})
				if !begun {
					t.Fatal("run did not call begin")
				}
				if t.Failed() {
					t.Fatalf("with %s", describe(n, f))
				}
				if n == 0 {
					if testing.Short() && most > 0 {
						step = max(1, operations/most)
					}
					n = 1 - step
				}
			}
			t.Logf("%d operations, each %d. failed", operations, step)
		})
	}
}

func describe(n int, f *FS) string {
	failed := f.Failed()
	if len(failed) == 0 {
		return fmt.Sprintf("operation %d: none failed", n)
	}
	return fmt.Sprintf("operation %d: %v failed, %d in all", n, failed[0], len(failed))
}
