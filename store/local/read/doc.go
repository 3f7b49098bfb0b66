// Package read answers queries about a data directory: what is there of a time, which way to
// it is the shortest, and what is missing. It writes nothing, and knows nothing of who does.
//
// # Files
//
//	reader.go     Reader, and what it reads
//	life.go       how closing a directory waits for readers
//	plan.go       what to read: pure functions
//	select.go     Select: by rollups, where it can
//	selectsums.go its part about files of rollups
//	scan.go       Scan: trace by trace
//	missing.go    what of a time can not be read
//	catalog.go    which pages and tags there are
//	version.go    a text that changes with what is stored
//	stretch.go    hour by hour, for a copy into another store
package read
