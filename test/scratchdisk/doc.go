// Package scratchdisk makes small filesystems for tests that fill them up or cut their
// power. It needs Linux, root and the right to mount; without them, a test that needs a
// disk is skipped, with a note on standard error.
package scratchdisk
