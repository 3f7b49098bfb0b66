package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fieldtrie/fieldtrie/symbols"
)

const (
	mostCommits = 1_000
	// mostHistory bounds the output of git, and mostTexts the sent texts of commits, in bytes.
	mostHistory, mostTexts = 16 << 20, 1 << 20
	mostTitle              = 200
)

// readHistory runs git in the current folder to list the commits of a range with authors and files.
// It skips merges, because the merged commits are in the list.
func (c *command) readHistory(ctx context.Context) error {
	if c.gitRange == "" {
		return nil
	}
	cmd := exec.CommandContext(ctx, "git", "-c", "core.quotePath=false", "log", "--no-merges", "--no-renames",
		"--name-only", "--format=%x1e%H%x1f%an%x1f%aI%x1f%s", "--end-of-options", c.gitRange, "--")
	var problem bytes.Buffer
	cmd.Stderr = &problem
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("--git-range: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("--git-range: run git: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(out, mostHistory+1))
	if len(text) > mostHistory {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return fmt.Errorf("--git-range %s: over %d bytes of history; name the tag or commit of the release before",
			c.gitRange, mostHistory)
	}
	if err := errors.Join(err, cmd.Wait()); err != nil {
		first, _, _ := strings.Cut(strings.TrimSpace(problem.String()), "\n")
		return fmt.Errorf("--git-range %s: git log: %w: %s; a shallow clone lacks history, so also fetch the "+
			"previous release", c.gitRange, err, first)
	}
	commits, left, err := parseHistory(string(text))
	if err != nil {
		return fmt.Errorf("--git-range %s: %w", c.gitRange, err)
	}
	if left > 0 {
		c.warn(fmt.Sprintf("--git-range %s: too many commits, omitted the oldest %d", c.gitRange, left))
	}
	if c.commits = commits; c.commit == "" && len(commits) > 0 {
		c.commit = commits[0].SHA
	}
	return nil
}

// parseHistory parses the output of git log. It also returns how many of the oldest commits it
// omits.
func parseHistory(text string) (out []symbols.Commit, left int, err error) {
	size := 0
	records := strings.Split(text, "\x1e")
	for i, record := range records[1:] {
		head, files, _ := strings.Cut(record, "\n")
		parts := strings.SplitN(head, "\x1f", 4)
		if len(parts) != 4 {
			return nil, 0, fmt.Errorf("git log printed %.60q", head)
		}
		c := symbols.Commit{SHA: parts[0], Author: short(parts[1]), Title: short(parts[3]), Files: []string{}}
		if c.Time, err = time.Parse(time.RFC3339, parts[2]); err != nil {
			return nil, 0, fmt.Errorf("git log printed the time %.40q", parts[2])
		}
		for f := range strings.Lines(files) {
			// git quotes paths with control characters
			if f = strings.TrimSpace(f); f != "" && f[0] != '"' && len(f) <= 1024 && utf8.ValidString(f) {
				c.Files = append(c.Files, f)
				size += len(f)
			}
		}
		if size += len(c.SHA) + len(c.Author) + len(c.Title); size > mostTexts || i == mostCommits {
			return out, len(records) - 1 - i, nil
		}
		out = append(out, c)
	}
	return out, 0, nil
}

// short makes a text one line of bounded length.
func short(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == utf8.RuneError {
			return -1
		}
		return r
	}, text)
	if len(text) <= mostTitle {
		return text
	}
	return strings.ToValidUTF8(text[:mostTitle], "") + "…"
}
