package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/fieldtrie/fieldtrie/encode/output"
	"github.com/fieldtrie/fieldtrie/internal/authorities"
	"github.com/fieldtrie/fieldtrie/internal/commandline"
	"github.com/fieldtrie/fieldtrie/symbols"
	"github.com/fieldtrie/fieldtrie/symbols/build"
	"github.com/fieldtrie/fieldtrie/symbols/owner"
)

// command is the parsed command line, and the state of the work.
type command struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	wait           time.Duration // before the first retry of a request

	addr, tokenFile, ca string
	site                string
	release, repository string
	urlPrefix           string
	codeowners          string
	commit, repo        string
	gitRange            string
	sources             string
	deleteMaps          bool
	force, dryRun       bool
	strict              bool
	format              string
	dirs                []string

	progress *progress
	daemon   *client // nil without --addr
	owners   string  // content of the CODEOWNERS file
	commits  []symbols.Commit
	project  *os.Root // of --sources, nil without
	folders  []*folder
	scripts  []*script
	tables   map[string][]byte // created tables, encoded, by the hash of the script
	sent     map[string]bool   // tables, by the hash of the script
	left     []build.Problem   // problems not related to a script
	id       string            // of the upload, once the daemon returned it
	deleted  int               // maps
}

// program describes the command line of upload, including --help and --version.
func (c *command) program() (*commandline.Program, *commandline.Asked) {
	fs, asked := pflag.NewFlagSet("upload", pflag.ContinueOnError), new(commandline.Asked)
	fs.SortFlags = false
	c.flags(fs)
	asked.Add(fs)
	return &commandline.Program{Name: "upload", Summary: "send the names of the functions of a build to ingest",
		Usage: usage, Sections: []commandline.Section{{Flags: fs}}, Notes: notes}, asked
}

func (c *command) flags(fs *pflag.FlagSet) {
	fs.StringVar(&c.addr, "addr", "", "private `ADDR` of ingest, such as 127.0.0.1:8419 or https://host:8419")
	fs.StringVar(&c.tokenFile, "token-file", "",
		"`FILE` with a token with the scope symbols; - is standard input (default $FIELDTRIE_TOKEN)")
	fs.StringVar(&c.site, "site", "",
		"`SITE` of the symbols, if the daemon has several (default: the site of the token, or shared by all sites)")
	fs.StringVar(&c.ca, "ca", "", "PEM `FILE` with the certificate authorities for ingest (default: the system's)")
	fs.StringVar(&c.release, "release", "",
		"`RELEASE` of the build, as in its pages: it distinguishes scripts of the same name")
	fs.StringVar(&c.urlPrefix, "url-prefix", "",
		"`URL` under which the folders are served, if other builds have scripts with the same paths")
	fs.StringVar(&c.repository, "repository", "", "`NAME` of the repository with the sources, such as example/shop")
	fs.StringVar(&c.commit, "commit", "",
		"hash `SHA` of the commit that was built, for notifications that comment on it")
	fs.StringVar(&c.repo, "repo", "",
		"`URL` of the repository, such as https://github.com/example/shop, for links to commits")
	fs.StringVar(&c.gitRange, "git-range", "",
		"commits `A..B` since the release before: their authors, titles and files are sent, so that changes show "+
			"who edited the code")
	fs.StringVar(&c.codeowners, "codeowners", "", "CODEOWNERS `FILE` of the project, for owners of code")
	fs.StringVar(&c.sources, "sources", "", "folder `DIR` of the project, for sources without content in the maps")
	fs.BoolVar(&c.deleteMaps, "delete-maps", false,
		"delete the maps of the scripts after the upload; scripts stay as they are")
	fs.BoolVar(&c.force, "force", false, "create and send tables even if the daemon has them")
	fs.BoolVar(&c.dryRun, "dry-run", false, "create all tables without sending any; works without --addr")
	fs.BoolVar(&c.strict, "strict", false,
		"create all tables; if there is any problem, send nothing and exit with status 1")
	fs.StringVarP(&c.format, "format", "f", "table", "`FORMAT` of the results: table or json")
}

