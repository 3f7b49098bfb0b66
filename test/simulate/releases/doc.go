// Package releases draws two releases of an app, and a change between them of which the cause is
// known: an edited function, a package or a script of others with another version, a label, more
// calls, or nothing that anybody could see. Each release has harmless edits, too.
package releases
