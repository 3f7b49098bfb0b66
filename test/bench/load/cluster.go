package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"
)

// clusterFlags adds the flags for daemons that share a bucket.
func (c *config) clusterFlags(fs *pflag.FlagSet) {
	t := &c.trouble
	fs.IntVar(&c.nodes, "nodes", 1,
		"number of daemons to start on one bucket from --store or --data s3://…; each request goes to one of them, "+
			"a repeat to another one")
	fs.StringVar(&c.store, "store", "",
		"start this `PROGRAM`, versitygw or minio, as the store, with its data in a directory that is deleted at "+
			"the end")
	fs.BoolVar(&c.spool, "spool", false, "give each daemon a spool directory")
	fs.DurationVar(&t.pauseEvery, "pause-every", 0, "suspend the daemon with the most shards about this often")
	fs.DurationVar(&t.pauseFor, "pause-for", time.Minute, "for this `DURATION`")
	fs.DurationVar(&t.downAt, "store-down-at", 0, "kill the store after this `DURATION`")
	fs.DurationVar(&t.downFor, "store-down-for", 0, "and start it again after this one")
	fs.DurationVar(&t.wipeAt, "wipe-at", 0, "after this `DURATION` empty one of the four directories of minio")
}

// checkCluster rejects flags that cannot be combined with daemons on a bucket.
func (c *config) checkCluster() error {
	t := c.trouble
	own := len(c.options.Addrs) == 0
	kind, known := storeKinds[filepath.Base(c.store)]
	switch {
	case c.nodes < 1 || t.pauseEvery < 0 || t.pauseFor <= 0 || t.downAt < 0 || t.downFor < 0 || t.wipeAt < 0:
		return errors.New("--nodes and --pause-for must be above 0, and times must not be negative")
	case !own && (c.nodes > 1 || c.store != "" || c.spool):
		return errors.New("--nodes, --store and --spool start daemons, so they cannot be combined with --addr")
	case c.nodes > 1 && c.store == "" && !isBucket(c.data):
		return errors.New("--nodes needs a bucket: use --store, or --data s3://…")
	case c.store != "" && !known:
		return fmt.Errorf("--store: %q is neither versitygw nor minio", c.store)
	case t.wipeAt > 0 && kind.parts < 2:
		return errors.New("--wipe-at needs a store with several directories: --store minio")
	case c.store != "" && c.data != "":
		return errors.New("--store uses its own directory, so it cannot be combined with --data")
	case c.store == "" && t.downFor > 0:
		return errors.New("--store-down-for needs --store")
	}
	return nil
}

// addTrouble adds the faults injected into daemons and their store.
func (r *report) addTrouble(x *cluster, did *troubled, h *health) {
	did.mu.Lock()
	defer did.mu.Unlock()
	r.Kills, r.RestartSeconds = did.kills, round(did.slowest.Seconds())
	r.Pauses, r.PauseSeconds = did.pauses, round(did.paused.Seconds())
	r.StoreDownSeconds, r.Wiped = round(did.down.Seconds()), did.wiped
	r.LongestLag = round(h.longestLag().Seconds())
}

// printTrouble adds the injected faults to a table.
func (r *report) printTrouble(row func(name, format string, args ...any)) {
	if r.Kills > 0 {
		row("kills", "%d; the slowest start after one took %.1f s", r.Kills, r.RestartSeconds)
	}
	if r.Pauses > 0 {
		row("pauses", "%d, of %.1f s at most, of a daemon that rolled up", r.Pauses, r.PauseSeconds)
	}
	if r.StoreDownSeconds > 0 {
		row("store", "killed, and ready again after %.1f s", r.StoreDownSeconds)
	}
	if r.Wiped > 0 {
		row("store", "%d of its directories wiped", r.Wiped)
	}
	if r.LongestLag > 0 {
		row("lag", "segments waited to be rolled up for %.1f s at most, as seen each second; %.1f s after the load "+
			"all were", r.LongestLag, r.SettleSeconds)
	}
}
