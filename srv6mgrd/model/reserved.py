"""What users can't have, since srv6mgr has it."""

# Table of our own SIDs; a VRF must not use it. Mnemonic: RFC 8986.
SID_TABLE = 8986
# Device of our own that the SIDs use.
SID_DEVICE = "srv6mgr"

# Our mark on routes, rules and addresses (rtm_protocol, FRA_PROTOCOL, IFA_PROTO). Mnemonic: RFC
# 8986. Not in /etc/iproute2/rt_protos and not among FRR's numbers (zebra/rt_netlink.h).
ROUTE_PROTOCOL = 86
# Our mark on links (IFLA_IFALIAS); also the comment of our nftables table.
LINK_ALIAS = "srv6mgr"
# linux/rtnetlink.h: RT_TABLE_MAIN
MAIN_TABLE = 254
