package encode

import (
	"bytes"
	"unicode/utf8"

	"github.com/fieldtrie/fieldtrie/encode/internal/input"
	"github.com/fieldtrie/fieldtrie/trie"
)

// maxGroupCells bounds the memory for the weights of a decoded profile: a few bytes
// can ask for a block of them.
const maxGroupCells = 1 << 25

func (r *documentReader) profile() (*trie.Profile, error) {
	if r.hasContext {
		return nil, input.Refuse(input.Invalid, "context", "a profile has none, and a trace needs sample_unit")
	}
	if r.hasCost {
		return nil, input.Refuse(input.Invalid, "cost", "a profile has none, and a trace needs sample_unit")
	}
	for f := colSampleStart; f <= colMarkerRunLength; f++ {
		if f != colSampleUnit && len(r.col(f)) > 0 {
			return nil, input.Refuse(input.Invalid, r.name(f), "a profile has none, and a trace needs sample_unit")
		}
	}
	if err := r.sameRows(colGroupRows, colGroupLabelCount, colGroupViews, colGroupTraces,
		colGroupStackless, colGroupUnsampled, colGroupTruncated); err != nil {
		return nil, err
	}
	if len(r.col(colGroupIdle)) > 0 { // else it is 0 for all groups
		if err := r.sameRows(colGroupRows, colGroupIdle); err != nil {
			return nil, err
		}
	}
	if err := r.sameRows(colWeightNode, colWeightSelf, colWeightSamples, colWeightReach); err != nil {
		return nil, err
	}
	if len(r.labelKeys) != len(r.labelValues) {
		return nil, input.Refuse(input.Invalid, "group_label_value", "%d rows, group_label_key has %d",
			len(r.labelValues), len(r.labelKeys))
	}
	p := &trie.Profile{
		Views: unzigzag(r.single(colViews)), Traces: unzigzag(r.single(colTraces)),
		Unknown: bytes.Clone(r.unknown),
	}
	if err := r.readTrie(&p.Trie); err != nil {
		return nil, err
	}
	row, label := 0, 0
	for g := range r.col(colGroupRows) {
		group, err := r.group(g, &row, &label, len(p.Nodes))
		if err != nil {
			return nil, err
		}
		p.Groups = append(p.Groups, group)
	}
	if rows := len(r.col(colWeightNode)); row != rows || label != len(r.labelKeys) {
		return nil, input.Refuse(input.Invalid, "group_rows", "%d weights and %d labels belong to no group", rows-row,
			len(r.labelKeys)-label)
	}
	if err := p.Validate(); err != nil {
		return nil, &input.Error{Kind: input.Invalid, Err: err}
	}
	return p, nil
}

// group reads group g, whose weights and labels begin at row and label, and moves both
// on to the next group.
func (r *documentReader) group(g int, row, label *int, nodes int) (trie.Group, error) {
	at := func(field int) int64 { return unzigzag(r.col(field)[g]) }
	group := trie.Group{Coverage: trie.Coverage{
		Views: at(colGroupViews), Traces: at(colGroupTraces), Stackless: at(colGroupStackless),
		Unsampled: at(colGroupUnsampled), Truncated: at(colGroupTruncated),
	}}
	if len(r.col(colGroupIdle)) > 0 {
		group.Coverage.Idle = at(colGroupIdle)
	}
	labels, rows := r.col(colGroupLabelCount)[g], r.col(colGroupRows)[g]
	if labels > uint64(len(r.labelKeys)-*label) || rows > uint64(len(r.col(colWeightNode))-*row) {
		return group, input.Refuse(input.Invalid, "group_rows", "group %d has more labels or weights than there are", g)
	}
	if labels > uint64(r.lim.Labels) {
		return group, input.Refuse(input.TooLarge, "group_label_count", "group %d: %d, the most is %d", g, labels,
			r.lim.Labels)
	}
	for range labels {
		k, v := r.labelKeys[*label], r.labelValues[*label]
		if n := max(len(k), len(v)); n > r.lim.StringBytes {
			return group, input.Refuse(input.TooLarge, "group_label_key", "row %d: %d bytes, the most is %d", *label, n,
				r.lim.StringBytes)
		}
		if !utf8.Valid(k) || !utf8.Valid(v) {
			return group, input.Refuse(input.Malformed, "group_label_key", "row %d: not UTF-8", *label)
		}
		group.Labels = append(group.Labels, trie.Label{Key: string(k), Value: string(v)})
		*label++
	}
	steps := r.col(colWeightNode)[*row : *row+int(rows)]
	last := uint64(0)
	for i, step := range steps {
		if last += step; step == 0 || step >= uint64(nodes) || last >= uint64(nodes) {
			return group, input.Refuse(input.Invalid, "weight_node", "row %d: node %d of %d", *row+i, last, nodes-1)
		}
	}
	if rows == 0 {
		return group, nil
	}
	node := uint64(0)
	for _, step := range steps {
		node += step
		group.Weights.Add(trie.NodeID(node), trie.Weight{
			Self:    unzigzag(r.col(colWeightSelf)[*row]),
			Samples: unzigzag(r.col(colWeightSamples)[*row]),
			Reach:   unzigzag(r.col(colWeightReach)[*row]),
		})
		*row++
	}
	if r.cells += group.Weights.Cells(); r.cells > maxGroupCells {
		return group, input.Refuse(input.TooLarge, "group_rows", "more than %d weights in memory", maxGroupCells)
	}
	return group, nil
}
