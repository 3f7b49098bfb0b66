package store

import (
	"context"
	"errors"
)

// Document is an object that all nodes read and replace as a whole. It is safe for concurrent use
// by multiple goroutines.
type Document interface {
	// Load returns the content and its version, or nil and "" if there is none. If the content is
	// damaged, Load returns [ErrDamaged] and the version.
	Load(ctx context.Context) (content []byte, version string, err error)
	// Save replaces a version of the content, or creates the first one if version is "". It returns
	// the new version. It returns [ErrReplaced] if nothing was saved because the current version is
	// another one. After any other error the content may or may not be saved; the caller should
	// load it again.
	Save(ctx context.Context, content []byte, version string) (string, error)
	// Quarantine stores a copy of the given version, even if it is damaged, and returns the name of
	// the copy. Further calls have no effect.
	Quarantine(ctx context.Context, version string) (name string, err error)
}

// ErrReplaced is returned if another node has replaced the version that was to be replaced.
var ErrReplaced = errors.New("another node was first")
