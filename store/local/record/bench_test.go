package record

import (
	"testing"
	"time"

	"github.com/fieldtrie/fieldtrie/store"
)

// BenchmarkUnpack measures how long it takes from the stored form to the payload.
func BenchmarkUnpack(b *testing.B) {
	for _, name := range []string{"plain", "dictionary"} {
		b.Run(name, func(b *testing.B) {
			codec, err := NewCodec(1 << 20)
			if err != nil {
				b.Fatal(err)
			}
			defer codec.Close()
			d := codec.Plain()
			if name == "dictionary" {
				var samples [][]byte
				for n := range 200 {
					samples = append(samples, sitePayload(n))
				}
				if d, err = codec.Learn(NewDictionary("", distinct(samples, dictionarySize))); err != nil {
					b.Fatal(err)
				}
			}
			payload, key := sitePayload(1000), AppendTraceKey(nil, "/feed", store.ID{Chunk: 1})
			value := PackValue(nil, key, Value{Received: time.UnixMicro(1), Compressed: d.Compress(nil, payload)})
			var buf []byte
			b.SetBytes(int64(len(payload)))
			b.ReportAllocs()
			for b.Loop() {
				v, err := UnpackValue(key, value)
				if err != nil {
					b.Fatal(err)
				}
				if buf, err = codec.Decompress(buf[:0], v.Compressed, missing); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(value)), "stored-B")
		})
	}
}
