package layout

import "context"

// Folders of requests to delete, see package deletion: those that are carried out, dry runs, and
// records of those that were carried out. A listing of the first one has dry runs, too.
const (
	Deletions     = "deletions/"
	OpenDeletions = Deletions + "open/"
	DryDeletions  = OpenDeletions + "dry/"
	DoneDeletions = Deletions + "done/"
)

// MaxDeletion bounds a request, packed or not.
const MaxDeletion = 64 << 10

// Deleting is how far a request is carried out in a shard. It changes with what is deleted.
type Deleting struct {
	Through string `json:"through,omitempty"` // the last hour that was looked at; they are in order
	// Orphans are runs that this manifest does not name, and so no later one, which are looked at after all hours.
	Orphans []string `json:"orphans,omitempty"`
	Passes  int      `json:"passes,omitempty"` // how often there were some
	Done    int64    `json:"done,omitempty"`   // when all was looked at (µs), 0 before
	// What was found so far, see [deletion.Counts].
	Traces uint64 `json:"traces,omitempty"`
	Parts  uint64 `json:"parts,omitempty"`
	Pages  uint64 `json:"pages,omitempty"`
	Left   uint64 `json:"left,omitempty"`
}

// EncodeDeletion returns the object with the content of a deletion, which carries its id.
func (b *Bucket) EncodeDeletion(id string, content []byte) ([]byte, error) {
	return b.encodeOne(kindDeletion, Deletions+id, content, MaxDeletion)
}

// DecodeDeletion returns the content of the object of a deletion with an id.
func (b *Bucket) DecodeDeletion(id string, body []byte) ([]byte, error) {
	return b.decodeOne(kindDeletion, Deletions+id, body, MaxDeletion)
}

// HasView reports whether a run has a trace of a page view, of whichever page.
func (x *RunKeys) HasView(view [16]byte) bool {
	for _, p := range x.pages {
		if from, to := p.blocksOf(view); from < to {
			return true
		}
	}
	return false
}

// EachRow calls f with the rows of a run, in order. f may keep what a row has, but not where it is.
func (o *Object) EachRow(ctx context.Context, f func(*Row) error) error {
	return Merge(ctx, []*Cursor{o.Rows(1)}, f)
}

// PageFromTraces returns what the traces of a page in runs sum up to.
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
