#!/bin/sh
# The data in /var/lib/fieldtrie are kept.
set -e
case "$1" in
remove | 0)
	if [ -z "${DPKG_ROOT:-}" ] && [ -d /run/systemd/system ]; then
		systemctl disable --now fieldtrie.service || true
	fi
	"${DPKG_ROOT:-}/usr/share/fieldtrie/links" remove
	;;
esac
