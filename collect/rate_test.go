package collect

import (
	"net/netip"
	"testing"
	"time"
)

// network returns the nth network.
func network(n int) netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(n >> 8), byte(n), 0}), 24)
}

// TestSharedLimiter checks that a network that floods a page or a key leaves room for others.
func TestSharedLimiter(t *testing.T) {
	l := newSharedLimiter[string](10, time.Minute)
	at, refused := noon, 0
	for range 3000 { // 300 s
		at = at.Add(100 * time.Millisecond)
		for range 20 {
			l.allow("/feed", network(1), at)
		}
		for n := range 5 { // a few networks send half of the rate; with the flood it is 20 times the rate
			if at.UnixMilli()%1000 == int64(n)*200 && !l.allow("/feed", network(2+n), at) {
				refused++
			}
		}
	}
	if refused > 0 {
		t.Errorf("%d of 1,500 requests of other networks are refused", refused)
	}
	// Without other networks, the network may use the full rate.
	l, at = newSharedLimiter[string](10, time.Minute), noon
	got := 0
	for range 6000 {
		at = at.Add(50 * time.Millisecond)
		if l.allow("/feed", network(1), at) {
			got++
		}
	}
	if want := 300*10 + 300; got < want*9/10 || got > want+600 {
		t.Errorf("a single network may send %d requests in 300 s at 10 a second", got)
	}
}
