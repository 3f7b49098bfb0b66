package rollups

import (
	"fmt"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"

	"github.com/fieldtrie/fieldtrie/internal/lru"
	"github.com/fieldtrie/fieldtrie/trie"
	"github.com/fieldtrie/fieldtrie/trie/rollup"
)

// Cache keeps stack tables and records that were read, since dashboards ask for the same
// hours again and again: taking the bytes apart costs more than adding up what is in them.
// All of these are values that nobody changes. It is safe for concurrent use.
//
// A nil *Cache keeps nothing.
type Cache struct {
	of     *lru.Cache[cached]
	serial atomic.Uint64 // of the file that was opened last
	dec    *zstd.Decoder
}

// cached is what a file has at some place: one of the three.
type cached struct {
	directory *directory
	stacks    *trie.Trie
	record    *rollup.Record
	size      int // of the record, decompressed
}

// maxCached bounds a Cache, in bytes of what is stored, decompressed. In memory it is some
// times that.
const maxCached = 24 << 20

// NewCache returns an empty Cache.
func NewCache() (*Cache, error) {
	dec, err := newDecompressor()
	if err != nil {
		return nil, err
	}
	return &Cache{of: lru.New[cached](maxCached, nil), dec: dec}, nil
}

func newDecompressor() (*zstd.Decoder, error) {
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxBlock))
	if err != nil {
		return nil, fmt.Errorf("make decompressor: %w", err)
	}
	return dec, nil
}

// newCompressor returns what compresses blocks. These have checksums of their own, and say
// how long they are, decompressed, which they do not always if they are no single segment.
func newCompressor() (*zstd.Encoder, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderCRC(false), zstd.WithZeroFrames(true), zstd.WithWindowSize(1<<20), zstd.WithSingleSegment(true))
	if err != nil {
		return nil, fmt.Errorf("make compressor: %w", err)
	}
	return enc, nil
}
