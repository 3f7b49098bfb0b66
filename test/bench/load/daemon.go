package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// daemon is an ingest started by this program.
type daemon struct {
	process
	public, private string
	watch           watch
	busy            sync.Mutex // held while it is killed or suspended
}

// cluster is the target of the load: one daemon, or several that share a bucket, with the store of
// the bucket. Daemons that were already running are only addresses.
type cluster struct {
	nodes           []*daemon // none if the daemons were already running
	store           *objectStore
	group           *cgroup // nil: memory is not bounded
	public, private []string
	watches         []*watch // of daemons with a known process
	data            string   // --data of the daemons
	disk            string   // directory of the stored data, "" if unknown
	fresh           bool     // the store was empty before the run
}

// isBucket reports whether --data names a bucket.
func isBucket(data string) bool { return strings.HasPrefix(data, "s3://") }

// running returns the daemons that are already running.
func (c *config) running() *cluster {
	x := &cluster{public: c.options.Addrs, private: c.queryAddrs, disk: c.data}
	if c.pid != 0 {
		x.watches = []*watch{{pid: func() int { return c.pid }}}
	}
	return x
}

// startCluster starts the store, if there is one to start, builds ingest in dir unless there is a
// program, starts all daemons and waits until they are ready. The caller must end the result, even
// after an error.
func (c *config) startCluster(ctx context.Context, dir string, stderr io.Writer) (x *cluster, err error) {
	x = &cluster{data: c.data}
	switch {
	case c.store != "":
		if x.store, err = startStore(c.store, filepath.Join(dir, "store")); err != nil {
			return x, err
		}
		fmt.Fprintf(stderr, "load: %s is at http://%s, process %d\n", x.store.name, x.store.addr, x.store.pid())
		x.data, x.disk, x.fresh = x.store.location(), x.store.dir, true
	case !isBucket(c.data):
		x.data = cmp.Or(c.data, filepath.Join(dir, "data"))
		x.disk, x.fresh = x.data, emptyDir(x.data)
	}
	program := c.ingest
	if program == "" {
		program = filepath.Join(dir, "ingest")
		fmt.Fprintln(stderr, "load: building ingest …")
		if out, err := exec.CommandContext(ctx, "go", "build", "-o", program,
			"github.com/fieldtrie/fieldtrie/cmd/ingest").CombinedOutput(); err != nil {
			return x, fmt.Errorf("build ingest: %w\n%s", err, out)
		}
	}
	if c.memory > 0 {
		if x.group, err = newCgroup(c.memory); err != nil {
			return x, err
		}
	}
	for i := range c.nodes {
		d, err := c.newDaemon(program, i, dir, x)
		if err != nil {
			return x, err
		}
		x.nodes = append(x.nodes, d)
		if err := d.startReady(); err != nil {
			return x, err
		}
		x.watches = append(x.watches, &d.watch)
		x.public, x.private = append(x.public, d.public), append(x.private, d.private)
		fmt.Fprintf(stderr, "load: %s is at http://%s and http://%s, process %d\n", d.name, d.public,
			d.private, d.pid())
	}
	return x, nil
}

// manyPages is a daemon's default limit of pages.
const manyPages = 2000

// newDaemon returns a daemon that is not yet started.
func (c *config) newDaemon(program string, number int, dir string, x *cluster) (d *daemon, err error) {
	d = &daemon{process: process{name: "ingest", program: program}}
	if c.nodes > 1 {
		d.name = fmt.Sprint("ingest ", number+1)
	}
	d.watch.pid = d.pid
	for _, addr := range []*string{&d.public, &d.private} {
		if *addr, err = freeAddr(); err != nil {
			return nil, err
		}
	}
	d.ready = "http://" + d.private + "/readyz"
	d.args = []string{"--data", x.data, "--listen", d.public, "--query-listen", d.private}
	if c.options.Pages > manyPages {
		d.args = append(d.args, "--max-pages", fmt.Sprint(c.options.Pages))
	}
	if c.options.Networks > 0 {
		d.args = append(d.args, "--trusted-proxies", "127.0.0.1")
	}
	if c.spool {
		d.args = append(d.args, "--spool", filepath.Join(dir, fmt.Sprint("spool-", number+1)))
	}
	if c.asks() {
		file, err := writeAccess(dir)
		if err != nil {
			return nil, err
		}
		d.args = append(d.args, "--access", file)
	}
	d.args = append(d.args, c.ingestFlags...)
	if x.store != nil {
		d.env = x.store.env
	}
	if x.group != nil {
		d.program, d.args = x.group.command(d.program, d.args)
	}
	return d, nil
}

// end kills everything that is still running.
func (x *cluster) end() {
	for _, d := range x.nodes {
		d.kill() // does nothing if it was stopped
	}
	if x.store != nil {
		x.store.kill()
	}
	if x.group != nil {
		x.group.remove()
	}
}

// stop stops the daemons like a service manager.
func (x *cluster) stop() (err error) {
	for _, d := range x.nodes {
		err = errors.Join(err, d.stop())
	}
	return err
}

// logged returns the end of the logs of the daemons and the store as an error, or nil if they were
// not started here.
func (x *cluster) logged() (err error) {
	for _, d := range x.nodes {
		err = errors.Join(err, d.logged())
	}
	if x.store != nil {
		err = errors.Join(err, x.store.logged())
	}
	return err
}

// goroutines ends the daemons, and returns the stacks of their goroutines as an error, or nil.
func (x *cluster) goroutines() (err error) {
	for _, d := range x.nodes {
		err = errors.Join(err, fmt.Errorf("the goroutines of %s:\n%s", d.name, d.goroutines()))
	}
	return err
}
