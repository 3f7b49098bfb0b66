// Package site separates the sites of one daemon. The name of a site precedes the paths of its
// pages: "shop:/feed". Storage and queries are organised by page, so data of different sites never
// mixes. Without sites, a page is only a path.
package site

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/fieldtrie/fieldtrie/internal/strictyaml"
)

// Site is a site that sends traces to the daemon.
type Site struct {
	Name string
	Rate float64 // requests a second of all its keys, with bursts of a minute's worth; 0: no limit
	Disk int64   // limit of its stored traces in bytes; 0: no limit
}

// maxName is the maximum length of names in bytes: they are part of every page.
const maxName = 32

// MaxSites is the maximum number of sites, since each gets a share of common limits.
const MaxSites = 1000

const nameChars = "abcdefghijklmnopqrstuvwxyz0123456789-_"

// CheckName returns an error unless name is a valid name of a site.
func CheckName(name string) error {
	if name == "" || len(name) > maxName || strings.Trim(name, nameChars) != "" {
		return fmt.Errorf("%.60q is not the name of a site: use up to %d lower-case letters, digits, - and _",
			name, maxName)
	}
	return nil
}

// Page returns the page of a site: "shop" and "/feed" give "shop:/feed". A page that already has
// the site is unchanged. Without a site it returns page.
func Page(site, page string) string {
	if of, _ := Cut(page); site == "" || of == site {
		return page
	}
	return site + ":" + page
}

// Cut splits a page into its site, "" if it has none, and its path.
func Cut(page string) (site, path string) {
	if before, after, ok := strings.Cut(page, ":"); ok && CheckName(before) == nil && after != "" && (after[0] == '/' ||
		after[0] == '(') {
		return before, after
	}
	return "", page
}

// Parse parses sites, a YAML list:
//
//   - name: shop
//     rate: 200
//     disk: 20GiB
//   - name: blog
//
// Errors contain the line number. A file without a site is an error.
func Parse(r io.Reader) ([]Site, error) {
	file, err := strictyaml.Read(r)
	if err != nil {
		return nil, err
	}
	var sites []Site
	seen := map[string]bool{}
	err = file.Each(func(item strictyaml.Value) error {
		s, err := parseSite(item)
		if seen[s.Name] && s.Name != "" {
			err = errors.Join(err, item.Errorf("duplicate site %s", s.Name))
		}
		seen[s.Name] = true
		sites = append(sites, s)
		return err
	})
	if err != nil {
		return nil, err
	}
	switch {
	case len(sites) == 0:
		return nil, errors.New("no site; add one, as - name: NAME")
	case len(sites) > MaxSites:
		return nil, fmt.Errorf("%d sites, the most is %d", len(sites), MaxSites)
	}
	return sites, nil
}

// parseSite parses one site and returns all its errors, joined.
func parseSite(item strictyaml.Value) (s Site, err error) {
	fields, err := item.Fields("name", "rate", "disk")
	wrong := []error{err}
	fail := func(err error) { wrong = append(wrong, err) }
	s.Name, err = fields["name"].Text()
	if fail(err); err == nil {
		if err := CheckName(s.Name); err != nil {
			fail(item.Errorf("name: %w", err))
		}
	}
	s.Rate, err = fields["rate"].Float()
	if fail(err); s.Rate < 0 {
		fail(fields["rate"].Errorf("rate: %g is negative; use requests a second, or leave it out", s.Rate))
	}
	text, err := fields["disk"].Text()
	if fail(err); text != "" {
		n, err := humanize.ParseBytes(text)
		if err != nil || n == 0 || n > 1<<60 {
			fail(fields["disk"].Errorf("disk: %.40q is not a size such as 20GiB", text))
		}
		s.Disk = int64(n)
	}
	return s, errors.Join(wrong...)
}
