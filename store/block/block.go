package block

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"iter"
	"math"
	"slices"

	"github.com/klauspost/compress/zstd"

	"github.com/fieldtrie/fieldtrie/internal/wire"
)

// ErrDamaged is wrapped by all errors about bytes that are not what was written.
var ErrDamaged = errors.New("damaged block file")

// Bounds of what is read.
const (
	MaxBlock = 64 << 20 // bytes in a block
	MaxIndex = 64 << 20 // bytes of an index
	MaxPage  = 1 << 16  // bytes of the name of a page
)

// trailer is what a file ends with.
const (
	magic   = "FTB1"
	trailer = 4 + 4 + len(magic)
)

// Entry says where a block is and what it is about.
type Entry struct {
	Kind   byte
	Page   string
	Offset int64 // of the first byte in the file
	Length int64 // bytes in the file
	Size   int   // bytes of what is in it
	Rows   int   // what its writer counted

	sum uint32
}

// compare orders entries as an index has them.
func (e *Entry) compare(kind byte, page string) int {
	return cmp.Or(cmp.Compare(e.Kind, kind), cmp.Compare(e.Page, page))
}

// Codec compresses and decompresses. It may be used at once.
type Codec struct {
	enc   *zstd.Encoder
	dec   *zstd.Decoder
	table *crc32.Table
}

// NewCodec returns a Codec, to be closed.
func NewCodec() (*Codec, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false))
	if err != nil {
		return nil, fmt.Errorf("set up compression: %w", err)
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(max(MaxBlock, MaxIndex)), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		return nil, fmt.Errorf("set up compression: %w", err)
	}
	return &Codec{enc, dec, crc32.MakeTable(crc32.Castagnoli)}, nil
}

// Close lets go of what c holds.
func (c *Codec) Close() {
	_ = c.enc.Close() // it writes nowhere
	c.dec.Close()
}

// pack appends compressed bytes to dst.
func (c *Codec) pack(dst, data []byte) []byte { return c.enc.EncodeAll(data, dst) }

// unpack returns what compressed bytes hold, which are size bytes.
func (c *Codec) unpack(packed []byte, size int) ([]byte, error) {
	// Nothing compresses so well that more room is needed at once; a size that is a lie costs no more.
	out, err := c.dec.DecodeAll(packed, make([]byte, 0, min(size, MaxBlock)))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if len(out) != size {
		return nil, fmt.Errorf("%w: %d bytes are in a block of %d", ErrDamaged, len(out), size)
	}
	return out, nil
}

// Writer makes a file.
type Writer struct {
	codec *Codec
	out   []byte
	list  []Entry
}

// NewWriter returns a Writer of an empty file.
func NewWriter(c *Codec) *Writer { return &Writer{codec: c} }

// Add adds a block with data, which are so many rows. Blocks lie in the order in which they are added: those that
// are read together should come together.
func (w *Writer) Add(kind byte, page string, rows int, data []byte) error {
	if len(data) > MaxBlock || len(page) > MaxPage {
		return fmt.Errorf("add a block of %.100q: %d bytes, at most %d are possible", page, len(data), MaxBlock)
	}
	at := len(w.out)
	w.out = w.codec.pack(w.out, data)
	w.list = append(w.list, Entry{kind, page, int64(at), int64(len(w.out) - at), len(data), rows, crc32.Checksum(w.out[at:], w.codec.table)})
	return nil
}

// Size returns about how many bytes the file has so far.
func (w *Writer) Size() int { return len(w.out) }

// Finish returns the file, which carries its own name, so that a reader notices when it gets another file instead.
// Nothing may be added after that.
func (w *Writer) Finish(name string) []byte {
	slices.SortStableFunc(w.list, func(a, b Entry) int { return a.compare(b.Kind, b.Page) })
	index := append(binary.AppendUvarint(nil, uint64(len(name))), name...)
	index = binary.AppendUvarint(index, uint64(len(w.list)))
	last, next := "", int64(0)
	for _, e := range w.list {
		shared := 0
		for shared < min(len(last), len(e.Page)) && last[shared] == e.Page[shared] {
			shared++
		}
		index = append(index, e.Kind)
		for _, n := range []int{shared, len(e.Page) - shared} {
			index = binary.AppendUvarint(index, uint64(n))
		}
		index = append(index, e.Page[shared:]...)
		index = binary.AppendVarint(index, e.Offset-next) // most lie behind the one before
		for _, n := range []int{int(e.Length), e.Size, e.Rows} {
			index = binary.AppendUvarint(index, uint64(n))
		}
		index = binary.LittleEndian.AppendUint32(index, e.sum)
		last, next = e.Page, e.Offset+e.Length
	}
	at := len(w.out)
	w.out = binary.LittleEndian.AppendUint32(w.out, uint32(len(index)))
	w.out = w.codec.pack(w.out, index)
	packed := w.out[at:]
	w.out = binary.LittleEndian.AppendUint32(w.out, uint32(len(packed)))
	w.out = binary.LittleEndian.AppendUint32(w.out, crc32.Checksum(packed, w.codec.table))
	return append(w.out, magic...)
}

// Index says which blocks a file has.
type Index struct {
	codec *Codec
	name  string
	list  []Entry
}

