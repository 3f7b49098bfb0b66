package encode

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/fieldtrie/fieldtrie/encode/internal/fixture"
	"github.com/fieldtrie/fieldtrie/encode/internal/input"
)

// TestDumpTraces compares dumps of encoded traces with golden files.
func TestDumpTraces(t *testing.T) {
	for _, name := range fixture.GoldenTraces {
		fixture.CompareGolden(t, "dump/"+strings.TrimSuffix(name, ".json")+".trie",
			dump(t, encodeTrace(t, fixture.RepositoryTrace(t, name, DecodeProfilerTrace))))
	}
	for name, tr := range fixture.HandmadeTraces() {
		fixture.CompareGolden(t, "dump/"+name+".trie", dump(t, encodeTrace(t, tr)))
	}
}

// undump returns the bytes of a dump.
func undump(t *testing.T, dump []byte) []byte {
	t.Helper()
	var out []byte
	for line := range strings.Lines(string(dump)) {
		offset, rest, ok := strings.Cut(line, ": ")
		digits, _, _ := strings.Cut(rest, "  ")
		at, err := strconv.Atoi(strings.TrimSpace(offset))
		if !ok || err != nil || at != len(out) {
			t.Fatalf("%q: want offset %d", line, len(out))
		}
		b, err := hex.DecodeString(strings.ReplaceAll(strings.TrimSpace(digits), " ", ""))
		if err != nil || len(b) > dumpBytes {
			t.Fatalf("%q: %v", line, err)
		}
		out = append(out, b...)
	}
	return out
}

// TestDumpIsComplete checks that a dump shows each byte once, in order.
func TestDumpIsComplete(t *testing.T) {
	documents := released(t)
	for name, data := range fixture.RealTraces(t) {
		tr, err := DecodeProfilerTrace(data, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		documents[name] = encodeTrace(t, tr)
	}
	for name, data := range documents {
		if got := undump(t, dump(t, data)); !bytes.Equal(got, data) {
			t.Errorf("%s: got %d bytes, want %d", name, len(got), len(data))
		}
	}
}

// TestDumpOdd checks that documents that no encoder writes are dumped as far as possible.
func TestDumpOdd(t *testing.T) {
	field := func(number protowire.Number, typ protowire.Type, value ...byte) []byte {
		return append(protowire.AppendTag(nil, number, typ), value...)
	}
	for _, c := range []struct {
		data []byte
		want string
	}{
		{nil, ""},
		{[]byte("\x0dFTR\x02"), `magic = "FTR", version 2`},
		{[]byte("\x0dftr\x01"), "magic = 0x01727466"},
		{field(colMagic, protowire.VarintType, 1), "magic: wire type 0 does not fit, number 1"},
		{field(colContext, protowire.VarintType, 1), "context: wire type 0 does not fit, number 1"},
		{field(colFrameName, protowire.Fixed64Type, 1, 2, 3, 4, 5, 6, 7, 8),
			"frame_name: wire type 1 does not fit, wire type 1, 8 bytes"},
		{field(colSampleUnit, protowire.BytesType, 1, 9), `sample_unit: wire type 2 does not fit, 1 bytes "\t"`},
		{field(colNodeFrame, protowire.VarintType, 3), "node_frame = -2"},
		{field(colMarker, protowire.BytesType, 2, 7, 8), "[0-1] idle 8"},
		{field(colNameText, protowire.BytesType, 1, 0xff), "which the lengths of the rows do not fit"},
		{field(colNameText, protowire.BytesType, 0), "name_text, 0 bytes, 0 rows"},
		{append(field(colNameLength, protowire.BytesType, 10, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1),
			field(colNameText, protowire.BytesType, 1, 'x')...), "which the lengths of the rows do not fit"},
		{append(field(colNameText, protowire.BytesType, 2, 'x', 'y'), field(colNameLength, protowire.BytesType, 2, 1,
			1)...), `[1] "y"`},
	} {
		got := dump(t, c.data)
		if !strings.Contains(string(got), c.want) {
			t.Errorf("%x: got\n%swant %s", c.data, got, c.want)
		}
		if back := undump(t, got); !bytes.Equal(back, c.data) {
			t.Errorf("%x: the dump contains %x", c.data, back)
		}
	}
}

func TestDumpGarbage(t *testing.T) {
	good := encodeTrace(t, fixture.MinimalTrace())
	for _, c := range []struct{ more, want string }{
		{"\x00", "malformed: at byte 131: "},
		{"\x80", "malformed: at byte 131: unexpected EOF"},
		{"\x32\x09x", "malformed: at byte 131: field 6: unexpected EOF"},
		{"\x42\x02\x01\x80", "malformed: frame_name: at byte 134: unexpected EOF"},
		{"\x32\x01x\x3a\x01\x80", "malformed: name_length: at byte 136: unexpected EOF"},
		{"\x12\x02\x0a\x09", "malformed: at byte 133: field 1: unexpected EOF"},
	} {
		var b bytes.Buffer
		err := Dump(&b, append(bytes.Clone(good), c.more...))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || KindOf(err) != input.Malformed {
			t.Errorf("%x: got %v, want %s", c.more, err, c.want)
		}
		// Everything before the error is dumped; a second text no longer matches its lengths.
		if got := b.String(); !strings.HasPrefix(got, "    0: 0d 46 54 52 01") ||
			!strings.Contains(got, "sample_run_length") {
			t.Errorf("%x: got %s", c.more, got)
		}
	}
	failed := errors.New("disk full")
	if err := Dump(fixture.FailingWriter{Err: failed}, good); !errors.Is(err, failed) {
		t.Errorf("got %v, want %v", err, failed)
	}
}
