// Package file reads profiles, traces and recordings from files. It merges a selection of them,
// lists their threads and returns the calls of threads in time order. [Merged] answers queries from
// files.
package file
