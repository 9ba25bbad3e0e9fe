#!/bin/sh
# First process of a node that boots the fresh Debian in /opt/fresh: fresh-init.sh NAME ROLE. Runs in
# the node's new namespaces, as node-init.sh does, and becomes systemd.
set -e
name=$1
state=/lab/run/nodes/$name
root=$state/layer/root

mount --make-rprivate /
mount -t proc proc /proc
mount -t tmpfs -o mode=755 node "$state/layer"
mkdir "$state/layer/upper" "$state/layer/work" "$root"
mount -t overlay -o "volatile,lowerdir=/opt/fresh/root,upperdir=$state/layer/upper,workdir=$state/layer/work" \
    overlay "$root"
# A group of control groups per node: the tree that systemd takes for its own.
mkdir "$state/layer/cgroup"
mount -t cgroup2 cgroup2 "$state/layer/cgroup"
mkdir -p "$state/layer/cgroup/$name"
echo 0 >"$state/layer/cgroup/$name/cgroup.procs"

mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
mount -t bpf bpf "$root/sys/fs/bpf"
mount -t tmpfs -o mode=755 dev "$root/dev"
for device in null zero full random urandom tty; do
    : >"$root/dev/$device"
    mount --bind "/dev/$device" "$root/dev/$device"
done
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
mount -t tmpfs -o mode=1777 shm "$root/dev/shm"
mount -t tmpfs -o mode=755 run "$root/run"
mount -t tmpfs -o mode=1777 tmp "$root/tmp"
# What the tests bring along: themselves, a gNMI client, the packages unless the root has them.
for part in /src /opt/pygnmi /opt/debs /opt/previous /lab/out; do
    [ -d "$part" ] || continue
    mkdir -p "$root$part"
    mount --bind "$part" "$root$part"
done
echo "$name" >"$root/etc/hostname"
{ echo "127.0.0.1 localhost $name"; echo "::1 localhost"; cat "$state/hosts"; } >"$root/etc/hosts"

for scope in default all; do
    conf=/proc/sys/net/ipv6/conf/$scope
    echo 0 >$conf/accept_dad
    echo 1 >$conf/keep_addr_on_down
    echo 1 >$conf/forwarding
done
echo 1 >/proc/sys/net/ipv4/ip_forward
ip link set lo up
hostname "$name"
: >"$state/fresh"
: >"$state/ready"
cd "$root"
exec unshare --cgroup --ipc sh -c '
    mount -t cgroup2 cgroup2 sys/fs/cgroup
    pivot_root . mnt
    umount -l mnt
    exec env -i container=lab PATH=/usr/sbin:/usr/bin:/sbin:/bin /sbin/init'
