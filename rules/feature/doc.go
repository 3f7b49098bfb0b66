// Package feature names features from the outside: rules say which pages, packages and
// functions belong to a feature, and a trace gets spans as if its page had said so itself.
//
//	rules, err := feature.NewRules([]feature.Rule{
//		{Name: "checkout", Page: "/checkout/**"},
//		{Name: "charts", Package: "chart.js"},
//		{Name: "search", Function: "search*", Resource: "*/app.*.js"},
//	})
//	skipped := rules.Apply(t, feature.Bounds{Spans: 1000, AtOnce: 32})
//
// A rule for a page covers all time on it. One for code covers the time in which the stack
// has a function that it is about, whoever called it and whatever it calls: that time is
// exactly the total of those stacks, each moment once.
package feature
