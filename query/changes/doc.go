// Package changes keeps the changes that package watch finds, with what people say about them, and says what is to be told.
//
//	state.go   Register: all that is known, as one document that nodes share
//	handle.go  what detectors and people do to it: open, acknowledged, expected until a time, resolved
//	outbox.go  notifications that are due, and how far each is
//	brake.go   pages of which fewer page views are profiled, since that costs too much
//	board.go   Board: a register in the home of the data, saved if nobody else was first
//	round.go   Board: an evaluation after each hour
//	source.go  queries, for who knows all pages or some
//	points.go  the series of a change
//	words.go   what changed, as text
//	write.go   lists and reports, for people
//
// What was found and what is to be told of it are saved at once. So a process can be killed at any point: an evaluation that was not saved
// is done again, and a notification is sent again, with its id, unless it is saved that the channel has it. There are no leases: of two
// nodes that evaluate an hour, the one that saves first counts, and the other has worked in vain.
package changes
