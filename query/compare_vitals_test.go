package query

import (
	"testing"

	"github.com/fieldtrie/fieldtrie/query/compare"
	"github.com/fieldtrie/fieldtrie/query/sums"
	"github.com/fieldtrie/fieldtrie/query/vital"
)

// A Web Vital that is 0 on both sides has not changed, and with few reports its change is unknown.
func TestVitalOfZero(t *testing.T) {
	zero := func(views int64) *vital.Report { return &vital.Report{Name: "cls", Unit: "score", Views: views} }
	some := &vital.Report{Name: "cls", Unit: "score", Views: 487, P75: sums.Estimate{Value: 0.1, Low: 0.05, High: 0.2}}
	for _, tt := range []struct {
		what string
		a, b *vital.Report
		want compare.Status
	}{
		{"0 in both", zero(487), zero(300), compare.WithinNoise},
		{"0 in few reports", zero(487), zero(5), compare.TooFew},
		{"0 in one of both, without an interval", zero(487), some, compare.TooFew},
	} {
		if got := vitalChange(tt.a, tt.b); got.Status != tt.want {
			t.Errorf("%s: got %s, want %s", tt.what, got.Status, tt.want)
		}
	}
}
