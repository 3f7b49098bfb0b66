package collect

import (
	"time"

	"github.com/fieldtrie/fieldtrie/encode"
)

// Limits bounds what one client can make the daemon do. A zero field means the default
// that stands beside it.
type Limits struct {
	Body     int64         // 256 KiB: bytes of a request as sent
	Inflated int64         // 4 MiB: bytes of a request after decompression
	Ratio    int64         // 100: inflated bytes for each byte sent, where that is over 64 KiB
	InFlight int64         // 256 MiB: memory for the bodies of all requests at work
	Read     time.Duration // 10 s: for a body to arrive
	Batch    int           // 1,000 traces in one request
	Trace    encode.Limits // of each trace
	Pages    int           // 2,000 distinct pages an hour; further ones are counted as (other)
	Tags     int           // 2,000 distinct features an hour, as many releases, as many environments; further ones are (other)
	Labels   int           // 200 distinct values of each label an hour; further ones are (other)
	Skew     time.Duration // 24 h: a client clock further off is not believed
	Rate     float64       // requests a second from one address; 0: no limit
	PageRate float64       // traces a second of one page; 0: no limit
	KeyRate  float64       // requests a second with one key; 0: no limit
}

// WithDefaults returns l with every zero replaced by its default.
func (l Limits) WithDefaults() Limits {
	if l.Trace.TextBytes == 0 {
		l.Trace.TextBytes = longestText
	}
	l.Trace = l.Trace.WithDefaults()
	setDefault(&l.Body, 256<<10)
	setDefault(&l.Inflated, 4<<20)
	setDefault(&l.Ratio, 100)
	setDefault(&l.InFlight, 256<<20)
	setDefault(&l.Read, 10*time.Second)
	setDefault(&l.Batch, 1000)
	setDefault(&l.Pages, 2000)
	setDefault(&l.Tags, 2000)
	setDefault(&l.Labels, 200)
	setDefault(&l.Skew, 24*time.Hour)
	return l
}

func setDefault[T int | int64 | time.Duration](field *T, value T) {
	if *field == 0 {
		*field = value
	}
}
