package commandline

import (
	"runtime"
	"runtime/debug"
	"strings"
)

// Version is the version of a program as recorded by the go command, so that builds of the same
// sources are reproducible.
type Version struct {
	Version  string // of the module, such as v1.2.3, or (unknown)
	Revision string // commit; empty if unknown
	Modified bool   // the sources had uncommitted changes
	Date     string // of the commit, RFC 3339 in UTC; empty if unknown
	Go       string // the version of the compiler
	Platform string // such as linux/amd64
}

// ReadVersion returns the version of the running program from its build information. Fields that
// the build did not record are empty or (unknown).
func ReadVersion() Version {
	v := Version{Version: "(unknown)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if info.Main.Version != "" {
		v.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		case "vcs.time":
			v.Date = s.Value
		}
	}
	return v
}

// String returns a line such as "v1.2.3 (3f1c9a7e51b2, 2026-11-21T10:00:00Z, go1.26.7,
// linux/amd64)".
func (v Version) String() string {
	var known []string
	if v.Revision != "" {
		short := v.Revision[:min(len(v.Revision), 12)]
		if v.Modified {
			short += " and changes"
		}
		known = append(known, short)
	}
	if v.Date != "" {
		known = append(known, v.Date)
	}
	return v.Version + " (" + strings.Join(append(known, v.Go, v.Platform), ", ") + ")"
}
