// Package agent serves coding agents over the Model Context Protocol: pages, the functions that
// take users' time, their callers, the changes of a release, and budgets.
//
// Tools only read. Results are in milliseconds per page view with 95 % confidence intervals. They
// are bounded, and describe how to get the omitted rest. Names of functions, pages and labels come
// from browsers, so they are made printable and short, and the instructions tell agents that names
// are data.
package agent
