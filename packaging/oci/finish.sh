#!/bin/sh
# Makes the root file system of a router an image: finish.sh ROOT
set -e
root=$1
here=$(dirname "$0")

sed -i -E 's/^(bgpd|isisd)=no/\1=yes/' "$root/etc/frr/daemons"
install -m 644 "$here/50-router.conf" "$root/etc/sysctl.d/"
install -m 644 "$here"/*.service "$here"/*.path "$root/etc/systemd/system/"
# No terminal, no kernel modules, no housekeeping, and no port open but what is asked for.
chroot "$root" systemctl --quiet mask getty@.service console-getty.service systemd-logind.service \
    systemd-modules-load.service \
    apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer fstrim.timer logrotate.timer
chroot "$root" systemctl --quiet disable ssh.service
chroot "$root" systemctl --quiet enable host-keys.service srv6mgr-startup.path

# Each container has keys and an identity of its own.
rm -f "$root"/etc/ssh/ssh_host_* "$root/etc/hostname" "$root/etc/resolv.conf"
: >"$root/etc/machine-id"
# The mirror and the proxy of the machine that builds are no part of the image.
rm -f "$root/etc/apt/apt.conf.d/99mmdebstrap"
cat >"$root/etc/apt/sources.list" <<SOURCES
deb http://deb.debian.org/debian trixie main
deb http://deb.debian.org/debian trixie-backports main
SOURCES
rm -rf "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/* "$root"/var/log/*.log "$root"/var/log/apt
