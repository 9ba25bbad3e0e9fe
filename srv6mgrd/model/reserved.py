"""What users can't have, since srv6mgr has it."""

# Table of our own SIDs; a VRF must not use it. Mnemonic: RFC 8986.
SID_TABLE = 8986
# Device of our own that the SIDs use.
SID_DEVICE = "srv6mgr"
# VRF of our own for End.DT4 and End.DT46 into the default VRF. Its table stays empty, so that
# lookups go on to the main table (fib_rules_lookup). Mnemonic: RFC 8986, End.DT46.
DEFAULT_VRF_DEVICE, DEFAULT_VRF_TABLE = "srv6mgr-default", 898646
# Devices that users can't name.
OWN_DEVICES = frozenset({SID_DEVICE, DEFAULT_VRF_DEVICE})

# Our mark on routes, rules and addresses (rtm_protocol, FRA_PROTOCOL, IFA_PROTO). Mnemonic: RFC
# 8986. Not in /etc/iproute2/rt_protos and not among FRR's numbers (zebra/rt_netlink.h).
ROUTE_PROTOCOL = 86
# Our mark on links (IFLA_IFALIAS); also the comment of our nftables table.
LINK_ALIAS = "srv6mgr"
# linux/rtnetlink.h: RT_TABLE_MAIN
MAIN_TABLE = 254
