package input

import (
	"bufio"
	"compress/gzip"
	"io"
)

// Bounds of gzipped input: up to this many bytes are always accepted, and beyond that up to
// this multiple of the compressed size. Profiles in JSON shrink to a tenth or a thirtieth. But
// gzip can reach a thousandth, so a small file could expand to one that fits no memory.
const (
	freeInflated  = 64 << 20
	inflatedRatio = 128
)

// gunzip reads the content of gzip up to the bounds.
type gunzip struct {
	z    *gzip.Reader
	from *counted
	out  int64
}

// NewGunzip returns the content of r, which must be gzip. Reading beyond the bounds of one
// document is a TooLarge error.
func NewGunzip(r *bufio.Reader) (io.Reader, error) {
	from := &counted{r: r}
	z, err := gzip.NewReader(from)
	if err != nil {
		return nil, &Error{Malformed, "gzip", err}
	}
	return &gunzip{z: z, from: from}, nil
}

func (g *gunzip) Read(p []byte) (int, error) {
	n, err := g.z.Read(p)
	if g.out += int64(n); g.out > freeInflated+inflatedRatio*g.from.n {
		return 0, Refuse(TooLarge, "gzip",
			"over %d MiB, and %d times what it is compressed; if you trust the file, unpack it first",
			freeInflated>>20, inflatedRatio)
	}
	return n, err
}

// counted counts the bytes read. It is an [io.ByteReader]: gzip would read ahead from any
// other reader, and the count would include bytes that it did not decompress yet.
type counted struct {
	r *bufio.Reader
	n int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

func (c *counted) ReadByte() (byte, error) {
	b, err := c.r.ReadByte()
	if err == nil {
		c.n++
	}
	return b, err
}
