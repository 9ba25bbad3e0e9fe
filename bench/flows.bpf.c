/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The generator with packets of many flows: the last 4 octets of the source
 * address count, within a mask. */
#include "generator.bpf.c"

/* Ethernet, and the IPv6 header up to there. */
#define SOURCE_END (14 + 8 + 12)

struct varied {
  __u32 mask;
  __u32 number;
};

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct varied);
} varieties SEC(".maps");

SEC("xdp")
int vary(struct xdp_md *context) {
  __u32 first = 0;
  int verdict = make(context);
  __u8 *octets = (void *)(long)context->data + SOURCE_END;
  struct varied *varied = bpf_map_lookup_elem(&varieties, &first);

  if (!varied || (void *)(octets + 4) > (void *)(long)context->data_end)
    return XDP_DROP;
  __u32 number = varied->number++ & varied->mask;
  octets[0] = number >> 24;
  octets[1] = number >> 16;
  octets[2] = number >> 8;
  octets[3] = number;
  return verdict;
}
