#!/bin/sh
# The data in /var/lib/fieldtrie stay.
set -e
case "$1" in
remove | 0)
	if [ -d /run/systemd/system ]; then
		systemctl disable --now fieldtrie.service || true
	fi
	;;
esac
