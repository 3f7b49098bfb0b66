// Package deploy has no code: its files deploy the programs, and its tests check the files
// against the programs.
//
//	kubernetes  manifests for one daemon, with what Grafana and the Prometheus operator take
//	compose     a daemon with Grafana and Prometheus on one machine
//	systemd     the unit that the packages install
//	package     settings and scripts of the packages
package deploy
