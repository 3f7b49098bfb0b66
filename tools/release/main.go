// Command release makes what users install, from the commit that is checked out: archives,
// packages for Debian and Red Hat, an OCI image, a list of what is in it and checksums. The same
// commit and the same Go make the same bytes. "make release" runs it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// release is one release in the making.
type release struct {
	source     string // the checkout
	out        string // where it is put
	work       string // for what is on the way
	stderr     io.Writer
	maintainer string   // of packages
	documents  []string // files of docs and deploy, which the README and the documentation link to
	key        string   // file of the key that signs; empty: nothing is signed
	version    string   // of the module, such as v1.2.3
	revision   string
	date       time.Time // of the commit; all files have it
}

func run(ctx context.Context, args []string, stderr io.Writer) (err error) {
	fs := flag.NewFlagSet("release", flag.ContinueOnError)
	source := fs.String("source", ".", "the checkout, in `DIR`; the dashboard must have been built")
	out := fs.String("out", "dist", "put it into `DIR`, which is made anew")
	only := fs.String("platforms", "", "make only these `PLATFORMS`, such as linux/amd64,darwin/arm64 (default all)")
	maintainer := fs.String("maintainer", "Fieldtrie authors", "who answers for the packages, `NAME <MAIL>`")
	key := fs.String("sign", "",
		"sign the checksums with the minisign key in `FILE`; $MINISIGN_PASSWORD is its password, if it has one")
	if err := fs.Parse(args); err != nil {
		return err
	}
	platforms, err := choose(*only)
	if err != nil {
		return err
	}
	r := release{source: *source, out: *out, stderr: stderr, maintainer: *maintainer, key: *key}
	if err := r.look(ctx); err != nil {
		return err
	}
	if r.work, err = os.MkdirTemp("", "fieldtrie-release-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(r.work)) }()
	if err := os.RemoveAll(r.out); err != nil {
		return err
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	return r.make(ctx, platforms)
}

// look reads the commit and the list of documents. It returns an error if the checkout has
// uncommitted changes or no built dashboard.
func (r *release) look(ctx context.Context) error {
	changes, err := r.git(ctx, "status", "--porcelain")
	if err != nil {
		return err
	}
	if changes != "" {
		return fmt.Errorf("the checkout has changes, so the build would not be reproducible; commit or remove "+
			"them:\n%s", changes)
	}
	if _, err := os.Stat(filepath.Join(r.source, "web", "dist", "index.html")); err != nil {
		return fmt.Errorf("there is no dashboard: %w; run make web first", err)
	}
	if r.revision, err = r.git(ctx, "rev-parse", "HEAD"); err != nil {
		return err
	}
	date, err := r.git(ctx, "show", "--no-patch", "--format=%cI", "HEAD")
	if err != nil {
		return err
	}
	if r.date, err = time.Parse(time.RFC3339, date); err != nil {
		return fmt.Errorf("date of the commit: %w", err)
	}
	r.date = r.date.UTC()
	tracked, err := r.git(ctx, "ls-files", "docs/*.md", "docs/*.yaml", "docs/images", "deploy")
	if err != nil {
		return err
	}
	for name := range strings.Lines(tracked) {
		name = strings.TrimSpace(name)
		if !strings.HasSuffix(name, ".go") && path.Base(name) != "go.mod" && path.Base(name) != "go.sum" &&
			!strings.HasPrefix(name, "deploy/package/") {
			r.documents = append(r.documents, name)
		}
	}
	return nil
}

func (r *release) git(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = r.source
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}

// make makes all of a release.
func (r *release) make(ctx context.Context, platforms []platform) error {
	for _, p := range platforms {
		r.say("build %s", p)
		if err := r.build(ctx, p); err != nil {
			return err
		}
	}
	components, err := r.components(ctx, platforms)
	if err != nil {
		return err
	}
	if err := r.writeSBOM(components); err != nil {
		return err
	}
	texts, err := licences(components)
	if err != nil {
		return err
	}
	said, err := r.manual(ctx)
	if err != nil {
		return err
	}
	var images []platform
	installed := func(p platform) []file { return r.files(p, said, texts) }
	for _, p := range platforms {
		r.say("pack %s", p)
		if err := r.writeArchive(p, installed(p)); err != nil {
			return err
		}
		if p.os != "linux" {
			continue
		}
		images = append(images, p)
		if err := r.writePackages(p, installed(p)); err != nil {
			return err
		}
	}
	if len(images) > 0 {
		r.say("image")
		if err := r.writeImage(images, installed); err != nil {
			return err
		}
	}
	if err := r.writeSums(); err != nil {
		return err
	}
	return r.sign()
}

func (r *release) say(format string, args ...any) { fmt.Fprintf(r.stderr, format+"\n", args...) }

// name returns the name of a file of the release.
func (r *release) name(rest string) string {
	return filepath.Join(r.out, "fieldtrie_"+strings.TrimPrefix(r.version, "v")+"_"+rest)
}
