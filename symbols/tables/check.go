package tables

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fieldtrie/fieldtrie/symbols"
)

// Limits of uploads, in bytes unless noted.
const (
	MaxScripts = 20_000   // of one upload
	MaxUpload  = 16 << 20 // of its JSON
	maxFile    = 2 * MaxUpload
	maxPath    = 1024
	maxPrefix  = 2048
	maxRelease = 256
	maxOwners  = 3_000_000
	maxCommits = 1_000   // of an upload
	maxHistory = 1 << 20 // total texts of all commits
	maxTitle   = 256
	// maxListed is the maximum size of the files of all uploads, which are held in memory.
	maxListed = 128 << 20
)

// check returns an error for an upload over a limit, and sorts the scripts.
func check(u *symbols.Upload) error {
	switch {
	case len(u.Scripts) == 0:
		return errors.New("scripts: none")
	case len(u.Scripts) > MaxScripts:
		return fmt.Errorf("scripts: %d, the most is %d", len(u.Scripts), MaxScripts)
	case len(u.Owners) > maxOwners:
		return fmt.Errorf("owners: %d bytes, the most is %d", len(u.Owners), maxOwners)
	}
	if err := checkText("release", u.Release, maxRelease); err != nil {
		return err
	}
	if err := checkText("repository", u.Repository, maxPrefix); err != nil {
		return err
	}
	if err := checkCommits(u); err != nil {
		return err
	}
	u.Scripts = slices.Clone(u.Scripts)
	for i, x := range u.Scripts {
		if err := checkScript(x); err != nil {
			return fmt.Errorf("scripts[%d]: %w", i, err)
		}
	}
	slices.SortFunc(u.Scripts, func(a, b symbols.Script) int {
		return strings.Compare(a.Path+"\x00"+a.Prefix+"\x00"+a.SHA256, b.Path+"\x00"+b.Prefix+"\x00"+b.SHA256)
	})
	return nil
}

func checkScript(x symbols.Script) error {
	if err := CheckHash(x.SHA256); err != nil {
		return fmt.Errorf("sha256: %w", err)
	}
	if x.Path == "" || strings.HasPrefix(x.Path, "/") || strings.Contains(x.Path, `\`) ||
		slices.Contains(strings.Split(x.Path, "/"), "..") {
		return fmt.Errorf("path: %.100q is not a relative path with slashes", x.Path)
	}
	if err := checkText("path", x.Path, maxPath); err != nil {
		return err
	}
	if err := checkText("debug_id", x.DebugID, maxRelease); err != nil {
		return err
	}
	return checkText("prefix", x.Prefix, maxPrefix)
}

// checkCommits returns an error for commits over a limit, and for a URL that links must not use.
func checkCommits(u *symbols.Upload) error {
	if err := checkHash("commit", u.Commit); u.Commit != "" && err != nil {
		return err
	}
	if u.RepositoryURL != "" {
		if err := checkText("repository_url", u.RepositoryURL, maxPrefix); err != nil {
			return err
		}
		if x, err := url.Parse(u.RepositoryURL); err != nil || x.Host == "" || x.Scheme != "https" &&
			x.Scheme != "http" || x.User != nil {
			return fmt.Errorf("repository_url: %.100q is not an address such as https://github.com/example/shop",
				u.RepositoryURL)
		}
	}
	if len(u.Commits) > maxCommits {
		return fmt.Errorf("commits: %d, the most is %d", len(u.Commits), maxCommits)
	}
	size := 0
	for i, c := range u.Commits {
		err := errors.Join(checkHash("sha", c.SHA), checkText("author", c.Author, maxTitle), checkText("title",
			c.Title, maxTitle))
		size += len(c.SHA) + len(c.Author) + len(c.Title)
		for _, f := range c.Files {
			err = errors.Join(err, checkText("files", f, maxPath))
			size += len(f)
		}
		if err != nil {
			return fmt.Errorf("commits[%d]: %w", i, err)
		}
	}
	if size > maxHistory {
		return fmt.Errorf("commits: %d bytes of names, titles and files, the most is %d", size, maxHistory)
	}
	return nil
}

// checkHash returns an error unless text is a commit hash: 7 to 64 hexadecimal digits.
func checkHash(what, text string) error {
	if len(text) < 7 || len(text) > 64 || strings.Trim(text, "0123456789abcdef") != "" {
		return fmt.Errorf("%s: %.100q is not a commit hash", what, text)
	}
	return nil
}

func checkText(what, text string, most int) error {
	switch {
	case len(text) > most:
		return fmt.Errorf("%s: %d bytes, the most is %d", what, len(text), most)
	case !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return fmt.Errorf("%s: %.100q has control characters, or is not valid UTF-8", what, text)
	}
	return nil
}
