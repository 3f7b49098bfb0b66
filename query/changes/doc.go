// Package changes stores the changes that package watch finds, with their triage by people, and the
// notifications to send.
//
//	state.go   Register: all that is known, as one document that nodes share
//	handle.go  what detectors and people do to it: open, acknowledged, expected until a time, resolved
//	outbox.go  notifications that are due, and how far each is
//	brake.go   pages with fewer profiled page views, because profiling costs too much
//	board.go   Board: a register in the directory or bucket, saved if no other node was first
//	round.go   Board: an evaluation after each hour
//	source.go  queries, for who knows all pages or some
//	points.go  the series of a change
//	words.go   what changed, as text
//	write.go   lists and reports, for people
//
// Changes and their notifications are saved together. So a process can be killed at any point: an
// evaluation that was not saved is done again, and a notification is sent again, with its id,
// unless it is saved that the channel has it. There are no leases: of two nodes that evaluate an
// hour, the one that saves first counts, and the other has worked in vain.
package changes
