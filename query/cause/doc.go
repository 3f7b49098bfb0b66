// Package cause finds likely causes of a change: an edited function, another version of a package
// or a third-party script, a label whose page views alone changed, or more calls.
//
// It follows the attribution of FBDetect (Yoon et al., SOSP 2024, §5.6). The share of a change that
// runs under a part of the code is L/R: R is the change in the time of all samples, and L the
// change in the time of samples with the part on their stacks. A part with a large share of the
// time also has a large share of each change, so only the share beyond that counts. The package
// reports only causes that are certain enough.
package cause
