package input

import (
	"bufio"
	"compress/gzip"
	"io"
)

// What is gzipped may be so many bytes, and then so many times as many as it is compressed.
// Profiles in JSON shrink to a tenth or a thirtieth. Gzip can make a thousandth of what is all
// the same, and so a file that is easily sent into one that no memory holds.
const (
	freeInflated  = 64 << 20
	inflatedRatio = 128
)

// gunzip is what gzip holds, as far as that is not too much.
type gunzip struct {
	z    *gzip.Reader
	from *counted
	out  int64
}

// NewGunzip returns what r holds, which is gzip. Reading what is over the bounds of one
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
		return 0, Refuse(TooLarge, "gzip", "over %d MiB, and %d times what it is compressed; if you trust the file, unpack it first",
			freeInflated>>20, inflatedRatio)
	}
	return n, err
}

// counted counts the bytes that are read. It is a [io.ByteReader], as gzip would read ahead
// from another reader and be compared with bytes that it did not need.
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
