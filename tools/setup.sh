#!/bin/sh
# Installs the programs that a command of the Makefile needs and that are missing, on Debian and Ubuntu:
# tools/setup.sh run|lint|test. It lists them with the reason first. With SETUP=no, and on other systems, it installs
# nothing, and a missing program is an error, except for run, which does without.
set -eu
for=$1

# Lines of: program, packages, reason.
programs='npm nodejs,npm builds the dashboard'
[ "$for" = run ] || programs='npm nodejs,npm builds the dashboard, checks and tests the browser script'
[ "$for" != test ] || programs="$programs
gcc gcc,libc6-dev compiles the race detector
chromium chromium runs the tests of the browser script and of the dashboard
curl curl runs the commands of the tutorial
nginx nginx runs the recipes of deploy/proxy
haproxy haproxy runs the recipes of deploy/proxy
caddy caddy runs the recipes of deploy/proxy
mkfs.ext4 e2fsprogs makes disks that tests fill, freeze and cut off, as root
mount mount mounts these disks"

has() {
  case $1 in
  chromium) # the places of test/chromium/launch.mjs
    [ -z "${CHROMIUM:-}" ] || return 0
    for name in chromium chromium-browser google-chrome google-chrome-stable; do
      if [ -x /usr/bin/$name ]; then return 0; fi
    done
    [ -x '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome' ] ;;
  *) command -v "$1" >/dev/null ;;
  esac
}

packages= list=
while read -r program names reason; do
  has "$program" && continue
  packages="$packages $(echo "$names" | tr , ' ')"
  list="$list$(printf '\n  %-10s %s' "$program" "$reason")"
done <<END
$programs
END

sudo=
[ "$(id -u)" = 0 ] || sudo=sudo
if [ -n "$list" ] && [ "${SETUP:-}" != no ] && command -v apt-get >/dev/null && command -v ${sudo:-sh} >/dev/null; then
  # Ubuntu has Chromium as a snap, behind a package of another name.
  ! grep -q '^ID=ubuntu' /etc/os-release || packages=$(echo "$packages" | sed 's/chromium/chromium-browser/')
  echo "make $for installs programs (make $for SETUP=no installs none):$list"
  $sudo apt-get update -q
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends $packages
elif [ -n "$list" ] && [ "$for" = run ]; then
  echo "make run builds no dashboard, because npm is missing"
elif [ -n "$list" ]; then
  echo "These programs are missing:$list" >&2
  [ "${SETUP:-}" = no ] || { echo "Install them, or let what needs them fail: make $for SETUP=no" >&2; exit 1; }
fi

if command -v node >/dev/null && ! node -e 'process.exit(+(parseInt(process.versions.node) < 20))'; then
  echo "node $(node --version) is too old: install 20 or later, see https://nodejs.org/en/download" >&2
  exit 1
fi
