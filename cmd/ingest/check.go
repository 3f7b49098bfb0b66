package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/fieldtrie/fieldtrie/cmd/ingest/address"
	"github.com/fieldtrie/fieldtrie/collect"
	"github.com/fieldtrie/fieldtrie/internal/strictyaml"
	"github.com/fieldtrie/fieldtrie/store/shared"
)

// printCheck reads the settings and files of a start, without the data, and prints the effective
// settings as a file, with defaults in comments. It returns all mistakes, including mistakes of
// reading the settings.
func (c *config) printCheck(stdout io.Writer, mistakes error) error {
	found, err := c.checkFiles()
	if err := errors.Join(mistakes, c.check(), err); err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString("# ingest would run with these settings. Comments have the defaults.\n")
	for _, s := range c.program.Sections[1:] { // the first is about settings
		var lines []string
		s.Flags.VisitAll(func(f *pflag.Flag) {
			if line := c.line(f); line != "" {
				lines = append(lines, line)
			}
		})
		if len(lines) > 0 {
			fmt.Fprintf(&b, "\n# %s\n%s", s.Title, strings.Join(lines, ""))
		}
	}
	for _, part := range []struct {
		title string
		lines []string
	}{{"Read without a mistake", found}, {"Look at this", c.warnings(time.Now())}} {
		if len(part.lines) > 0 {
			fmt.Fprintf(&b, "\n# %s:\n#   %s\n", part.title, strings.Join(part.lines, "\n#   "))
		}
	}
	_, err = io.WriteString(stdout, b.String())
	return err
}

// line returns a line of a file of settings, empty for what does not belong there.
func (c *config) line(f *pflag.Flag) string {
	if f.Hidden || slices.Contains(onlyTyped(), f.Name) {
		return ""
	}
	value := f.Value.String()
	if list, ok := f.Value.(pflag.SliceValue); ok {
		var quoted []string
		for _, s := range list.GetSlice() {
			quoted = append(quoted, strictyaml.Quote(s))
		}
		value = "[" + strings.Join(quoted, ", ") + "]"
	} else if kind := f.Value.Type(); kind == "string" {
		value = strictyaml.Quote(value)
	}
	origin, set := c.origin[f.Name]
	if value == `""` || value == "[]" || value == "0" && f.Value.Type() == "size" {
		return fmt.Sprintf("# %s: (none)\n", f.Name)
	}
	if !set {
		return fmt.Sprintf("# %s: %s\n", f.Name, value)
	}
	return fmt.Sprintf("%-40s # %s\n", f.Name+": "+value, origin)
}

// checkFiles reads the files that the settings name, and returns a summary of their contents and
// all their mistakes. It does not read the data or the bucket.
func (c *config) checkFiles() (found []string, err error) {
	var wrong []error
	check := func(file, holds string, err error) {
		switch {
		case err != nil:
			wrong = append(wrong, err)
		case file != "":
			found = append(found, file+": "+holds)
		}
	}
	options, err := c.collectOptions() // page rules, sampling, keys
	check("", "", err)
	if err == nil {
		check(c.pageRules, "page rules", nil)
		check(c.sampling, "sampling rules", nil)
		check(c.keysFile, keysFound(options.Keys), nil)
		check(c.sites, describeSites(options.Sites), nil)
	}
	budgets, err := c.readBudgets()
	check("", "", err)
	if err == nil {
		check(c.budgets, fmt.Sprintf("%d budgets and rules for features", len(budgets.Budgets)), nil)
	}
	channels, err := c.readNotify()
	if err == nil && channels != nil {
		err = within("notify", within(c.notify, channels.CheckTargets(lookup)))
	}
	check(c.notify, channelsFound(channels), err)
	_, err = c.readOwners()
	check(c.owners, "owners", err)
	_, err = c.links()
	check("", "", err)
	_, err = c.readAccess()
	check(c.access, "who may ask", err)
	for _, pair := range c.certificates() {
		read, err := tls.LoadX509KeyPair(pair.cert, pair.key)
		if err != nil {
			err = fmt.Errorf("--%[1]stls-cert and --%[1]stls-key: %[2]w", pair.of, err)
		}
		check(pair.cert, "a certificate until "+expiry(read).Format(time.DateOnly), err)
	}
	for _, where := range [][2]string{{"listen", c.listen}, {"query-listen", c.queryListen}} {
		if err := address.Check(where[1]); err != nil {
			check("", "", fmt.Errorf("--%s: %w", where[0], err))
		}
	}
	if dir, ok := shared.Folder(c.data); ok {
		if info, err := os.Stat(dir); err == nil && !info.IsDir() {
			check("", "", fmt.Errorf("--data: %s is no directory", dir))
		}
	}
	return found, onceEach(wrong)
}

// lookupTimeout bounds how long --check waits for the addresses of a host.
const lookupTimeout = 3 * time.Second

// lookup returns the addresses of a host, none if it cannot resolve the host.
func lookup(host string) []netip.Addr {
	ctx, cancel := context.WithTimeout(context.Background(), lookupTimeout)
	defer cancel()
	addresses, _ := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	return addresses
}

// onceEach joins errors, each of which stands there once: some files are read for others, too.
func onceEach(wrong []error) error {
	var all []error
	seen := map[string]bool{}
	for _, err := range each(errors.Join(wrong...)) {
		if text := err.Error(); !seen[text] {
			seen[text] = true
			all = append(all, err)
		}
	}
	return errors.Join(all...)
}

func keysFound(keys []collect.Key) string {
	sites := map[string]bool{}
	for _, k := range keys {
		sites[k.Site] = true
	}
	return fmt.Sprintf("%d keys of %d sites", len(keys), len(sites))
}

// certificate is the certificate of an address, in two files.
type certificate struct{ of, cert, key string } // of: the prefix of its flags

// certificates returns those that there are.
func (c *config) certificates() []certificate {
	all := []certificate{{"public-", c.publicCert, c.publicKey}, {"", c.tlsCert, c.tlsKey}}
	return slices.DeleteFunc(all, func(x certificate) bool { return x.cert == "" })
}

// expiry returns when a certificate ends, the zero Time without one.
func expiry(pair tls.Certificate) time.Time {
	if pair.Leaf == nil {
		return time.Time{}
	}
	return pair.Leaf.NotAfter
}

// warnings are about settings with which the daemon runs, and which few mean.
func (c *config) warnings(now time.Time) (out []string) {
	for _, name := range c.unknown {
		out = append(out, name+" in the environment is no setting")
	}
	_, socket := address.Path(c.queryListen)
	host, _, _ := net.SplitHostPort(c.queryListen)
	addr, err := netip.ParseAddr(host)
	if local := socket || host == "localhost" || err == nil && addr.IsLoopback(); !local && c.access == "" {
		out = append(out, "query-listen: the private address is open to other machines without a login; set access, "+
			"or an address of this machine alone")
	}
	for _, pair := range c.certificates() {
		if read, err := tls.LoadX509KeyPair(pair.cert, pair.key); err == nil &&
			expiry(read).Before(now.Add(14*24*time.Hour)) {
			out = append(out, pair.of+"tls-cert: the certificate ends "+expiry(read).Format(time.DateTime))
		}
	}
	if len(c.origins) == 0 && len(c.keys) == 0 && c.keysFile == "" {
		out = append(out, "allow-origin: pages of all sites may send; name yours")
	}
	if len(c.proxies) == 0 {
		out = append(out, "trusted-proxies: all clients count as one; list your proxies, or none")
	}
	return out
}