// check rejects incomplete or contradictory command lines.
func (c *command) check() error {
	if len(c.dirs) == 0 {
		return errors.New("no folder on the command line; name the output folder of the bundler, such as dist/")
	}
	if c.format != "table" && c.format != "json" {
		return fmt.Errorf("unknown format %q; known are table, json", c.format)
	}
	if c.urlPrefix != "" {
		u, err := url.Parse(c.urlPrefix)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil ||
			u.RawQuery != "" || u.Fragment != "" {
			return fmt.Errorf("--url-prefix: %q is not a URL such as https://cdn.example.com/shop/", c.urlPrefix)
		}
	}
	if u, err := url.Parse(c.repo); c.repo != "" && (err != nil || u.Host == "" || u.Scheme != "http" &&
		u.Scheme != "https" || u.User != nil) {
		return fmt.Errorf("--repo: %q is not a URL such as https://github.com/example/shop", c.repo)
	}
	if c.commit != "" && (len(c.commit) < 7 || len(c.commit) > 64 || strings.Trim(c.commit, "0123456789abcdef") != "") {
		return fmt.Errorf("--commit: %q is not the hash of a commit, in hexadecimal", c.commit)
	}
	return c.checkDaemon()
}

// checkDaemon rejects flags for a daemon without --addr, and a token together with a password.
func (c *command) checkDaemon() error {
	switch {
	case c.addr == "" && !c.dryRun:
		return errors.New("--addr is missing: give the private address of ingest, such as https://host:8419, or use " +
			"--dry-run")
	case c.addr == "" && c.tokenFile != "":
		return errors.New("--token-file is for a daemon with --addr")
	case c.addr == "" && c.ca != "":
		return errors.New("--ca is for a daemon with --addr https://…")
	case c.tokenFile != "" && strings.Contains(c.addr, "@"):
		return errors.New("--token-file does not go with a user and a password in --addr")
	case c.ca != "" && !strings.HasPrefix(c.addr, "https://"):
		return errors.New("--ca needs --addr https://…: without TLS there is no certificate to verify")
	case c.addr == "":
		return nil
	}
	base, err := authorities.ParseAddr(c.addr)
	if err != nil {
		return fmt.Errorf("--addr: %w", err)
	}
	c.daemon = newClient(base, c.wait)
	c.daemon.site = c.site
	return nil
}

// upload runs all steps: find scripts, create tables, send them, delete maps.
func (c *command) upload(ctx context.Context) error {
	c.progress = newProgress(c.stderr)
	c.tables, c.sent = map[string][]byte{}, map[string]bool{}
	defer c.close()
	if err := c.prepare(); err != nil {
		return err
	}
	if err := c.readHistory(ctx); err != nil {
		return err
	}
	if err := c.open(); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{c.find, c.askKnown, c.makeTables} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	c.tellProblems()
	if err := c.judge(); err != nil {
		return errors.Join(err, c.print())
	}
	if c.dryRun {
		return c.print()
	}
	err := c.send(ctx)
	if err == nil && c.deleteMaps {
		err = c.removeMaps()
	}
	return errors.Join(err, c.print())
}

// prepare reads additional files first, to report mistakes in them early.
func (c *command) prepare() error {
	if c.daemon != nil {
		c.daemon.retrying = func(why error, wait time.Duration) {
			c.progress.say(fmt.Sprintf("upload: %v; retrying in %v", why, wait.Round(time.Second/10)))
		}
		if err := c.identify(); err != nil {
			return err
		}
		if c.release == "" && !c.dryRun {
			c.warn("no --release: scripts with the same name in two builds cannot be distinguished; names with a " +
				"hash can")
		}
	}
	if c.codeowners == "" {
		return nil
	}
	data, err := readBounded(c.codeowners, owner.MaxCodeowners)
	if err != nil {
		return fmt.Errorf("--codeowners: %w", err)
	}
	_, warnings, err := owner.ParseCodeowners(string(data))
	if err != nil {
		return fmt.Errorf("--codeowners %s: %w", c.codeowners, err)
	}
	for _, w := range warnings {
		c.warn(fmt.Sprintf("--codeowners %s: %s", c.codeowners, w))
	}
	c.owners = string(data)
	return nil
}

// readBounded reads a file and rejects more than most bytes.
func readBounded(name string, most int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%s: over %d bytes", name, most)
	}
	return data, err
}

// warn writes a warning.
func (c *command) warn(text string) {
	fmt.Fprintln(c.stderr, "upload: warning:", output.Printable(text))
}
