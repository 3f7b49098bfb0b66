// Package releases draws two releases of an app and a change between them with a known cause: an
// edited function, a new version of a package or of a third-party script, a label, more calls, or
// no visible cause. Each release also has harmless edits.
package releases
