package main

import (
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/fieldtrie/fieldtrie/query/selection"

	"github.com/dustin/go-humanize"

	"github.com/fieldtrie/fieldtrie/collect"
)

// sizeValue is a flag for a number of bytes.
type sizeValue int64

// String returns a size that is read as the same one: in the largest unit that it is a whole number
// of.
func (v *sizeValue) String() string {
	n, unit := int64(*v), ""
	for _, larger := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if n < 1024 || n%1024 != 0 {
			break
		}
		n, unit = n/1024, larger
	}
	return strconv.FormatInt(n, 10) + unit
}
func (v *sizeValue) Type() string { return "size" }
func (v *sizeValue) Set(s string) error {
	n, err := humanize.ParseBytes(s)
	if err != nil || n == 0 || n > math.MaxInt64/2 {
		return fmt.Errorf("%q is not a size such as 256KiB", s)
	}
	*v = sizeValue(n)
	return nil
}

// ageValue is a flag for a duration that may be in days.
type ageValue time.Duration

// String returns a duration as whole days where it is some.
func (v *ageValue) String() string {
	const day = 24 * time.Hour
	if d := time.Duration(*v); d < day || d%day != 0 {
		return d.String()
	}
	return strconv.Itoa(int(time.Duration(*v)/day)) + "d"
}

func (v *ageValue) Type() string { return "duration" }
func (v *ageValue) Set(s string) error {
	d, err := selection.ParseAge(s)
	if err != nil || d < 0 {
		return fmt.Errorf("%q is not a duration such as 24h or 7d", s)
	}
	*v = ageValue(d)
	return nil
}

// listValue is a flag that may be given several times. It is a [pflag.SliceValue].
type listValue struct {
	values *[]string
	kind   string             // what one is
	check  func(string) error // refuses what is none
}

func origins(to *[]string) listValue { return listValue{to, "origin", collect.CheckOrigin} }
func keys(to *[]string) listValue    { return listValue{to, "key", collect.CheckKey} }
func hosts(to *[]string) listValue   { return listValue{to, "host", checkHost} }
func proxies(to *[]string) listValue {
	return listValue{to, "addr", func(s string) error { _, err := collect.ParseProxies([]string{s}); return err }}
}

func (v listValue) String() string     { return strings.Join(*v.values, " ") }
func (v listValue) Type() string       { return v.kind }
func (v listValue) GetSlice() []string { return *v.values }

// Set adds a value, or several with commas between them, which none of them can have.
func (v listValue) Set(s string) error {
	for one := range strings.SplitSeq(s, ",") {
		if err := v.Append(one); err != nil {
			return err
		}
	}
	return nil
}

func (v listValue) Append(s string) error {
	if err := v.check(s); err != nil {
		return err
	}
	*v.values = append(*v.values, s)
	return nil
}

func (v listValue) Replace(all []string) error {
	*v.values = nil
	for _, s := range all {
		if err := v.Append(s); err != nil {
			return err
		}
	}
	return nil
}

// checkHost refuses what is no host. A URL would match none, and hide all code.
func checkHost(s string) error {
	host := strings.TrimPrefix(s, "*.")
	if u, err := url.Parse("https://" + host); err != nil || host == "" || u.Host != host ||
		strings.ContainsAny(host, "*@") {
		return fmt.Errorf("%q is not a host such as example.com or *.example.com", s)
	}
	return nil
}
