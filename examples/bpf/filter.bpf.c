/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A firewall that knows SRv6: an End.BPF SID that drops packets by the
 * addresses, protocol and ports of what is inside. It needs no proxy and no
 * interface of its own. It also drops what it cannot read: rules must not
 * depend on how a sender arranges its headers. */
#include <linux/bpf.h>
#include <linux/ipv6.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

/* As many as RFC 8200 section 4.1 lists in front of an upper layer. */
#define MAX_EXTENSIONS 6
/* linux/ip.h, linux/ipv6.h and linux/in.h, which clash here. */
#define HOP_BY_HOP 0
#define IPIP 4
#define TCP 6
#define UDP 17
#define IPV6 41
#define ROUTING 43
#define FRAGMENT 44
#define AUTHENTICATION 51
#define DESTINATION_OPTIONS 60
#define SCTP 132
#define MOBILITY 135
#define HIP 139
#define SHIM6 140
#define FRAGMENT_OFFSET 0x1fff
#define FRAGMENT_SIZE 8
/* Of IPv6, in front of three bits of flags. */
#define FRAGMENT_OFFSET6 0xfff8

struct address {
  __be32 words[4];
};

/* Addresses of IPv4 are IPv4-mapped (::ffff:0:0/96). All bytes zero: any
 * source, any source port. */
struct rule {
  struct address source;
  struct address destination;
  __be16 source_port;
  __be16 port;
  __u8 protocol;
  __u8 unused[3];
};

/* What is dropped, and how many packets were. */
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 4096);
  __type(key, struct rule);
  __type(value, __u64);
} dropped SEC(".maps");

struct srh {
  __u8 next;
  __u8 length;
  __u8 type;
  __u8 left;
  __u8 last;
  __u8 flags;
  __be16 tag;
};

struct ipv4 {
  __u8 version_length;
  __u8 tos;
  __be16 total;
  __be16 id;
  __be16 fragment;
  __u8 ttl;
  __u8 protocol;
  __be16 checksum;
  __be32 source;
  __be32 destination;
};

/* As a routing header or a fragment header begins. */
struct extension {
  __u8 next;
  __u8 length;
  union {
    struct {
      __u8 type;
      __u8 left;
    };
    __be16 offset;
  };
};

struct place {
  __u32 at;
  __u8 next;
  /* Behind the header of a fragment that is not the first one. */
  __u8 later;
};

static __always_inline int is_extension(__u8 next) {
  return next == HOP_BY_HOP || next == ROUTING || next == FRAGMENT ||
         next == AUTHENTICATION || next == DESTINATION_OPTIONS ||
         next == MOBILITY || next == HIP || next == SHIM6;
}

/* Behind the options in front of a routing header. */
static __always_inline int skip_options(struct __sk_buff *skb,
                                        struct place *place) {
#pragma unroll
  for (int i = 0; i < MAX_EXTENSIONS; i++) {
    struct extension extension;

    if (place->next != HOP_BY_HOP && place->next != DESTINATION_OPTIONS)
      return 0;
    if (bpf_skb_load_bytes(skb, place->at, &extension, sizeof(extension)))
      return -1;
    place->next = extension.next;
    place->at += (extension.length + 1) * 8;
  }
  return 0;
}

/* Behind all extension headers. -1 where there are too many, or where a routing
 * header leads to another destination than that of the rules. */
static __noinline int skip(struct __sk_buff *skb, struct place *place) {
  for (int i = 0; i < MAX_EXTENSIONS; i++) {
    struct extension extension;
    __u32 size;

    if (!is_extension(place->next))
      return 0;
    if (bpf_skb_load_bytes(skb, place->at, &extension, sizeof(extension)))
      return -1;
    size = (extension.length + 1) * 8;
    if (place->next == AUTHENTICATION)
      size = (extension.length + 2) * 4;
    if (place->next == ROUTING && extension.left)
      return -1;
    if (place->next == FRAGMENT) {
      size = FRAGMENT_SIZE;
      place->later = (extension.offset & bpf_htons(FRAGMENT_OFFSET6)) != 0;
    }
    place->next = extension.next;
    place->at += size;
    if (place->later)
      return 0;
  }
  return is_extension(place->next) ? -1 : 0;
}

