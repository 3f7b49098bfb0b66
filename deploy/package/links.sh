#!/bin/sh
# links add | remove: the programs by their own names, which are common words: only where nobody else has
# a name is it a link to ours, and only such a link is removed.
set -e
root=${DPKG_ROOT:-}

add() {
	if [ -d "$root$(dirname "$1")" ] && [ ! -e "$root$1" ] && [ ! -L "$root$1" ]; then
		ln -s "$2" "$root$1"
	fi
}

remove() {
	if [ "$(readlink "$root$1")" = "$2" ]; then
		rm "$root$1"
	fi
}

for name in ingest aggregate upload; do
	"$1" "/usr/bin/$name" "../lib/fieldtrie/$name"
	"$1" "/usr/share/man/man1/$name.1.gz" "fieldtrie-$name.1.gz"
	"$1" "/usr/share/bash-completion/completions/$name" "../../fieldtrie/completions/$name.bash"
	"$1" "/usr/share/zsh/site-functions/_$name" "../../fieldtrie/completions/_$name"
	"$1" "/usr/share/fish/vendor_completions.d/$name.fish" "../../fieldtrie/completions/$name.fish"
done
