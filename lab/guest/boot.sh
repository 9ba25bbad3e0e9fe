#!/bin/sh
# First process of the lab's own kernel, after the root's /lab/init has reached the checkout.
set -e
export LAB_BASE=/lab LAB_ATTACH=hostfs LAB_SRC=overlay LAB_NET=none
mount -t proc proc /proc
# What a guest writes to the host's folders shall be there soon, also when the guest dies.
echo 100 >/proc/sys/vm/dirty_expire_centisecs
echo 50 >/proc/sys/vm/dirty_writeback_centisecs
# No tunl0, sit0, ip6tnl0 in every node.
echo 1 >/proc/sys/net/core/fb_tunnels_only_for_init_net
echo 1 >/proc/sys/vm/overcommit_memory # redis asks for it
hostname lab
ip link set lo up
exec sh /lab/src/lab/guest/assemble.sh sh -c '
    tini -s -- python3 -S -m lab.guest.agent /dev/ttyS0
    sync
    echo o >/proc/sysrq-trigger
    sleep infinity'
