/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The generator at a rate: one CPU makes packets, another one takes them out of
 * a queue of the length of a network card's ring. What comes while it is full
 * is lost. */
#include "generator.bpf.c"

/* How long a packet can wait to be made: bpf_loop's bound, at 20 ns a turn, is
 * 0.17 s. */
#define MAX_TURNS (1 << 23)
/* Behind by more, as after the machine stopped, the rate starts again: no
 * burst makes up. */
#define MAX_LATE 50000

struct pace {
  /* In nanoseconds, as all times are. */
  __u64 interval;
  __u64 next;
  __u64 first;
  __u64 last;
  __u64 stalls;
  __u64 taker;
};

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct pace);
} paces SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_CPUMAP);
  __uint(max_entries, 64);
  __type(key, __u32);
  __type(value, struct bpf_cpumap_val);
} cpus SEC(".maps");

static long is_due(__u32 turn, void *next) {
  return bpf_ktime_get_ns() >= *(__u64 *)next;
}

SEC("xdp")
int paced(struct xdp_md *context) {
  __u32 first = 0;
  struct pace *pace = bpf_map_lookup_elem(&paces, &first);
  __u64 now = bpf_ktime_get_ns(), next;

  if (!pace)
    return XDP_DROP;
  next = pace->next;
  if (!next) {
    next = pace->first = now;
  } else if (now > next + MAX_LATE) {
    next = now;
    pace->stalls++;
  } else if (now < next) {
    bpf_loop(MAX_TURNS, is_due, &next, 0);
  }
  pace->last = next;
  pace->next = next + pace->interval;
  if (make(context) != XDP_PASS)
    return XDP_DROP;
  return bpf_redirect_map(&cpus, pace->taker, 0);
}
