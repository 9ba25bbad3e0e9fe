/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Packets as if they had just come in on an interface, and where they end. */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>

#include <bpf/bpf_helpers.h>

#define MAX_FRAME 320

struct frame {
  __u64 words[MAX_FRAME / 8];
};

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct frame);
} frames SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, __u64);
} arrived SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, __u64);
} alternated SEC(".maps");

/* Run by BPF_PROG_TEST_RUN with live frames, which come back with whatever the
 * stack has left in them: all of the frame is written again. */
static __always_inline int make(struct xdp_md *context) {
  __u32 first = 0;
  struct frame *frame = bpf_map_lookup_elem(&frames, &first);
  __u64 *to = (void *)(long)context->data;
  void *end = (void *)(long)context->data_end;

  if (!frame)
    return XDP_DROP;
#pragma unroll
  for (int i = 0; i < MAX_FRAME / 8; i++) {
    if ((void *)(to + 1) > end)
      break;
    *to++ = frame->words[i];
  }
  return XDP_PASS;
}

SEC("xdp")
int generate(struct xdp_md *context) { return make(context); }

/* The last octet of the last segment: Ethernet, IPv6, and 8 octets of SRH are
 * before it. */
#define LAST_OCTET (14 + 40 + 8 + 15)

/* Packets with one segment list and another one in turn. */
SEC("xdp")
int alternate(struct xdp_md *context) {
  __u32 first = 0;
  int verdict = make(context);
  __u8 *octet = (void *)(long)context->data + LAST_OCTET;
  __u64 *made = bpf_map_lookup_elem(&alternated, &first);

  if (!made || (void *)(octet + 1) > (void *)(long)context->data_end)
    return XDP_DROP;
  *octet ^= (*made)++ & 1;
  return verdict;
}

/* Egress of the last interface. */
SEC("tc")
int count(struct __sk_buff *skb) {
  __u32 first = 0;
  __u64 *packets = bpf_map_lookup_elem(&arrived, &first);

  if (packets)
    *packets += 1;
  return TC_ACT_SHOT;
}

char _license[] SEC("license") = "Dual BSD/GPL";
