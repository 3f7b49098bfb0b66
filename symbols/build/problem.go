package build

// Problem is a reason why functions of a script have no names, or wrong ones. It is written for the
// people who run the build.
type Problem struct {
	Path   string `json:"path"` // of the script, file or folder concerned
	Kind   Kind   `json:"kind"`
	What   string `json:"what"`   // the fault; may contain names from the build
	Advice string `json:"advice"` // a remedy
}

// String returns the problem as a line.
func (p Problem) String() string { return p.Path + ": " + p.What + "; " + p.Advice }

// Kind is the machine-readable kind of a problem.
type Kind string

// Kinds of problems.
const (
	MapNone         Kind = "no-map"            // a script has no map
	MapMissing      Kind = "missing-map"       // the map named by a script is missing
	MapOutside      Kind = "map-outside"       // a script names a map outside the folder
	MapUnreadable   Kind = "unreadable-map"    // a map cannot be read or parsed
	MapShared       Kind = "shared-map"        // different scripts have the same map
	MapAmbiguous    Kind = "ambiguous-map"     // several maps claim to belong to a script
	DebugIDDiffers  Kind = "debug-id-differs"  // a script and its map have different debug IDs
	DebugIDShared   Kind = "shared-debug-id"   // different scripts have the same debug ID
	SourcesMissing  Kind = "missing-sources"   // a map lacks the content of some sources
	NotScript       Kind = "not-a-script"      // a file with the name of a script is not a script
	TooLarge        Kind = "too-large"         // a script exceeds the limit
	FileUnreadable  Kind = "unreadable"        // a script or a folder cannot be read
	LinkNotFollowed Kind = "link-not-followed" // a link leads out of the folder, to nothing, or to a folder
)
