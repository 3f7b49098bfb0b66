// Package agent serves coding agents over the Model Context Protocol: the pages, the functions that
// take users' time, their callers, the changes of a release, and the status of budgets.
//
// Tools only read. Results are in milliseconds per page view with 95 % confidence intervals.
// Results are bounded, and describe what was left out and how to get it. Names of functions, pages
// and labels come from browsers, so they are made printable and short, and agents are told that
// they are data.
package agent
