// Package feature defines features without changes to a page: rules assign pages, packages and
// functions to a feature, and a trace gets the same spans as if its page had marked them.
//
//	rules, err := feature.NewRules([]feature.Rule{
//		{Name: "checkout", Page: "/checkout/**"},
//		{Name: "charts", Package: "chart.js"},
//		{Name: "search", Function: "search*", Resource: "*/app.*.js"},
//	})
//	skipped := rules.Apply(t, feature.Bounds{Spans: 1000, AtOnce: 32})
//
// A page rule covers all time on the page. A code rule covers the time in which a matching function
// is on the stack, whatever its callers and callees. This is exactly the total time of the
// function, with each moment counted once.
package feature
