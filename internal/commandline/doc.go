// Package commandline lets programs describe themselves: their version, their help in
// sections, a man page and completions for shells. All of it is generated from the flags,
// so it cannot differ from the program.
package commandline
