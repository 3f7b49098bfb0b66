// Package loadgen replays real traces at a running daemon and checks what became of them.
//
// The load is open: a request is due at a time that does not depend on how the daemon
// does, and its latency counts from then. So a daemon that falls behind shows it, which
// it does not where each client waits for its answer before it asks again.
//
// Each trace that is sent belongs to a page view of its own or is one of several chunks of
// one, has a page, release, labels and spans, and is encoded before the load begins but for
// the few bytes in which page views differ. So the generator takes little of a machine that
// it shares with the daemon.
//
// There are two kinds of load. By default the views have little in common, which is hard on
// sums. With [Options.Site] they are those of a site: five releases that share most of
// their functions, the last of which rolls out while the load runs; a few kinds of devices,
// browsers and connections; up to four routes and twenty chunks a view.
//
// In the end [Generator.Verify] asks the daemon for the profiles of the pages, which must
// be the sums of exactly those traces that were acknowledged. Traces of which it is not
// known what became, as the connection broke, may be there or not, but once at most.
package loadgen
