// Package site separates the sites of one daemon. A page of a site has the name of the site before
// its path: "shop:/feed". All storage and queries are by page, so data of different sites never
// mix. Pages of a daemon without sites are only paths.
package site

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/fieldtrie/fieldtrie/internal/strictyaml"
)

// Site is a site that sends traces.
type Site struct {
	Name string
	Rate float64 // requests a second of all its keys, a minute's worth at once; 0: no limit
	Disk int64   // limit of its traces in bytes, as sent to the store; 0: no limit
}

// maxName bounds names in bytes: they are part of every page.
const maxName = 32

// MaxSites bounds the sites, since each has a share of the common limits.
const MaxSites = 1000

const nameChars = "abcdefghijklmnopqrstuvwxyz0123456789-_"

// CheckName rejects a text that is not the name of a site.
func CheckName(name string) error {
	if name == "" || len(name) > maxName || strings.Trim(name, nameChars) != "" {
		return fmt.Errorf("%.60q is not the name of a site: use up to %d small letters, digits, - and _", name, maxName)
	}
	return nil
}

// Page returns the page of a site: "shop" and "/feed" are "shop:/feed", as are "shop" and
// "shop:/feed". Without a site it is only the page.
func Page(site, page string) string {
	if of, _ := Cut(page); site == "" || of == site {
		return page
	}
	return site + ":" + page
}

// Cut splits a page into its site, "" if it has none, and its path.
func Cut(page string) (site, path string) {
	if before, after, ok := strings.Cut(page, ":"); ok && CheckName(before) == nil && after != "" && (after[0] == '/' || after[0] == '(') {
		return before, after
	}
	return "", page
}

// Parse reads sites, a YAML list:
//
//   - name: shop
//     rate: 200
//     disk: 20GiB
//   - name: blog
//
// Errors name the line. A file without a site is an error.
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
			err = errors.Join(err, item.Errorf("site %s stands in the list twice", s.Name))
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
		return nil, fmt.Errorf("%d sites, the most are %d", len(sites), MaxSites)
	}
	return sites, nil
}

// parseSite returns all that is wrong with a site.
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
