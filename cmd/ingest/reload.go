package main

import (
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/fieldtrie/fieldtrie/collect"
	"github.com/fieldtrie/fieldtrie/query/budget"
)

// hangUps returns a channel of the signals on which to read settings again. Without any file
// there is nothing to read, and SIGHUP ends the daemon.
func (c *config) hangUps() chan os.Signal {
	signals := make(chan os.Signal, 1)
	if c.file+c.sampling+c.keysFile+c.access+c.budgets+c.owners != "" {
		signal.Notify(signals, syscall.SIGHUP)
	}
	return signals
}

// reload reads the settings and their files again. Invalid ones keep their previous value.
type reload struct{ *serving }

func (r reload) all() {
	r.settings()
	c := r.config
	if sites, err := c.readSites(); err != nil || !slices.Equal(sites, c.apart) {
		r.log.Warn("the sites stay as they were; another file of --sites takes a restart", "err", err)
	}
	again(r, "sampling", c.sampling, c.readSampling, r.collector.SetSampling)
	again(r, "keys", c.keysFile, c.readKeys, r.collector.SetKeys)
	again(r, "budgets", c.budgets, c.readBudgets, func(f *budget.File) {
		r.collector.SetFeatures(f.Features)
		r.board.SetFile(f)
		if r.watcher != nil {
			r.watcher.SetSettings(f.Watch)
			r.watcher.SetLimits(f.MaxCost)
		}
	})
	again(r, "owners", c.owners, c.readOwners, r.owners.Store)
	if r.private.guard != nil {
		again(r, "access", c.access, c.readAccess, r.private.guard.SetRules)
	}
}

// settings reads the settings again and takes over those that can be. All others are named.
func (r reload) settings() {
	if r.config.file == "" {
		return // the command line and the environment are as they were
	}
	now := &config{now: r.config.now}
	err := now.parse(r.config.args, r.config.environ)
	if err == nil {
		err = now.check()
	}
	if err == nil {
		_, err = now.checkFiles()
	}
	if err == nil && now.fields == 0 && r.config.fields > 0 { // it may be half written
		err = fmt.Errorf("config: %s: the file is empty now; write at least one setting, or restart", r.config.file)
	}
	if err != nil {
		r.read("config", err)
		r.log.Error("the settings stay as they were", "err", err)
		return
	}
	changed := r.config.differing(now)
	taken := slices.DeleteFunc(slices.Clone(changed), func(flag string) bool { return !r.takes(flag, now) })
	r.take(now)
	r.config.fields = now.fields
	r.read("config", nil)
	r.audit.changed(taken)
	left := slices.DeleteFunc(changed, func(flag string) bool { return slices.Contains(taken, flag) })
	r.log.Info("settings read", "file", r.config.file, "changed", taken)
	if len(left) > 0 {
		r.log.Warn("settings that changed take a restart", "settings", left)
	}
}

// differing returns the flags whose values differ, sorted.
func (c *config) differing(from *config) []string {
	var names []string
	c.flags.VisitAll(func(f *pflag.Flag) {
		if f.Value.String() != from.flags.Lookup(f.Name).Value.String() {
			names = append(names, f.Name)
		}
	})
	slices.Sort(names)
	return names
}

// takes reports whether a running daemon can change the value of a flag.
func (r reload) takes(flag string, now *config) bool {
	if kept := r.config.retentionOf(flag); kept != nil {
		return now.says(flag) || !shorter(*now.retentionOf(flag), *kept)
	}
	switch flag {
	case "allow-origin", "first-party", "key", "keys", "sampling", "owners", "source-link", "max-disk",
		"max-body", "max-inflated", "max-samples", "max-stacks", "max-frames", "max-string", "max-pages", "max-tags",
		"max-label-values", "max-skew",
		"rate", "page-rate", "key-rate":
		return true
	case "access": // a guard is there from the start, or not at all
		return r.private.guard != nil && now.access != ""
	case "budgets":
		return now.budgets != ""
	}
	return false
}

// says reports whether a flag was set explicitly. A removed line, as in a file that is half
// written, must not delete stored data.
func (s *settings) says(flag string) bool { return s.origin[flag] != "" }

// retentionOf returns the value of a flag that says for how long something is kept, nil of all
// others.
func (c *config) retentionOf(flag string) *time.Duration {
	switch flag {
	case "retention":
		return &c.retention
	case "hourly-retention":
		return &c.hourly
	case "daily-retention":
		return &c.daily
	}
	return nil
}

// shorter reports whether a deletes what b keeps. 0 keeps all.
func shorter(a, b time.Duration) bool { return a != 0 && (b == 0 || a < b) }

// take applies the changeable settings of now.
func (r reload) take(now *config) {
	c := r.config
	c.origins, c.firstParty, c.keys, c.keysFile, c.sampling = now.origins, now.firstParty, now.keys, now.keysFile,
		now.sampling
	c.limits, c.owners, c.sourceLink = now.limits, now.owners, now.sourceLink
	c.maxDisk = now.maxDisk
	for _, flag := range []string{"retention", "hourly-retention", "daily-retention"} {
		if r.takes(flag, now) {
			*c.retentionOf(flag) = *now.retentionOf(flag)
		}
	}
	if r.takes("access", now) {
		c.access = now.access
	}
	if r.takes("budgets", now) {
		c.budgets = now.budgets
	}
	r.keep()
	r.collector.SetLimits(c.receivingLimits())
	if links, err := c.links(); err == nil {
		r.links.Store(&links)
	}
	if c.owners == "" { // else the file is read next
		owners, _ := c.readOwners() // which fails for a file alone
		r.owners.Store(owners)
	}
	r.collector.SetOrigins(withOwn(c.origins, r.ownOrigin))
	r.collector.SetFirstParty(c.firstParty)
	if c.keysFile == "" { // else the file is read next
		keys, _ := c.readKeys() // which fails for a file alone
		r.collector.SetKeys(keys)
	}
	if c.sampling == "" {
		r.collector.SetSampling(collect.SamplingRules{})
	}
}

// keep has what is stored be kept for as long as the settings say.
func (r reload) keep() {
	if err := r.kept.node.SetRetention(r.config.storeOptions()); err != nil {
		r.log.Error("the retention stays unchanged", "err", err)
		return
	}
	r.collector.SetRetention(r.config.retention)
}

// withOwn adds the daemon's own origin to those that may send; if there are none, all may.
func withOwn(origins []string, own string) []string {
	if len(origins) == 0 || own == "" {
		return origins
	}
	return append(slices.Clone(origins), own)
}

func (r reload) read(what string, err error) {
	result := "ok"
	if err != nil {
		result = "error"
	}
	r.reads.WithLabelValues(what, result).Inc()
}

// again reads the rules of the file of a flag again, if there is one.
func again[T any](r reload, what, file string, read func() (T, error), set func(T)) {
	if file == "" {
		return
	}
	rules, err := read()
	r.read(what, err)
	if err != nil {
		r.log.Error("the rules of --"+what+" stay as they were", "err", err)
		return
	}
	set(rules)
	r.log.Info("rules of --"+what+" read", "file", file)
}
