// Package query answers questions about stored traces: it selects, merges and encodes.
//
// A [Source] is where the answers come from: [Local] reads a data directory, [Remote]
// asks the daemon that has it open. [Handler] serves what [Remote] asks for, so both
// give the same answers.
package query
