// Package terminal writes tables that fit a terminal, in color where the user wants it.
package terminal
