// Package cause finds why a change may be: an edited function, a package or a script of others with another version, a label that
// the change is confined to, or more calls.
//
// It follows the attribution of FBDetect (Yoon et al., SOSP 2024, §5.6): the share of a change that runs under a part of the code is
// L/R, where R is what the time of all samples changed by, and L what that of the samples with the part on their stacks did. A part
// that has much of the time anyway has as much of each change, so that only what is beyond that counts. Where nothing is sure,
// nothing is said.
package cause
