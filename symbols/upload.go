package symbols

import "time"

// Upload lists the scripts of a build, with the owners of its code.
type Upload struct {
	ID      string    `json:"id,omitempty"`     // set by the store
	Time    time.Time `json:"time,omitzero"`    // time of arrival; set by the store
	Release string    `json:"release"`          // as reported by pages of the build; "" if not
	Scripts []Script  `json:"scripts"`          // sorted by path
	Owners  string    `json:"owners,omitempty"` // a CODEOWNERS file
	// Repository is the repository for links to sources, such as example/shop; "" if unknown.
	Repository string `json:"repository,omitempty"`
	// Commit is the hash of the commit that was built. RepositoryURL is the web URL of its
	// repository, such as https://github.com/example/shop. Commits are the commits since the
	// previous release, newest first. All are empty if unknown.
	Commit        string   `json:"commit,omitempty"`
	RepositoryURL string   `json:"repository_url,omitempty"`
	Commits       []Commit `json:"commits,omitempty"`
}

// Commit is a commit of a release, with the files that it edits.
type Commit struct {
	SHA    string    `json:"sha"`
	Author string    `json:"author,omitempty"` // the name
	Title  string    `json:"title,omitempty"`
	Time   time.Time `json:"time,omitzero"` // of the author
	Files  []string  `json:"files"`         // paths in the repository
}

// Script is a script of an [Upload]. The table with its symbols is uploaded separately.
type Script struct {
	Path    string `json:"path"`               // in the build folder, with slashes
	Prefix  string `json:"prefix,omitempty"`   // URL above the path, to match only there
	DebugID string `json:"debug_id,omitempty"` // of ECMA-426, in lower case
	SHA256  string `json:"sha256"`             // of the script, in hexadecimal: the key of its table
}
