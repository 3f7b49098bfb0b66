package main

import (
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"

	"github.com/fieldtrie/fieldtrie/cmd/ingest/watching"
	"github.com/fieldtrie/fieldtrie/collect"
	"github.com/fieldtrie/fieldtrie/query/budget"
	"github.com/fieldtrie/fieldtrie/rules/access"
)

// hangUps returns a channel of the signals on which to read settings again. Without any file
// there is nothing to read, and SIGHUP ends the daemon.
func (c *config) hangUps() chan os.Signal {
	signals := make(chan os.Signal, 1)
	if c.file+c.sampling+c.keysFile+c.access+c.budgets != "" {
		signal.Notify(signals, syscall.SIGHUP)
	}
	return signals
}

// reload is what reads the settings and their files again. What can not be used stays as it
// was.
type reload struct {
	config    *config
	ownOrigin string // of the demo, which may always send; empty without one
	collector *collect.Collector
	guard     *access.Guard     // nil without --access
	board     *budget.Board     // nil without --budgets
	watcher   *watching.Watcher // nil with --watch=false
	audit     *audit
	reads     *prometheus.CounterVec
	log       *slog.Logger
}

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
		}
	})
	if r.guard != nil {
		again(r, "access", c.access, c.readAccess, r.guard.SetRules)
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
	if err != nil {
		r.read("config", err)
		r.log.Error("all settings stay as they were", "err", err)
		return
	}
	r.read("config", nil)
	changed := r.config.differing(now)
	taken := slices.DeleteFunc(slices.Clone(changed), func(flag string) bool { return !r.takes(flag, now) })
	r.take(now)
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

// takes reports whether a running daemon can go on with another value of a flag.
func (r reload) takes(flag string, now *config) bool {
	switch flag {
	case "allow-origin", "first-party", "key", "keys", "sampling":
		return true
	case "access": // a guard is there from the start, or not at all
		return r.guard != nil && now.access != ""
	case "budgets":
		return r.board != nil && now.budgets != ""
	}
	return false
}

// take has the daemon go on with what it takes of now.
func (r reload) take(now *config) {
	c := r.config
	c.origins, c.firstParty, c.keys, c.keysFile, c.sampling = now.origins, now.firstParty, now.keys, now.keysFile, now.sampling
	if r.takes("access", now) {
		c.access = now.access
	}
	if r.takes("budgets", now) {
		c.budgets = now.budgets
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