// ShortError says that the end of a file which was read is not all of its index.
type ShortError struct {
	Need int64 // bytes from the end of the file
}

func (e *ShortError) Error() string {
	return fmt.Sprintf("the index of the block file takes its last %d bytes", e.Need)
}

// ParseIndex reads the index at the end of a file of size bytes, and checks that the file carries a name. If tail,
// the last bytes of the file, is shorter than the index, a [*ShortError] returns how much to read.
func (c *Codec) ParseIndex(name string, tail []byte, size int64) (*Index, error) {
	bad := func(what string) (*Index, error) { return nil, fmt.Errorf("%w: %s", ErrDamaged, what) }
	if len(tail) < trailer || int64(len(tail)) > size || string(tail[len(tail)-len(magic):]) != magic {
		return bad("it does not end as one")
	}
	end := tail[len(tail)-trailer:]
	length := int64(binary.LittleEndian.Uint32(end))
	if length < 4 || length > MaxIndex || length+int64(trailer) > size {
		return bad("the length of its index")
	}
	if need := length + int64(trailer); need > int64(len(tail)) {
		return nil, &ShortError{need}
	}
	packed := tail[int64(len(tail)-trailer)-length : len(tail)-trailer]
	if crc32.Checksum(packed, c.table) != binary.LittleEndian.Uint32(end[4:]) {
		return bad("the checksum of its index")
	}
	raw := binary.LittleEndian.Uint32(packed)
	if raw > MaxIndex {
		return bad("the size of its index")
	}
	index, err := c.unpack(packed[4:], int(raw))
	if err != nil {
		return nil, err
	}
	x := &Index{codec: c}
	if x.name, x.list, err = parseEntries(index, size-length-int64(trailer)); err != nil {
		return nil, err
	}
	if x.name != name {
		return bad(fmt.Sprintf("it is %.200q", x.name))
	}
	return x, nil
}

// parseEntries reads the name and the entries of an index, whose blocks take so many bytes.
func parseEntries(index []byte, blocks int64) (name string, list []Entry, err error) {
	r := wire.NewReader(index, ErrDamaged)
	name = r.Text(MaxPage)
	n := r.AtMost(uint64(len(index)))      // each entry takes more than a byte
	list = make([]Entry, 0, min(n, 1<<16)) // which many an index has, and a lie costs no more
	last, all := Entry{}, int64(0)
	for range n {
		e := Entry{Kind: r.Byte()}
		shared := r.AtMost(uint64(len(last.Page)))
		e.Page = last.Page[:shared] + r.Text(MaxPage-int(shared))
		// Blocks lie one behind the other, but for some; no step is as large as to overflow.
		e.Offset = last.Offset + last.Length + max(-math.MaxInt64/4, min(math.MaxInt64/4, r.Int()))
		if e.Offset < 0 || e.Offset > blocks {
			r.Fail("a block is not in the file")
		}
		e.Length = int64(r.AtMost(uint64(max(0, blocks-e.Offset))))
		e.Size, e.Rows = int(r.AtMost(MaxBlock)), int(r.AtMost(MaxBlock))
		e.sum = r.Uint32(binary.LittleEndian)
		if r.Err() == nil && last.compare(e.Kind, e.Page) > 0 {
			r.Fail("its entries are not sorted")
		}
		if err := r.Err(); err != nil {
			return "", nil, fmt.Errorf("entry %d of its index: %w", len(list), err)
		}
		all += e.Length
		list, last = append(list, e), e
	}
	if r.End() == nil && all != blocks {
		r.Fail("its index has not all blocks")
	}
	if err := r.Err(); err != nil {
		return "", nil, err
	}
	return name, list, nil
}

// All yields the blocks, sorted by kind and page.
func (x *Index) All() iter.Seq[Entry] { return slices.Values(x.list) }

// Find returns the blocks of a kind and page, in the order in which they were added.
func (x *Index) Find(kind byte, page string) []Entry {
	from, _ := slices.BinarySearchFunc(x.list, 0, func(e Entry, _ int) int {
		if e.compare(kind, page) < 0 {
			return -1
		}
		return 1
	})
	to := from
	for to < len(x.list) && x.list[to].compare(kind, page) == 0 {
		to++
	}
	return x.list[from:to:to]
}

// Kind returns the blocks of a kind.
func (x *Index) Kind(kind byte) []Entry {
	from, _ := slices.BinarySearchFunc(x.list, kind, func(e Entry, k byte) int { return cmp.Compare(e.Kind, k) })
	to := from
	for to < len(x.list) && x.list[to].Kind == kind {
		to++
	}
	return x.list[from:to:to]
}

// Data returns what is in a block, whose bytes in the file are packed.
func (x *Index) Data(e Entry, packed []byte) ([]byte, error) {
	if int64(len(packed)) != e.Length || crc32.Checksum(packed, x.codec.table) != e.sum {
		return nil, fmt.Errorf("%w: a block of %.100q", ErrDamaged, e.Page)
	}
	return x.codec.unpack(packed, e.Size)
}

// Size returns about how many bytes x takes in memory.
func (x *Index) Size() int {
	size := 64
	for i := range x.list {
		size += 72 + len(x.list[i].Page)
	}
	return size
}
