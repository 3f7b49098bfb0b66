// Package quota limits the number of distinct names, such as pages, features and values of labels.
// Each name is a key of the catalogue and of rollups. Places are divided between sites and
// networks, and names of earlier hours have precedence.
package quota
