package changes

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

// Brakes are encoded and decoded with the register.
func TestBrakes(t *testing.T) {
	now := time.Date(2026, 11, 27, 12, 5, 0, 0, time.UTC)
	r := NewRegister()
	shares := []float64{0.1}
	for range 6 {
		if b := r.brake(Excess{"/feed", 0.2, strings.Repeat("é", maxText)}, now); b != nil {
			shares = append(shares, b.Rate)
		}
	}
	if want := []float64{0.1, 0.1, 0.05, 0.025, 0.0125, 0}; !reflect.DeepEqual(shares, want) {
		t.Errorf("got %v, want %v", shares, want)
	}
	if len(r.Outbox) != 5 || r.BrakeOf(r.Outbox[0].Change) != r.Brake("/feed") || len(r.Due("any", now)) != 1 {
		t.Errorf("outbox: %+v", r.Outbox)
	}
	text, err := r.Encode(now)
	if err != nil {
		t.Fatal(err)
	}
	read, err := DecodeRegister(text)
	if err != nil || !reflect.DeepEqual(read.Brakes, r.Brakes) {
		t.Fatalf("%+v, %v", read, err)
	}
	for _, c := range []struct{ from, to string }{
		{`"rate":0,`, `"rate":0.3,`}, // higher than before
		{`"rate":0,`, `"rate":-1,`},
		{`"first":0.2`, `"first":2`},
		{`"id":"` + r.Brakes[0].ID, `"id":"x`},
		{`"begin":"2026`, `"begin":"2027`},
		{`"version":1`, `"version":2`},
	} {
		if broken := strings.Replace(string(text), c.from, c.to, 1); broken == string(text) {
			t.Errorf("%s is not in %s", c.from, text)
		} else if _, err := DecodeRegister([]byte(broken)); err == nil {
			t.Errorf("%s is accepted", c.to)
		}
	}
	for i := range maxBrakes + 1 {
		r.brake(Excess{"/" + strings.Repeat("x", i+1), 0.2, ""}, now)
	}
	if len(r.Brakes) != maxBrakes {
		t.Errorf("%d brakes", len(r.Brakes))
	}
}
