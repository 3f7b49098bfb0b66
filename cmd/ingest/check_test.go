package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// fileEntries are entries of each kind of settings file: some are valid, some have one mistake. %d
// is replaced by a different number in each.
var fileEntries = []struct {
	flag, head   string
	right, wrong []string
}{
	{"page-rules", "", []string{"/shop/:item%d", "/a%d/**"}, []string{"shop%d", "/a%d/**/b", "/a%d?q"}},
	{"sampling", "", []string{"/a%d 0.5"}, []string{"/a%d", "/a%d 2", "a%d 0.5"}},
	{"keys", "", []string{"- {key: k%d, site: shop}"}, []string{"- {key: k%d}", "- {key: k%d, site: shop, rate: -1}",
		"- {key: k%d, site: shop, origins: [nonsense]}",
		"- {key: k%d, site: shop, nope: 1}", "- {key: k %d, site: shop}"}},
	{"sites", "", []string{"- {name: s%d}", "- {name: t%d, rate: 3}"}, []string{"- {name: 'a:%d'}",
		"- {name: s%d, rate: many}", "- {name: s%d, disk: big}"}},
	{"owners", "packages:\n", []string{"- {path: node_modules/a%d, name: a}"}, []string{"- {path: node_modules/a%d}",
		"- {name: a%d}", "- {path: x%d, name: a, more: 1}"}},
	{"budgets", "budgets:\n", []string{"- {name: b%d, page: /a, metric: p75, limit: 2s}"},
		[]string{"- {name: b%d, page: /a, metric: p75, limit: soon}",
			"- {name: b%d, page: a, metric: p75, limit: 2s}", "- {name: b%d, metric: p33, limit: 2s}"}},
	{"access", "tokens:\n", []string{"- {name: t%d, sha256: " +
		"01ba4719c80b6fe911b091a7c05124b64eeece964e09c058ef8f9805da%06x}"}, []string{"- {name: t%d, sha256: abc}",
		"- {name: t%d, token: secret}",
		"- {name: t%d, sha256: 01ba4719c80b6fe911b091a7c05124b64eeece964e09c058ef8f9805da%06x, scopes: [none]}"}},
}

// --check reports the mistakes of all files, whichever entries have them.
func TestCheckNamesAll(t *testing.T) {
	named := regexp.MustCompile(`(\S+): line (\d+): `)
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 6))
		dir := t.TempDir()
		var args, want []string
		n := 0
		for _, f := range fileEntries {
			if r.IntN(4) == 0 {
				continue
			}
			path, text := filepath.Join(dir, f.flag), f.head
			for range 1 + r.IntN(12) {
				from := f.right
				if r.IntN(3) == 0 {
					from = f.wrong
					want = append(want, fmt.Sprintf("%s:%d", path, 1+strings.Count(text, "\n")))
				}
				n++
				entry := from[r.IntN(len(from))]
				if strings.Count(entry, "%") == 2 {
					text += fmt.Sprintf(entry, n, n) + "\n"
				} else {
					text += fmt.Sprintf(entry, n) + "\n"
				}
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			args = append(args, "--"+f.flag, path)
		}
		c := &config{}
		if err := c.parse(args, nil); err != nil {
			t.Fatal(err)
		}
		var got []string
		if err := c.printCheck(&bytes.Buffer{}, nil); err != nil {
			for _, m := range named.FindAllStringSubmatch(err.Error(), -1) {
				got = append(got, m[1]+":"+m[2])
			}
			// The test compares the keys of valid sites with these.
			got = slices.DeleteFunc(got, func(s string) bool {
				return strings.HasSuffix(s, "not in the file of --sites")
			})
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(want, got) {
			t.Fatalf("seed %d: the mistakes are at\n%s\nand these were reported:\n%s", seed, strings.Join(want, "\n"),
				strings.Join(got, "\n"))
		}
	}
}

// --check reports the channels that the daemon would not deliver to.
func TestCheckTargets(t *testing.T) {
	for _, x := range []struct{ more, want string }{
		{"", "line 2: channel on-call: 127.0.0.1 is not a public address; set allow_private: true"},
		{", allow_private: true", ""},
	} {
		dir := t.TempDir()
		secret, path := filepath.Join(dir, "secret"), filepath.Join(dir, "notify.yaml")
		text := "channels:\n- {name: on-call, kind: alertmanager, user: u, target: 'http://127.0.0.1:9093', " +
			"secret_file: " + secret + x.more + "}\n"
		if err := errors.Join(os.WriteFile(secret, []byte("token"), 0o600), os.WriteFile(path, []byte(text),
			0o600)); err != nil {
			t.Fatal(err)
		}
		c := &config{}
		if err := c.parse([]string{"--notify", path}, nil); err != nil {
			t.Fatal(err)
		}
		if err := c.printCheck(&bytes.Buffer{}, nil); (err != nil) != (x.want != "") || err != nil &&
			!strings.Contains(err.Error(), x.want) {
			t.Errorf("%q: got %v, want an error with %q", x.more, err, x.want)
		}
	}
}

// The number of mistakes that are printed is bounded.
func TestCheckIsBounded(t *testing.T) {
	for _, f := range fileEntries {
		path := filepath.Join(t.TempDir(), f.flag)
		text := f.head
		for i := range 400 {
			text += strings.ReplaceAll(f.wrong[0], "%d", fmt.Sprint(i)) + "\n"
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c := &config{}
		if err := c.parse([]string{"--" + f.flag, path}, nil); err != nil {
			t.Fatal(err)
		}
		err := c.printCheck(&bytes.Buffer{}, nil)
		if err == nil || strings.Count(err.Error(), "\n") > 60 || !strings.Contains(err.Error(),
			"there are more errors") {
			t.Errorf("%s with 400 mistakes: %.1000v", f.flag, err)
		}
	}
}
