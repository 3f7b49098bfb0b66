#!/bin/sh
# The daemon does not start automatically, because it must first be configured with the sites that
# may send. If it is already running, it restarts with the new program.
set -e
"${DPKG_ROOT:-}/usr/share/fieldtrie/links" add
if [ -z "${DPKG_ROOT:-}" ] && [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	systemctl try-restart fieldtrie.service
fi
case "$1:$2" in
configure: | 1:*)
	echo "fieldtrie: look at /etc/fieldtrie/ingest.yaml, then: systemctl enable --now fieldtrie"
	;;
esac
