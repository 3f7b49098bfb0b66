// Package agent answers coding agents, by the Model Context Protocol: which pages there are, which functions
// take the time of people, who calls them, what a release changed, whether budgets are kept.
//
// Tools read and change nothing. Answers are in milliseconds of a page view with intervals of 95 %, and bounded:
// what was left out is said, and how to ask for it. Names of functions, pages and labels come from browsers, so
// they are made printable and short, and agents are told that these are data.
package agent
