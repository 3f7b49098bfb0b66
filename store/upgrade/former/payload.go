package former

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"sync"

	"github.com/dgraph-io/badger/v4"
	"github.com/klauspost/compress/zstd"

	"github.com/fieldtrie/fieldtrie/store"
)

const (
	maxPayload     = 16 << 20  // bytes of a payload, decompressed
	maxDictionary  = 128 << 10 // bytes of a dictionary
	maxDecoders    = 64        // dictionaries of a partition that are in memory
	dictionaryCopy = 2         // how often each is stored
)

// payloads decompresses the payloads of a partition. It is safe for concurrent use.
type payloads struct {
	mu    sync.Mutex
	known map[uint32]*zstd.Decoder // by the id of the dictionary, 0 is none
	gone  map[uint32]error         // dictionaries that can not be read
}

// decompress returns a payload, in memory of its own. An error wraps [store.ErrDamaged].
func (p *payloads) decompress(txn *badger.Txn, compressed []byte) ([]byte, error) {
	var h zstd.Header
	if err := h.Decode(compressed); err != nil {
		return nil, fmt.Errorf("%w payload: %w", store.ErrDamaged, err)
	}
	d, err := p.decoder(txn, h.DictionaryID)
	if err != nil {
		return nil, err
	}
	out, err := d.DecodeAll(compressed, nil)
	if err != nil {
		return nil, fmt.Errorf("%w payload: %w", store.ErrDamaged, err)
	}
	return out, nil
}

// decoder returns what decompresses with a dictionary.
func (p *payloads) decoder(txn *badger.Txn, id uint32) (*zstd.Decoder, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if d := p.known[id]; d != nil {
		return d, nil
	}
	if err := p.gone[id]; err != nil {
		return nil, err
	}
	options := []zstd.DOption{zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxPayload)}
	if id != 0 {
		content, err := readDictionary(txn, id)
		if errors.Is(err, store.ErrDamaged) {
			if p.gone == nil {
				p.gone = map[uint32]error{}
			}
			p.gone[id] = err
		}
		if err != nil {
			return nil, err
		}
		options = append(options, zstd.WithDecoderDictRaw(id, content))
	}
	d, err := zstd.NewReader(nil, options...)
	if err != nil {
		return nil, fmt.Errorf("make decompressor: %w", err)
	}
	if p.known == nil || len(p.known) >= maxDecoders { // who uses one of them goes on with it
		p.known = map[uint32]*zstd.Decoder{}
	}
	p.known[id] = d
	return d, nil
}

func (p *payloads) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, d := range p.known {
		d.Close()
	}
	p.known = nil
}

// readDictionary returns the content of the first good copy of a dictionary.
func readDictionary(txn *badger.Txn, id uint32) (content []byte, err error) {
	for n := range byte(dictionaryCopy) {
		key := append(binary.BigEndian.AppendUint32([]byte{kindDictionary}, id), n)
		item, gerr := txn.Get(key)
		if errors.Is(gerr, badger.ErrKeyNotFound) {
			continue
		}
		if gerr == nil {
			gerr = item.Value(func(b []byte) error {
				content, err = parseDictionary(id, key, b)
				return nil
			})
		}
		if gerr != nil || content != nil {
			return content, gerr
		}
	}
	if err == nil {
		err = fmt.Errorf("%w: dictionary %d is missing", store.ErrDamaged, id)
	}
	return nil, err
}

// parseDictionary reads the content of a dictionary. An error wraps [store.ErrDamaged].
func parseDictionary(id uint32, key, b []byte) ([]byte, error) {
	if len(b) <= 4 || !sumOK(key, b) {
		return nil, fmt.Errorf("%w: dictionary %d: checksum mismatch", store.ErrDamaged, id)
	}
	content := append([]byte(nil), b[4:]...) // as the first programs of format 3 wrote it
	if dictionaryID(content) == id {
		return content, nil
	}
	_, packed, err := cutText(b[4:], store.MaxPage)
	if err != nil {
		return nil, fmt.Errorf("%w: dictionary %d: page length", store.ErrDamaged, id)
	}
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(2*maxDictionary))
	if err != nil {
		return nil, fmt.Errorf("make decompressor: %w", err)
	}
	defer d.Close()
	if content, err = d.DecodeAll(packed, nil); err != nil {
		return nil, fmt.Errorf("%w: dictionary %d: %w", store.ErrDamaged, id, err)
	}
	if of := dictionaryID(content); of != id {
		return nil, fmt.Errorf("%w: dictionary %d has the content of %d", store.ErrDamaged, id, of)
	}
	return content, nil
}

// dictionaryID returns the id of a dictionary, which is made of its content.
func dictionaryID(content []byte) uint32 {
	return crc32.Checksum(content, castagnoli)&(1<<31-1) | 1<<30
}
