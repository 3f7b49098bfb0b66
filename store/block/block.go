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

// ErrDamaged is wrapped by all errors about damaged files.
var ErrDamaged = errors.New("damaged block file")

// Limits of a file, in bytes.
const (
	MaxBlock = 64 << 20 // of a block, decompressed
	MaxIndex = 64 << 20 // of an index, compressed or decompressed
	MaxPage  = 1 << 16  // of the name of a page
)

// The end of a file: two numbers of 4 bytes, and magic.
const (
	magic   = "FTB1"
	trailer = 4 + 4 + len(magic)
)

// Entry is the index entry of a block.
type Entry struct {
	Kind   byte
	Page   string
	Offset int64 // position in the file
	Length int64 // compressed size
	Size   int   // decompressed size
	Rows   int   // number of rows, as given by the writer

	sum uint32
}

// compare compares the sort key of e with a kind and a page.
func (e *Entry) compare(kind byte, page string) int {
	return cmp.Or(cmp.Compare(e.Kind, kind), cmp.Compare(e.Page, page))
}

// Codec compresses and decompresses blocks. It is safe for concurrent use by multiple goroutines.
type Codec struct {
	enc   *zstd.Encoder
	dec   *zstd.Decoder
	table *crc32.Table
}

// NewCodec returns a new Codec. The caller should close it.
func NewCodec() (*Codec, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false))
	if err != nil {
		return nil, fmt.Errorf("set up compression: %w", err)
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(max(MaxBlock, MaxIndex)),
		zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		return nil, fmt.Errorf("set up compression: %w", err)
	}
	return &Codec{enc, dec, crc32.MakeTable(crc32.Castagnoli)}, nil
}

// Close releases the resources of c.
func (c *Codec) Close() {
	_ = c.enc.Close() // it has no writer that could fail
	c.dec.Close()
}

// pack appends the compressed data to dst.
func (c *Codec) pack(dst, data []byte) []byte { return c.enc.EncodeAll(data, dst) }

// unpack decompresses data to size bytes.
func (c *Codec) unpack(packed []byte, size int) ([]byte, error) {
	// The capacity is bounded, so a wrong size cannot allocate more than MaxBlock.
	out, err := c.dec.DecodeAll(packed, make([]byte, 0, min(size, MaxBlock)))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if len(out) != size {
		return nil, fmt.Errorf("%w: a block has %d bytes instead of %d", ErrDamaged, len(out), size)
	}
	return out, nil
}

// Writer builds a file.
type Writer struct {
	codec *Codec
	out   []byte
	list  []Entry
}

// NewWriter returns a Writer for a new file.
func NewWriter(c *Codec) *Writer { return &Writer{codec: c} }

// Add adds a block with data, which represents the given number of rows. Blocks are stored in the
// order in which they are added; blocks that are read together should be added together.
func (w *Writer) Add(kind byte, page string, rows int, data []byte) error {
	if len(data) > MaxBlock || len(page) > MaxPage {
		return fmt.Errorf("add a block of %.100q: %d bytes, at most %d are allowed", page, len(data), MaxBlock)
	}
	at := len(w.out)
	w.out = w.codec.pack(w.out, data)
	w.list = append(w.list, Entry{kind, page, int64(at), int64(len(w.out) - at), len(data), rows,
		crc32.Checksum(w.out[at:], w.codec.table)})
	return nil
}

// Size returns the approximate size of the file so far, in bytes.
func (w *Writer) Size() int { return len(w.out) }

// Finish returns the file. The file contains its own name, so that a reader notices if it gets
// another file instead. No blocks may be added afterwards.
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
		index = binary.AppendVarint(index, e.Offset-next) // most blocks directly follow the previous one
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

// Index is the list of blocks in a file.
type Index struct {
	codec *Codec
	name  string
	list  []Entry
}

// ShortError is returned if the part of a file that was read does not contain the complete index.
type ShortError struct {
	Need int64 // number of bytes to read from the end of the file
}

