// Package fieldtrie is the root of the module and holds no code: see trie for the data
// structure, encode for the formats, store, collect and query for the daemon's parts,
// and cmd for the programs.
package fieldtrie
