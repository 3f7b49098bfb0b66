#!/bin/sh
# Runs the commands of the README in a new, minimal Debian that has Go, git and make alone: tools/check-fresh.sh SUITE REPO.
# It takes root. The commit that REPO has checked out is cloned, so changes that are not committed are not tested.
set -eu
suite=$1 repo=$2 begin=$(date +%s)
[ "$(id -u)" = 0 ] || { echo "check-fresh takes root, for debootstrap and chroot" >&2; exit 1; }
command -v debootstrap >/dev/null || { apt-get update -q; apt-get install -qy debootstrap; }

root=$(mktemp -d "${TMPDIR:-/var/tmp}/fresh.XXXXXX")
leave() {
  for dir in dev/shm dev/pts dev sys proc usr/local/go; do
    ! mountpoint -q "$root/$dir" || umount -l "$root/$dir"
  done
  rm -rf --one-file-system "$root"
}
trap leave EXIT
trap 'exit 1' INT TERM

echo "== debootstrap $suite"
debootstrap --variant=minbase --include=ca-certificates,git,make "$suite" "$root" >/dev/null
mkdir -p "$root/usr/local/go"
mount --bind -o ro "$(go env GOROOT)" "$root/usr/local/go"
mount -t proc proc "$root/proc"
mount --rbind --make-rslave /sys "$root/sys"
mount --rbind --make-rslave /dev "$root/dev"
# A folder that is deleted afterwards need not survive a crash: without fsync, apt takes minutes less.
echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/unsafe-io"
# The network is that of this machine, with the certificates that it trusts.
cp /etc/resolv.conf "$root/etc/resolv.conf"
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
git clone -q "$repo" "$root/src"

for command in 'make run' 'make test'; do
  echo "== $command (after $(($(date +%s) - begin)) s)"
  chroot "$root" env -i HOME=/root LANG=C.UTF-8 PATH=/usr/local/go/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin \
    GOPROXY="$(go env GOPROXY)" NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt \
    sh -c "cd /src && $command </dev/null"
done
echo "== make run and make test pass in a new Debian $suite (after $(($(date +%s) - begin)) s)"
