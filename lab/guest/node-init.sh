#!/bin/sh
# First process of a node: node-init.sh NAME ROLE. Runs in the node's new namespaces.
set -e
name=$1
role=$2
state=/lab/run/nodes/$name

mount --make-rprivate /
mount -t proc proc /proc
# Seen in this mount namespace only; it goes with the node.
mount -t tmpfs -o mode=755 node "$state/layer"
for dir in etc var; do
    mkdir "$state/layer/$dir" "$state/layer/$dir.work"
    mount -t overlay -o "lowerdir=/$dir,upperdir=$state/layer/$dir,workdir=$state/layer/$dir.work" \
        overlay "/$dir"
done
mount -t tmpfs -o mode=755 run /run
mount -t tmpfs -o mode=1777 tmp /tmp
mount -t tmpfs -o mode=1777 shm /dev/shm
mkdir /run/lock
mount -t sysfs sysfs /sys # shows the network namespace of who mounts it
mount -t bpf bpf /sys/fs/bpf 2>/dev/null || true
hostname "$name"
echo "$name" >/etc/hostname
cat "$state/hosts" >>/etc/hosts

for scope in default all; do
    conf=/proc/sys/net/ipv6/conf/$scope
    echo 0 >$conf/accept_dad
    echo 1 >$conf/keep_addr_on_down
    if [ "$role" = router ]; then
        echo 1 >$conf/forwarding
    else
        echo 0 >$conf/accept_ra
    fi
done
[ "$role" = host ] || echo 1 >/proc/sys/net/ipv4/ip_forward
ip link set lo up
: >"$state/ready"
exec tini -- sleep infinity
