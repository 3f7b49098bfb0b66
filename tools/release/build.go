package main

import (
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// programs are all that there are. The first runs the others.
var programs = []string{"fieldtrie", "ingest", "aggregate", "upload"}

// platform is what programs are built for.
type platform struct {
	os, arch string
	programs []string
}

func (p platform) String() string { return p.os + "/" + p.arch }

// platforms returns all platforms: Linux for daemons, and all systems for clients.
func platforms() []platform {
	all, ask := programs, []string{"fieldtrie", "aggregate", "upload"}
	return []platform{
		{"linux", "amd64", all}, {"linux", "arm64", all},
		{"darwin", "amd64", ask}, {"darwin", "arm64", ask},
		{"windows", "amd64", ask}, {"windows", "arm64", ask},
	}
}

func choose(names string) ([]platform, error) {
	all := platforms()
	if names == "" {
		return all, nil
	}
	var chosen []platform
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(all, func(p platform) bool { return p.String() == name })
		if i < 0 {
			return nil, fmt.Errorf("--platforms: %q is none of %v", name, all)
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// program returns where a program was built.
func (r *release) program(p platform, name string) string {
	if p.os == "windows" {
		name += ".exe"
	}
	return filepath.Join(r.work, p.os+"-"+p.arch, name)
}

// build builds the programs of a platform. The version is compiled in.
func (r *release) build(ctx context.Context, p platform) error {
	for _, name := range p.programs {
		err := r.compile(ctx, r.program(p, name), name, "GOOS="+p.os, "GOARCH="+p.arch)
		if err != nil {
			return fmt.Errorf("build %s for %s: %w", name, p, err)
		}
	}
	info, err := buildinfo.ReadFile(r.program(p, p.programs[0]))
	if err != nil {
		return err
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.modified" && s.Value != "false" {
			return errors.New("the go command takes the checkout for one with changes")
		}
	}
	r.version = info.Main.Version
	if !strings.HasPrefix(r.version, "v") {
		return fmt.Errorf("the go command did not find out the version: it is %q", r.version)
	}
	return nil
}

// compile builds a program, the same way on all machines.
func (r *release) compile(ctx context.Context, to, name string, env ...string) error {
	out, err := filepath.Abs(to)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w", "-o", out,
		"./cmd/"+name)
	cmd.Dir, cmd.Stderr = r.source, r.stderr
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=")
	cmd.Env = append(cmd.Env, env...)
	return cmd.Run()
}

// manual has the man pages and completions, by program and then by kind.
type manual map[string]map[string][]byte

// manual asks the programs, built for this machine, for their man pages and completions.
func (r *release) manual(ctx context.Context) (manual, error) {
	said := manual{}
	for _, name := range programs {
		path := filepath.Join(r.work, "here", name)
		if err := r.compile(ctx, path, name, "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH); err != nil {
			return nil, fmt.Errorf("build %s for this machine: %w", name, err)
		}
		said[name] = map[string][]byte{}
		for _, ask := range []string{"--man", "--completion=bash", "--completion=zsh", "--completion=fish"} {
			out, err := exec.CommandContext(ctx, path, ask).Output()
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", name, ask, err)
			}
			said[name][ask] = out
		}
	}
	return said, nil
}
