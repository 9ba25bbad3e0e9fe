/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A policy behind a SID that inserts its segment list (End.B6.Insert): the
 * kernel's own End.B6 does not pass the SID, and packets come back to it
 * (docs/adr/0054). */
#include <linux/bpf.h>
#include <linux/seg6_local.h>

#include <bpf/bpf_helpers.h>

#define MAX_SEGMENTS 16

/* `length` bytes of a segment routing header; its last segment is filled in by
 * the kernel. */
struct policy {
  __u32 length;
  __u8 header[8 + 16 * (MAX_SEGMENTS + 1)];
};

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct policy);
} policies SEC(".maps");

/* The kernel has advanced the packet's own list: the last segment is where that
 * leads. */
SEC("lwt_seg6local")
int insert(struct __sk_buff *skb) {
  __u32 first = 0;
  struct policy *policy = bpf_map_lookup_elem(&policies, &first);

  if (!policy || policy->length < 8 || policy->length > sizeof(policy->header))
    return BPF_DROP;
  if (bpf_lwt_seg6_action(skb, SEG6_LOCAL_ACTION_END_B6, policy->header,
                          policy->length))
    return BPF_DROP;
  /* The helper has looked up where the packet goes. */
  return BPF_REDIRECT;
}

char _license[] SEC("license") = "Dual BSD/GPL";
