package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/fieldtrie/fieldtrie/collect"
	"github.com/fieldtrie/fieldtrie/notify"
	"github.com/fieldtrie/fieldtrie/rules/access"
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
		return rules, within(name, err)
	}
	return rules, nil
}

func (c *config) readSampling() (collect.SamplingRules, error) {
	rules, err := readRules(c.sampling, collect.ParseSamplingRules)
	if err != nil {
		return rules, within("sampling rules", err)
	}
	return rules, nil
}

// readKeys returns the keys of the command line and of the file.
func (c *config) readKeys() ([]collect.Key, error) {
	keys, err := readRules(c.keysFile, collect.ParseKeys)
	if err != nil {
		return nil, within("keys", err)
	}
	for _, value := range c.keys {
		if slices.ContainsFunc(keys, func(k collect.Key) bool { return k.Value == value }) {
			return nil, fmt.Errorf("keys: %s: key %s is one of --key, too; leave out one of them", c.keysFile, value)
		}
		keys = append(keys, collect.Key{Value: value})
	}
	return keys, c.checkSites(c.apart, "keys: "+c.keysFile, sitesOf(keys)...)
}

// readAccess returns the access rules of the private address, nil without --access.
func (c *config) readAccess() (*access.Rules, error) {
	rules, err := readRules(c.access, access.Parse)
	if err != nil {
		return nil, within("access rules", err)
	}
	if rules == nil {
		return nil, nil
	}
	if err := rules.ReadSecret(os.ReadFile); err != nil {
		return nil, fmt.Errorf("access rules: %s: %w", c.access, err)
	}
	named := rules.Sites()
	if len(named) > 0 && c.sites == "" {
		return nil, fmt.Errorf("access rules: %s: site %s: without --sites there are none", c.access, named[0])
	}
	sites, err := c.readSites()
	if err != nil {
		return nil, err
	}
	if err := c.checkSites(sites, "access rules: "+c.access, named...); err != nil {
		return nil, err
	}
	return rules, nil
}

// readNotify returns the notification channels with their secrets; nil without --notify. It returns
// all mistakes.
func (c *config) readNotify() (*notify.File, error) {
	f, err := readRules(c.notify, notify.Parse)
	if f != nil {
		if err = f.ReadSecrets(os.ReadFile, os.Getenv); err != nil {
			err = within(c.notify, err)
		}
	}
	if err != nil {
		return nil, within("notify", err)
	}
	return f, nil
}

// channelsFound summarises the channels.
func channelsFound(f *notify.File) string {
	if f == nil {
		return ""
	}
	return "channels " + strings.Join(namesOf(f), ", ")
}

func namesOf(f *notify.File) (names []string) {
	for _, c := range f.Channels {
		names = append(names, c.Name)
	}
	return names
}
