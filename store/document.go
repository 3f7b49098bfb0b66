package store

import (
	"context"
	"errors"
)

// Document is one object that all nodes read, and replace as a whole. Its methods may be called at once.
type Document interface {
	// Load returns the content and its version; nil and "" if there is none. A content that is not what was saved is an error that
	// is [ErrDamaged], and comes with its version.
	Load(ctx context.Context) (content []byte, version string, err error)
	// Save replaces the content of a version, or makes the first one if the version is "", and returns the new version. [ErrReplaced]
	// says that nothing is saved. After other errors it is not known what is: load it.
	Save(ctx context.Context, content []byte, version string) (string, error)
	// Quarantine keeps a copy of what was loaded in a version, whatever that is, and returns where. Once more does nothing.
	Quarantine(ctx context.Context, version string) (name string, err error)
}

// ErrReplaced says that a document is not in the version that was to be replaced, since another node was first.
var ErrReplaced = errors.New("another node was first")
