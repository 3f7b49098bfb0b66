// Package changes stores the changes that package watch finds, their triage by users, and pending
// notifications.
//
//	state.go   Register: the state of all changes, as one document that nodes share
//	handle.go  updates by detectors and users: open, acknowledged, expected until a time, resolved
//	outbox.go  pending notifications, and their delivery by channel
//	brake.go   pages with fewer profiled page views, because profiling costs too much
//	board.go   Board: a register in the directory or bucket, saved if no other node was first
//	round.go   Board: the evaluation after each hour
//	source.go  queries, for clients with permission for all pages or some
//	points.go  the series of a change
//	words.go   a change as text
//	write.go   lists and reports for a terminal
//
// A change and its notifications are saved together, so a process can be killed at any point. An
// evaluation that was not saved is repeated. A notification is sent again, with the same id, unless
// its delivery was saved. There are no leases: if two nodes evaluate the same hour, the first to
// save wins, and the work of the other is discarded.
package changes
