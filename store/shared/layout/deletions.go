package layout

import "context"

// Folders of requests to delete, see package deletion: open requests, dry runs, and records of
// completed requests. A listing of OpenDeletions includes the dry runs.
const (
	Deletions     = "deletions/"
	OpenDeletions = Deletions + "open/"
	DryDeletions  = OpenDeletions + "dry/"
	DoneDeletions = Deletions + "done/"
)

// MaxDeletion bounds a request in bytes, compressed and decompressed.
const MaxDeletion = 64 << 10

// Deleting is the progress of a request in one shard, including the counts of what it deleted.
type Deleting struct {
	Through string `json:"through,omitempty"` // the last hour that was processed; hours are processed in order
	// Orphans are runs that this manifest does not name, so no later one can. They are processed
	// after all hours.
	Orphans []string `json:"orphans,omitempty"`
	Passes  int      `json:"passes,omitempty"` // how many times there were orphans
	Done    int64    `json:"done,omitempty"`   // when all objects were processed (µs); 0 before
	// Counts so far, see [deletion.Counts].
	Traces uint64 `json:"traces,omitempty"`
	Parts  uint64 `json:"parts,omitempty"`
	Pages  uint64 `json:"pages,omitempty"`
	Left   uint64 `json:"left,omitempty"`
}

// EncodeDeletion returns the object for the content of a deletion. The object carries the id.
func (b *Bucket) EncodeDeletion(id string, content []byte) ([]byte, error) {
	return b.encodeOne(kindDeletion, Deletions+id, content, MaxDeletion)
}

// DecodeDeletion returns the content of the object of the deletion with an id.
func (b *Bucket) DecodeDeletion(id string, body []byte) ([]byte, error) {
	return b.decodeOne(kindDeletion, Deletions+id, body, MaxDeletion)
}

// HasView reports whether a run has a trace of a page view, under any page.
func (x *RunKeys) HasView(view [16]byte) bool {
	for _, p := range x.pages {
		if from, to := p.blocksOf(view); from < to {
			return true
		}
	}
	return false
}

// EachRow calls f with the rows of a run, in order. f may keep what the row points to, but not the
// pointer to the row.
func (o *Object) EachRow(ctx context.Context, f func(*Row) error) error {
	return Merge(ctx, []*Cursor{o.Rows(1)}, f)
}

// PageFromTraces rebuilds the rollup of a page from its traces in runs.
func (b *Bucket) PageFromTraces(ctx context.Context, runs []*Object, page string) (*Page, error) {
	out := b.NewPage(page)
	x := &traceRollup{b: b, f: func(_ string, p *Page) error { out = p; return nil }}
	var list []*Cursor
	for _, o := range runs {
		list = append(list, o.RowsOfPage(page, len(runs)))
	}
	if err := Merge(ctx, list, x.add); err != nil {
		return nil, err
	}
	err := x.endPage()
	return out, err
}
