package access

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"hash/maphash"
	"runtime"
	"sync"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/fieldtrie/fieldtrie/internal/fair"
)

// passwords checks the passwords of users. It caches the last correct password of each user, so
// that the slow hash is not computed for each request.
type passwords struct {
	users []user
	index map[string]int // by name
	seed  maphash.Seed
	key   [32]byte // random key of the cached hashes, which are useless in other processes

	mu    sync.Mutex
	right map[int][sha256.Size]byte // by user
}

func newPasswords(users []user) *passwords {
	p := &passwords{users: users, index: map[string]int{}, seed: maphash.MakeSeed(), right: map[int][sha256.Size]byte{}}
	for i, u := range users {
		p.index[u.Name] = i
	}
	_, _ = rand.Read(p.key[:]) // it never fails
	return p
}

// check returns the user with this name and password, or nil. Its duration does not reveal whether
// the user exists: it compares the password for an unknown name with the hash of another user,
// always the same for a name, since costs may differ. Waiting checks take turns by address.
func (p *passwords) check(ctx context.Context, work *workload, address, name, password string) (who *Identity,
	err error) {
	if len(p.users) == 0 {
		return nil, nil
	}
	i, known := p.index[name]
	if !known {
		i = int(maphash.String(p.seed, name) % uint64(len(p.users)))
	}
	sum := p.sum(password)
	if known && p.remembers(i, sum) {
		return &p.users[i].Identity, nil
	}
	done, err := work.begin(ctx, address)
	if err != nil {
		return nil, err
	}
	defer done()
	if known && p.remembers(i, sum) { // while this one waited
		return &p.users[i].Identity, nil
	}
	if bcrypt.CompareHashAndPassword(p.users[i].hash, []byte(password)) != nil || !known {
		return nil, nil
	}
	p.mu.Lock()
	p.right[i] = sum
	p.mu.Unlock()
	return &p.users[i].Identity, nil
}

func (p *passwords) sum(password string) (out [sha256.Size]byte) {
	mac := hmac.New(sha256.New, p.key[:])
	mac.Write([]byte(password))
	mac.Sum(out[:0])
	return out
}

// remembers reports whether the cached password of a user has this hash.
func (p *passwords) remembers(i int, sum [sha256.Size]byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	right, ok := p.right[i]
	return ok && hmac.Equal(right[:], sum[:])
}

// workload bounds the checks of passwords, each of which takes up to a second of a processor. It
// leaves half of the processors to other work and bounds the waiting requests, per address and in
// total. So a client that guesses passwords does not prevent others from logging in.
type workload struct {
	line *fair.Semaphore
	wait time.Duration
}

var errBusy = errors.New("too many passwords are being checked; try again later")

// Limits of requests that wait for a password check.
const (
	mostWaiting   = 64 // in total
	mostOfAddress = 8  // per address
)

func newWorkload() *workload {
	return &workload{
		line: fair.New(fair.Options{Turns: max(1, runtime.GOMAXPROCS(0)/2), Waiting: mostOfAddress, Most: mostWaiting}),
		wait: 3 * time.Second,
	}
}

// begin waits until another check from an address may start. The caller must call done after the
// check. begin returns errBusy if that takes too long or too many requests wait.
func (w *workload) begin(ctx context.Context, address string) (done func(), err error) {
	waiting, cancel := context.WithTimeout(ctx, w.wait)
	defer cancel()
	done, err = w.line.Take(waiting, address)
	if err != nil && ctx.Err() == nil {
		return nil, errBusy
	}
	return done, err
}
