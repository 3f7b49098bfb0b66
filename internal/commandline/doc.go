// Package commandline is what the programs say of themselves: their version, their help in
// sections, a man page and completions for shells. All of it is made from the flags, so
// that none of it can say something else than the program does.
package commandline
