package disk

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// LockFile is the file in a data directory with a note about the process that holds the lock. The
// file is locked in addition to the directory, since some network file systems do not lock
// directories.
const LockFile = "LOCK"

// LockWait is how long an opener waits for short-lived holders: a daemon for readers, a reader for
// another reader that rolls up.
const LockWait = 10 * time.Second

// signWait is the time within which a process that acquired the lock writes its note, on a busy
// machine.
const signWait = time.Second / 2

// errLocked is what tryFlock returns when another open file holds the lock.
var errLocked = errors.New("locked")

// InUseError reports which process has a data directory open.
type InUseError struct {
	Dir     string
	Program string // "" if the holder left no note
	PID     int
}

func (e *InUseError) Error() string {
	who := "another process"
	if e.Program != "" {
		who = fmt.Sprintf("%s (pid %d)", e.Program, e.PID)
	}
	return fmt.Sprintf("data directory %s is in use by %s", e.Dir, who)
}

// lockNote is the holder's note in the lock file, used only for messages. The lock itself is the
// flock on the directory and on the file, which ends with its holder.
type lockNote struct {
	Program string `json:"program"`
	PID     int    `json:"pid"`
	Mode    string `json:"mode"` // write, recover or read
}

// Lock is a lock on a whole data directory, exclusive or shared.
type Lock struct {
	f       *os.File
	folder  *os.File // nil if the directory cannot be locked
	dir     string
	program string
}

// OpenLock opens the lock of a directory, without taking it.
func OpenLock(dir, program string) (*Lock, error) {
	path := filepath.Join(dir, LockFile)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, fileMode)
	if errors.Is(err, os.ErrPermission) {
		f, err = os.Open(path) // a reader without the right to write can still hold a shared lock
	}
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	l := &Lock{f: f, dir: dir, program: program}
	l.folder, _ = os.Open(dir) // without the right to read it, only the file is locked
	return l, nil
}

// try takes the lock, or changes it, without waiting. Removing or replacing the lock file does not
// let another process in, as the directory is locked.
func (l *Lock) try(exclusive bool) error {
	if l.folder != nil {
		err := tryFlock(l.folder, exclusive)
		if errors.Is(err, errLocked) {
			return err
		}
		if err != nil { // NFS takes an exclusive lock only of a file that is open for writing
			_ = l.folder.Close()
			l.folder = nil
		}
	}
	err := tryFlock(l.f, exclusive)
	if err == nil {
		err = l.Check()
	}
	if err != nil {
		_ = l.unlock()
	}
	return err
}

// unlock gives the lock up, but can take it again.
func (l *Lock) unlock() error {
	err := unlock(l.f)
	if l.folder != nil {
		err = errors.Join(err, unlock(l.folder))
	}
	return err
}

// Check returns an error if the lock does not hold any more: where the directory cannot be locked,
// the lock file must be the one that is locked.
func (l *Lock) Check() error {
	if l.folder != nil {
		return nil
	}
	ours, err := l.f.Stat()
	if err != nil {
		return fmt.Errorf("check the lock of %s: %w", l.dir, err)
	}
	there, err := os.Stat(l.f.Name())
	if err != nil || !os.SameFile(ours, there) {
		return fmt.Errorf("%s was removed or replaced, so another process may write to %s: "+
			"stop all of them, and start one", l.f.Name(), l.dir)
	}
	return nil
}

// Exclusive acquires the lock for a single process. It waits only for readers, which are
// short-lived even if they recover.
func (l *Lock) Exclusive(mode string, wait time.Duration) error {
	return l.acquire(true, mode, wait, func() bool {
		if l.try(false) != nil {
			return l.note().Mode == "recover"
		}
		return l.unlock() == nil // otherwise two waiting processes would block each other
	})
}

// Shared acquires the lock together with other readers. It waits only for a reader that rolls up.
func (l *Lock) Shared(wait time.Duration) error {
	return l.acquire(false, "read", wait, func() bool { return l.note().Mode == "recover" })
}

// acquire polls, because flock has no timeout.
func (l *Lock) acquire(exclusive bool, mode string, wait time.Duration, soon func() bool) error {
	begin := time.Now()
	for last := false; ; {
		err := l.try(exclusive)
		if err == nil {
			return l.sign(mode)
		}
		if !errors.Is(err, errLocked) {
			return fmt.Errorf("lock data directory %s: %w", l.dir, err)
		}
		if last {
			n := l.note()
			return &InUseError{Dir: l.dir, Program: n.Program, PID: n.PID}
		}
		patience := min(wait, signWait) // until then the note may be that of who had it before
		if soon() {
			patience = wait
		}
		last = time.Since(begin) >= patience
		time.Sleep(20 * time.Millisecond)
	}
}

func (l *Lock) note() (n lockNote) {
	b, err := io.ReadAll(io.NewSectionReader(l.f, 0, 4096))
	if err != nil || json.Unmarshal(b, &n) != nil {
		return lockNote{}
	}
	return n
}

// sign writes the note. Readers overwrite each other's notes; any of them is correct.
func (l *Lock) sign(mode string) error {
	b, err := json.Marshal(lockNote{Program: l.program, PID: os.Getpid(), Mode: mode})
	if err != nil {
		return err
	}
	// The lock also holds without a note: a reader may have no write permission, and the disk may
	// be full.
	if l.f.Truncate(0) == nil {
		_, _ = l.f.WriteAt(append(b, '\n'), 0)
	}
	return nil
}

// Release releases the lock. The note stays until the next holder signs.
func (l *Lock) Release() error {
	err := l.f.Close()
	if l.folder != nil {
		err = errors.Join(err, l.folder.Close())
	}
	return err
}
