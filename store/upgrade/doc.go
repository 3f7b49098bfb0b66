// Package upgrade makes a directory of objects of a data directory of format 3, which releases before wrote, in its place. It goes
// when no release upgrades from those any more.
//
// # How
//
// The new form is written beside the old one, which nothing touches meanwhile:
//
//	DIR/upgrade/STATE    which hours and days are done, and what could not be read
//	DIR/upgrade/objects  the directory of objects
//
// When all is there and counted, DIR/UPGRADED is written. From then on the old form does not count any more: its files are deleted,
// or moved to DIR/former if something could not be read, and what is in DIR/upgrade/objects takes their place, its FORMAT last. Whatever
// ends the process, the next call goes on from there. DIR itself is never renamed, since it may be a mount point, and files that
// are of neither form stay. Among these are symbols, which lie in the same place in both.
//
// # Files
//
//	needed.go  which directories are upgraded
//	run.go     the upgrade as a whole
//	room.go    whether there is room for it
//	state.go   how far it is
//	place.go   the new form, while it is made
//	hour.go    hours
//	day.go     days
//	swap.go    the new form takes the place of the old one
//
// Package former reads the old form.
package upgrade
