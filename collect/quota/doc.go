// Package quota bounds how many names there are, such as pages, features and values of labels: each
// is a key of the catalogue and of rollups. What is there is shared out between sites and networks, and
// names that were there in earlier hours come first.
package quota
