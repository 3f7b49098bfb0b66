package budget

import (
	"testing"

	"github.com/fieldtrie/fieldtrie/query"
)

func TestJudge(t *testing.T) {
	for _, test := range []struct {
		name  string
		value *query.Estimate
		views int64
		want  Verdict
		sure  bool
	}{
		{"below", &query.Estimate{Value: 80, Low: 70, High: 90}, 200, OK, true},
		{"below, perhaps", &query.Estimate{Value: 95, Low: 70, High: 120}, 200, OK, false},
		{"at the limit", &query.Estimate{Value: 100, Low: 100, High: 100}, 200, OK, true},
		{"over", &query.Estimate{Value: 120, Low: 101, High: 140}, 200, Blown, true},
		{"over, perhaps", &query.Estimate{Value: 120, Low: 90, High: 140}, 200, Blown, false},
		{"over, without an interval", &query.Estimate{Value: 120}, 200, Blown, false},
		{"few", &query.Estimate{Value: 120, Low: 110, High: 140}, 99, TooFew, false},
		{"none", &query.Estimate{Value: 120}, 0, NoData, false},
		{"nothing known", nil, 200, NoData, false},
	} {
		s := Status{Limit: 100, MinViews: 100, Views: test.views, Value: test.value}
		if s.Judge(); s.Verdict != test.want || s.Sure != test.sure || s.Blown != (test.want == Blown) {
			t.Errorf("%s: got %+v", test.name, s)
		}
	}
}

// The steps of one budget with a limit of 100 and a hysteresis of 10 %.
func TestState(t *testing.T) {
	var state State
	for i, step := range []struct {
		value float64
		views int64 // 0 if the query fails
		want  Verdict
		blown bool
	}{
		{95, 200, OK, false}, // never blown before
		{101, 200, Blown, true},
		{100, 200, Blown, true}, // within the limit, and not far enough below it
		{90, 200, Blown, true},
		{50, 99, TooFew, true}, // no verdict
		{0, 0, Failed, true},
		{89, 200, OK, false},
		{95, 200, OK, false},
		{150, 99, TooFew, false},
		{0, 0, Failed, false},
		{100.1, 200, Blown, true},
	} {
		s := Status{Name: "a", Limit: 100, Hysteresis: 0.1, MinViews: 100, Views: step.views,
			Value: &query.Estimate{Value: step.value}}
		if s.Judge(); step.views == 0 {
			s.Verdict, s.Value = Failed, nil
		}
		all := []Status{s, {Name: "other", Verdict: OK, Limit: 1, Value: &query.Estimate{Value: 1}}}
		state.Apply(all)
		if got := all[0]; got.Verdict != step.want || got.Blown != step.blown {
			t.Errorf("step %d: got %+v, want %+v", i, got, step)
		}
		if all[1].Blown {
			t.Errorf("step %d: the other budget is blown", i)
		}
	}
	state.Apply(nil)
	if len(state.blown) != 0 {
		t.Error("the state of a removed budget is kept")
	}
}
