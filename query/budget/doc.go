// Package budget defines limits for times and shares of page views, and evaluates them. A file
// contains the budgets, and rules for features:
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
// A [Board] evaluates a file periodically, with hysteresis, and serves the last evaluation.
package budget
