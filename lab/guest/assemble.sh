#!/bin/sh
# Puts the lab's root file system together and becomes the command in it.
#   LAB_BASE    a tmpfs of our own
#   LAB_ATTACH  how a folder of the host is reached: hostfs | bind;
#               none: this already is the lab's root (a lab inside a lab)
#   LAB_JOB     folder of links to the host's folders: root, src, and those of LAB_PARTS
#   LAB_PARTS   words LINK:MOUNTPOINT
#   LAB_SRC     overlay: writes to /src vanish; bind: they reach the checkout
#   LAB_NET     host: take over the host's resolver and certificates (LAB_CA)
set -e

attach() {
    case $LAB_ATTACH in
    hostfs) mount -t hostfs -o "hostfs=$LAB_JOB/$1" "$1" "$2" ;;
    bind) mount --bind "$(readlink "$LAB_JOB/$1")" "$2" ;;
    esac
}

overlay() { # lower, name, mount point
    mkdir -p "$LAB_BASE/$2.upper" "$LAB_BASE/$2.work"
    # Data of a throw-away layer need not reach a disk.
    mount -t overlay -o "volatile,lowerdir=$1,upperdir=$LAB_BASE/$2.upper,workdir=$LAB_BASE/$2.work" \
        overlay "$3"
}

if [ "$LAB_ATTACH" = none ]; then
    mount -t sysfs sysfs /sys
    mount -t tmpfs -o mode=755 lab /lab/run
    # The nodes of the lab around this one have their names there.
    mkdir -p /run/netns
    mount -t tmpfs -o mode=755 lab /run/netns
else
    root=$LAB_BASE/root
    mkdir "$root"
    case $LAB_ATTACH in
    hostfs) overlay / root "$root" ;;
    bind) overlay "$(readlink "$LAB_JOB/root")" root "$root" ;;
    esac

    if [ "$LAB_SRC" = overlay ]; then
        mkdir "$LAB_BASE/src.lower"
        attach src "$LAB_BASE/src.lower"
        overlay "$LAB_BASE/src.lower" src "$root/src"
    else
        attach src "$root/src"
    fi
    for part in $LAB_PARTS; do
        mkdir -p "$root${part#*:}"
        attach "${part%%:*}" "$root${part#*:}"
    done

    mount -t proc proc "$root/proc"
    mount -t sysfs sysfs "$root/sys"
    if [ "$LAB_ATTACH" = hostfs ]; then
        mount -t devtmpfs dev "$root/dev"
        mkdir -p "$root/dev/pts" "$root/dev/shm"
    else
        mount --bind /dev "$root/dev"
    fi
    mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts "$root/dev/pts"
    mount -t tmpfs -o mode=1777 shm "$root/dev/shm"
    mount -t tmpfs -o mode=755 run "$root/run"
    mount -t tmpfs -o mode=1777 tmp "$root/tmp"
    mkdir -p "$root/run/lock" "$root/lab/run"
    if [ "$LAB_NET" = host ]; then
        cat /etc/resolv.conf >"$root/etc/resolv.conf" || true
        cat /etc/hosts >"$root/etc/hosts"
        [ -z "$LAB_CA" ] || cat "$LAB_CA" >"$root/etc/ssl/certs/ca-certificates.crt"
    else
        echo "127.0.0.1 localhost lab" >"$root/etc/hosts"
        echo "::1 localhost lab" >>"$root/etc/hosts"
    fi

    cd "$root"
    # pivot_root and not chroot alone: nodes enter mount namespaces, and start at their root.
    pivot_root . mnt
    umount -l mnt
fi
mountpoint -q /sys/fs/bpf || mount -t bpf bpf /sys/fs/bpf 2>/dev/null || true
cd /src
exec "$@"