/* Later fragments have no ports: they match rules without. */
static __always_inline int ports(struct __sk_buff *skb, struct place *place,
                                 struct rule *rule) {
  rule->protocol = place->next;
  if (place->later)
    return 0;
  if (place->next != TCP && place->next != UDP && place->next != SCTP)
    return 0;
  return bpf_skb_load_bytes(skb, place->at, &rule->source_port, 4);
}

static __always_inline int inside_ipv4(struct __sk_buff *skb,
                                       struct place *place, struct rule *rule) {
  struct ipv4 header;

  if (bpf_skb_load_bytes(skb, place->at, &header, sizeof(header)))
    return -1;
  rule->source.words[2] = rule->destination.words[2] = bpf_htonl(0xffff);
  rule->source.words[3] = header.source;
  rule->destination.words[3] = header.destination;
  place->next = header.protocol;
  place->at += (header.version_length & 15) * 4;
  place->later = (header.fragment & bpf_htons(FRAGMENT_OFFSET)) != 0;
  return ports(skb, place, rule);
}

static __always_inline int inside_ipv6(struct __sk_buff *skb,
                                       struct place *place, struct rule *rule) {
  struct ipv6hdr header;

  if (bpf_skb_load_bytes(skb, place->at, &header, sizeof(header)))
    return -1;
  __builtin_memcpy(&rule->source, &header.saddr, 16);
  __builtin_memcpy(&rule->destination, &header.daddr, 16);
  place->next = header.nexthdr;
  place->at += sizeof(header);
  return skip(skb, place) ? -1 : ports(skb, place, rule);
}

/* Addresses, protocol and ports of what the segment list is on; -1 where they
 * cannot be read. */
static __always_inline int read(struct __sk_buff *skb, struct rule *rule) {
  struct ipv6hdr outer;
  struct srh srh;
  struct place place;

  if (bpf_skb_load_bytes(skb, 0, &outer, sizeof(outer)))
    return -1;
  place.at = sizeof(outer);
  place.next = outer.nexthdr;
  place.later = 0;
  if (skip_options(skb, &place) || place.next != ROUTING ||
      bpf_skb_load_bytes(skb, place.at, &srh, sizeof(srh)))
    return -1;
  /* The last segment is the first one of the header. */
  if (bpf_skb_load_bytes(skb, place.at + sizeof(srh), &rule->destination, 16))
    return -1;
  place.at += (srh.length + 1) * 8;
  place.next = srh.next;
  if (skip(skb, &place))
    return -1;
  /* A fragment of the outer packet: what is inside began in the first one. */
  if (place.later && (place.next == IPIP || place.next == IPV6))
    return -1;
  if (place.next == IPIP) {
    __builtin_memset(&rule->destination, 0, 16);
    return inside_ipv4(skb, &place, rule);
  }
  if (place.next == IPV6)
    return inside_ipv6(skb, &place, rule);
  /* The header was inserted (H.Insert): nothing is inside. */
  __builtin_memcpy(&rule->source, &outer.saddr, 16);
  return ports(skb, &place, rule);
}

static __always_inline int is_dropped(struct rule *rule) {
  __u64 *packets = bpf_map_lookup_elem(&dropped, rule);

  if (packets)
    __sync_fetch_and_add(packets, 1);
  return packets != 0;
}

/* The kernel has advanced the segment list. BPF_OK sends the packet to the next
 * segment. */
SEC("lwt_seg6local")
int filter(struct __sk_buff *skb) {
  struct rule rule = {};

  if (read(skb, &rule))
    return BPF_DROP;
  if (is_dropped(&rule))
    return BPF_DROP;
  rule.source_port = 0;
  if (is_dropped(&rule))
    return BPF_DROP;
  __builtin_memset(&rule.source, 0, 16);
  return is_dropped(&rule) ? BPF_DROP : BPF_OK;
}

char _license[] SEC("license") = "Dual BSD/GPL";
