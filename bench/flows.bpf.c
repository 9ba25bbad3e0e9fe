/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The generator with packets of many flows: the last 4 octets of the source
 * address count, within a mask. Each flow is for one of a number of rules, in
 * the destination address (bench/classification.py), if there is a number. */
#include "generator.bpf.c"

/* Ethernet, and the IPv6 header up to there. */
#define SOURCE_END (14 + 8 + 12)
/* The number of a rule in the destination, from 1 on. */
#define RULE (14 + 24 + 4)
/* Knuth's multiplicative hash: flows that follow each other are not for rules
 * that do. */
#define SCATTER 2654435761U

struct varied {
  __u32 mask;
  __u32 number;
  __u32 rules;
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
  octets = (void *)(long)context->data + RULE;
  if (varied->rules &&
      (void *)(octets + 3) <= (void *)(long)context->data_end) {
    __u32 rule = 1 + number * SCATTER % varied->rules;

    octets[0] = rule >> 16;
    octets[1] = rule >> 8;
    octets[2] = rule;
  }
  return verdict;
}
