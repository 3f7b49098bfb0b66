// Package file reads profiles, traces and recordings from files: it merges what is picked of them,
// lists their threads and puts these in order of time. [Merged] answers the queries that files can answer.
package file
