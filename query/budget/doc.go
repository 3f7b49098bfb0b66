// Package budget says which times and shares of page views may not be exceeded, and whether
// they are. A file has the budgets, and the rules for features that go with them:
//
//	budgets:
//	  - name: feed stays fast
//	    owner: team-feed
//	    page: /feed
//	    metric: p75
//	    limit: 250ms
//	features:
//	  - name: checkout
//	    page: /checkout/**
//
//	f, err := budget.Parse(r)
//	statuses, err := budget.Evaluate(ctx, src, f, time.Now())
//
// A [Board] evaluates a file again and again, with hysteresis, and serves what it found last.
package budget
