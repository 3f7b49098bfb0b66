package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fieldtrie/fieldtrie/access"
	"github.com/fieldtrie/fieldtrie/budget"
	"github.com/fieldtrie/fieldtrie/collect"
)

// readRules reads a file with rules. No name means no rules.
func readRules[T any](name string, parse func(io.Reader) (T, error)) (rules T, err error) {
	if name == "" {
		return rules, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return rules, err
	}
	defer func() { _ = f.Close() }()
	rules, err = parse(f)
	if err != nil {
		return rules, fmt.Errorf("%s: %w", name, err)
	}
	return rules, nil
}

func (c *config) readSampling() (collect.SamplingRules, error) {
	rules, err := readRules(c.sampling, collect.ParseSamplingRules)
	if err != nil {
		return rules, fmt.Errorf("sampling rules: %w", err)
	}
	return rules, nil
}

// readKeys returns the keys of the command line and of the file.
func (c *config) readKeys() ([]collect.Key, error) {
	keys, err := readRules(c.keysFile, collect.ParseKeys)
	if err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	for _, value := range c.keys {
		if slices.ContainsFunc(keys, func(k collect.Key) bool { return k.Value == value }) {
			return nil, fmt.Errorf("keys: %s: key %s is one of --key, too; leave out one of them", c.keysFile, value)
		}
		keys = append(keys, collect.Key{Value: value})
	}
	return keys, nil
}

// readAccess returns who may have what on the private address, nil if all may have all.
func (c *config) readAccess() (*access.Rules, error) {
	rules, err := readRules(c.access, access.Parse)
	if err != nil {
		return nil, fmt.Errorf("access rules: %w", err)
	}
	return rules, nil
}

// hangUps returns a channel of the signals on which to read rules again.
func (c *config) hangUps() chan os.Signal {
	signals := make(chan os.Signal, 1)
	if c.sampling+c.keysFile+c.access+c.budgets != "" { // else there is nothing to read again, and SIGHUP ends the daemon
		signal.Notify(signals, syscall.SIGHUP)
	}
	return signals
}

// reread is what reads files with rules again. The rules of a file that can not be used
// stay as they were.
type reread struct {
	config    *config
	collector *collect.Collector
	guard     *access.Guard // nil without --access
	board     *budget.Board // nil without --budgets
	reads     *prometheus.CounterVec
	log       *slog.Logger
}

func (r reread) all() {
	c := r.config
	again(r, "sampling", c.sampling, c.readSampling, r.collector.SetSampling)
	again(r, "keys", c.keysFile, c.readKeys, r.collector.SetKeys)
	again(r, "budgets", c.budgets, c.readBudgets, func(f *budget.File) {
		r.collector.SetFeatures(f.Features)
		r.board.SetFile(f)
	})
	if r.guard != nil {
		again(r, "access", c.access, c.readAccess, r.guard.SetRules)
	}
}

// again reads the rules of the file of a flag again, if there is one.
func again[T any](r reread, what, file string, read func() (T, error), set func(T)) {
	if file == "" {
		return
	}
	rules, err := read()
	if err != nil {
		r.reads.WithLabelValues(what, "error").Inc()
		r.log.Error("the rules of --"+what+" stay as they were", "err", err)
		return
	}
	set(rules)
	r.reads.WithLabelValues(what, "ok").Inc()
	r.log.Info("rules of --"+what+" read", "file", file)
}
