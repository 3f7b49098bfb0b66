//go:build linux

package local_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/test/scratchdisk"
)

// aim is a moment at which the power is cut, or the process killed.
type aim struct {
	name  string
	speed int // of the clock
	wait  func(dir string)
}

// pause waits for up to so many milliseconds.
func pause(ms int) { time.Sleep(time.Duration(rand.IntN(1000*ms+1)) * time.Microsecond) }

var aims = []aim{
	{"any time", 150, func(string) { pause(1500) }},
	{"a memtable rotates", 1, func(dir string) { // within a minute, so that it fills
		first := time.Now()
		watch(dir, 20*time.Second, func(files []string) bool {
			logs := 0
			for _, f := range files {
				if strings.HasSuffix(f, ".mem") && !strings.Contains(f, ".hours") && !strings.Contains(f, ".days") {
					logs++
				}
			}
			return logs > 1 && time.Since(first) > 200*time.Millisecond
		})
		pause(30)
	}},
	{"a partition is sealed", 150, func(dir string) {
		pause(800)
		was := -1
		watch(dir, 5*time.Second, func(files []string) bool {
			clean := 0
			for _, f := range files {
				if strings.HasPrefix(filepath.Base(f), "CLEAN") && !strings.Contains(f, ".hours") {
					clean++
				}
			}
			before := was
			was = clean
			return before >= 0 && clean > before
		})
		pause(2)
	}},
	{"an hour is rolled up", 150, func(dir string) {
		pause(800)
		watch(dir, 5*time.Second, func(files []string) bool {
			open := false
			for _, f := range files {
				if strings.Contains(f, ".hours"+string(filepath.Separator)) {
					switch {
					case strings.HasSuffix(f, ".mem"):
						open = true
					}
				}
			}
			return open
		})
		pause(5)
	}},
}

// watch looks at the files of the partitions in dir until they are as wanted, and not for
// much longer than most.
func watch(dir string, most time.Duration, wanted func(files []string) bool) {
	for end := time.Now().Add(most); time.Now().Before(end); time.Sleep(200 * time.Microsecond) {
		parts, err := os.ReadDir(dir)
		if err != nil {
			return
		}
		var files []string
		for _, p := range parts {
			inside, _ := os.ReadDir(filepath.Join(dir, p.Name())) // some are files
			for _, f := range inside {
				files = append(files, filepath.Join(p.Name(), f.Name()))
			}
		}
		if wanted(files) {
			return
		}
	}
}

// TestPowerCut cuts the power of the disk under a running process, and looks for what it
// had acknowledged. SOAK_CUTS says how often.
func TestPowerCut(t *testing.T) {
	const perDisk = 4
	cuts := rounds(t, "SOAK_CUTS", 1)
	var f *field
	var disk *scratchdisk.Disk
	var slowest time.Duration
	acked := 0
	for i := range cuts {
		if i%perDisk == 0 {
			disk = scratchdisk.Ext4(t, 1<<30)
			f = &field{t: t, dir: filepath.Join(disk.Dir, "data"), acked: map[int]bool{}}
		}
		a := aims[i%len(aims)]
		before := len(f.acked)
		f.run(a.speed, func(kill func()) {
			a.wait(f.dir)
			disk.Cut()
			time.Sleep(20 * time.Millisecond) // for acknowledgements that are a lie
			kill()
		})
		disk.Remount()
		f.check()
		acked += len(f.acked) - before
		slowest = max(slowest, f.slowest)
		t.Logf("cut %d, when %s", i+1, a.name)
		if t.Failed() {
			return
		}
	}
	t.Logf("%d cuts, %d traces acknowledged, slowest start %v", cuts, acked, slowest)
}

// TestKillInField kills a process that also seals and rolls up. SOAK_KILLS says how often.
func TestKillInField(t *testing.T) {
	const perDir = 8
	kills := rounds(t, "SOAK_KILLS", 1)
	var f *field
	var slowest time.Duration
	acked := 0
	for i := range kills {
		if i%perDir == 0 {
			f = &field{t: t, dir: filepath.Join(t.TempDir(), "data"), acked: map[int]bool{}}
		}
		a := aims[(i+2)%len(aims)]
		if i%2 == 0 {
			a = aims[0]
		}
		before := len(f.acked)
		f.run(a.speed, func(kill func()) { a.wait(f.dir); kill() })
		f.check()
		acked += len(f.acked) - before
		slowest = max(slowest, f.slowest)
		if t.Failed() {
			return
		}
	}
	t.Logf("%d kills, %d traces acknowledged, slowest start %v", kills, acked, slowest)
}
