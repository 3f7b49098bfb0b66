// Package scratchdisk makes small filesystems for tests that fill them up or cut their
// power. It needs Linux, root and the right to mount; a test that asks for a disk where
// that is not given is skipped, and says so on standard error.
package scratchdisk
