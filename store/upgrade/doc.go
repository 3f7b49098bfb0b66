// Package upgrade makes a directory of objects of a data directory of format 3, which releases before wrote. It goes when no
// release upgrades from those any more.
package upgrade
