package query

import "github.com/fieldtrie/fieldtrie/trie/rollup"

// OutcomeLost is the outcome of page views that reported Web Vitals, and that they send a profile, of
// which nothing has arrived. Reports have no id, so this is the difference of two counts: page views
// that sent a profile and no report hide as many of them.
const OutcomeLost = "lost"

// coverageOf returns page views without a profile by the reason. How many are lost is known only of
// all the time that is asked for, as a profile and its report may arrive in different hours.
func coverageOf(outcomes map[string]int64, whole bool) map[string]int64 {
	out := make(map[string]int64, len(outcomes))
	for reason, views := range outcomes {
		if reason != rollup.OutcomeProfiled && reason != rollup.OutcomeReported {
			out[reason] = views
		}
	}
	if lost := outcomes[rollup.OutcomeReported] - outcomes[rollup.OutcomeProfiled]; whole && lost > 0 {
		out[OutcomeLost] = lost
	}
	return out
}