func (e *ShortError) Error() string {
	return fmt.Sprintf("the index of the block file needs its last %d bytes", e.Need)
}

// ParseIndex parses the index at the end of a file of size bytes, and checks that the file contains
// the given name. tail must be the end of the file. If it is shorter than the index, ParseIndex
// returns a [*ShortError] with the required length.
func (c *Codec) ParseIndex(name string, tail []byte, size int64) (*Index, error) {
	bad := func(what string) (*Index, error) { return nil, fmt.Errorf("%w: %s", ErrDamaged, what) }
	if len(tail) < trailer || int64(len(tail)) > size || string(tail[len(tail)-len(magic):]) != magic {
		return bad("no trailer")
	}
	end := tail[len(tail)-trailer:]
	length := int64(binary.LittleEndian.Uint32(end))
	if length < 4 || length > MaxIndex || length+int64(trailer) > size {
		return bad("invalid length of the index")
	}
	if need := length + int64(trailer); need > int64(len(tail)) {
		return nil, &ShortError{need}
	}
	packed := tail[int64(len(tail)-trailer)-length : len(tail)-trailer]
	if crc32.Checksum(packed, c.table) != binary.LittleEndian.Uint32(end[4:]) {
		return bad("wrong checksum of the index")
	}
	raw := binary.LittleEndian.Uint32(packed)
	if raw > MaxIndex {
		return bad("invalid size of the index")
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
		return bad(fmt.Sprintf("its name is %.200q", x.name))
	}
	return x, nil
}

// parseEntries decodes the name and the entries of an index. blocks is the total size of the
// blocks.
func parseEntries(index []byte, blocks int64) (name string, list []Entry, err error) {
	r := wire.NewReader(index, ErrDamaged)
	name = r.Text(MaxPage)
	n := r.AtMost(uint64(len(index)))      // each entry takes more than one byte
	list = make([]Entry, 0, min(n, 1<<16)) // a wrong number cannot allocate more than this
	last, all := Entry{}, int64(0)
	for range n {
		e := Entry{Kind: r.Byte()}
		shared := r.AtMost(uint64(len(last.Page)))
		e.Page = last.Page[:shared] + r.Text(MaxPage-int(shared))
		// Most blocks directly follow the previous one. Steps are bounded to prevent an overflow.
		e.Offset = last.Offset + last.Length + max(-math.MaxInt64/4, min(math.MaxInt64/4, r.Int()))
		if e.Offset < 0 || e.Offset > blocks {
			r.Fail("a block is outside the file")
		}
		e.Length = int64(r.AtMost(uint64(max(0, blocks-e.Offset))))
		e.Size, e.Rows = int(r.AtMost(MaxBlock)), int(r.AtMost(MaxBlock))
		e.sum = r.Uint32(binary.LittleEndian)
		if r.Err() == nil && last.compare(e.Kind, e.Page) > 0 {
			r.Fail("the entries are not sorted")
		}
		if err := r.Err(); err != nil {
			return "", nil, fmt.Errorf("entry %d of the index: %w", len(list), err)
		}
		all += e.Length
		list, last = append(list, e), e
	}
	if r.End() == nil && all != blocks {
		r.Fail("the index does not list all blocks")
	}
	if err := r.Err(); err != nil {
		return "", nil, err
	}
	return name, list, nil
}

// All yields all blocks, sorted by kind and page.
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

// Data decompresses a block. packed are its bytes in the file.
func (x *Index) Data(e Entry, packed []byte) ([]byte, error) {
	if int64(len(packed)) != e.Length || crc32.Checksum(packed, x.codec.table) != e.sum {
		return nil, fmt.Errorf("%w: wrong checksum of a block of %.100q", ErrDamaged, e.Page)
	}
	return x.codec.unpack(packed, e.Size)
}

// Size returns the approximate memory use of x, in bytes.
func (x *Index) Size() int {
	size := 64
	for i := range x.list {
		size += 72 + len(x.list[i].Page)
	}
	return size
}
