// Package terminal writes tables that fit the terminal, in color if the user wants it.
package terminal
