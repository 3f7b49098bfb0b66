package encode

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/fieldtrie/fieldtrie/encode/internal/input"
	"github.com/fieldtrie/fieldtrie/trie"
)

// ReplaceContext returns a trace in the binary format with another context. data must be the
// decoded bytes of the trace. The interval must stay the same, since times depend on it. The result
// is equivalent to [EncodeTrace] of the trace with that context, but not in canonical order: it
// copies the tables, which takes a tenth of the time. Fields that this version does not know are
// dropped.
func ReplaceContext(data []byte, c *trie.Context) ([]byte, error) {
	context, err := marshal(contextColumns(c))
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, len(data)+len(context)+8)
	for rest := data; len(rest) > 0; {
		number, _, n := protowire.ConsumeField(rest)
		if n < 0 {
			return nil, input.Refuse(input.Malformed, "", "at byte %d: %w", len(data)-len(rest),
				protowire.ParseError(n))
		}
		if number < colEnd && number != colContext {
			out = append(out, rest[:n]...)
		}
		if number == colMagic {
			out = protowire.AppendTag(out, colContext, protowire.BytesType)
			out = protowire.AppendBytes(out, context)
		}
		rest = rest[n:]
	}
	return out, nil
}
