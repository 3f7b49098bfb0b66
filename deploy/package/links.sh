#!/bin/sh
# links add | remove: links the programs under their own names. These are common words, so a link is
# made only if the name is unused, and only such links are removed.
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
