// Package loadgen replays real traces at a running daemon and checks that they are stored.
//
// The load is open-loop: the time at which a request is due does not depend on the daemon,
// and its latency counts from then. So the latency shows when a daemon falls behind, unlike
// in a closed loop, where each client waits for its response before the next request.
//
// Each trace is a page view of its own or one of several chunks of one, and has a page,
// release, labels and spans. It is encoded before the load begins, except for the few bytes
// in which page views differ. So the generator leaves most of a shared machine to the
// daemon.
//
// There are two kinds of load. By default the views have little in common, the hard case
// for rollups. With [Options.Site] they resemble a real site: five releases that share most
// of their functions, the last of which rolls out while the load runs; a few kinds of
// devices, browsers and connections; up to four routes and twenty chunks a view.
//
// At the end [Generator.Verify] queries the profiles of the pages. They must be the sums of
// exactly the acknowledged traces. Traces with an unknown outcome, because the connection
// broke, may be stored or not, but at most once.
package loadgen
