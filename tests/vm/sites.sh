#!/bin/sh
# What is around the router, made anew by each boot: a site of customer red, and the other provider
# edge, whose VPN FRR alone carries.
#
#   red1 --- to-ce-red [ this machine ] to-p --- pe2: VRF red with 10.2.0.10
set -eu

# The sysctl of VRFs is there when the module is.
modprobe vrf
for node in red1 pe2; do
    ip netns add $node
    ip -n $node link set lo up
done
sysctl -qw net.ipv6.conf.all.forwarding=1 net.ipv4.ip_forward=1

ip link add to-ce-red type veth peer name eth0 netns red1
ip link set to-ce-red up
ip address add 10.1.0.1/24 dev to-ce-red
ip -n red1 link set eth0 up
ip -n red1 address add 10.1.0.10/24 dev eth0
ip -n red1 route add default via 10.1.0.1

ip link add to-p mtu 9000 type veth peer name to-pe1 mtu 9000 netns pe2
ip link set to-p up
ip address add 2001:db8:1::1/64 dev to-p nodad
ip address add 2001:db8::1/128 dev lo
ip netns exec pe2 sysctl -qw net.ipv6.conf.all.forwarding=1 net.ipv4.ip_forward=1 \
    net.vrf.strict_mode=1 net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.default.rp_filter=0 \
    net.ipv6.conf.all.seg6_enabled=1 net.ipv6.conf.default.seg6_enabled=1
ip -n pe2 link set to-pe1 up
ip netns exec pe2 sysctl -qw net.ipv6.conf.to-pe1.seg6_enabled=1
ip -n pe2 address add 2001:db8:1::2/64 dev to-pe1 nodad
ip -n pe2 address add 2001:db8::2/128 dev lo
ip -n pe2 link add red type vrf table 10
ip -n pe2 link set red up
ip -n pe2 link add site type dummy
ip -n pe2 link set site master red up
ip -n pe2 address add 10.2.0.10/24 dev site

ip -6 route add 2001:db8::2/128 via 2001:db8:1::2
ip -6 route add fcbb:0:2::/48 via 2001:db8:1::2
ip -n pe2 -6 route add 2001:db8::1/128 via 2001:db8:1::1
ip -n pe2 -6 route add fcbb:0:1::/48 via 2001:db8:1::1
exec /usr/lib/frr/frrinit.sh start pe2
