/* How soon a thread runs: later while it serves who asks for much. */
#ifndef PRIORITY_H
#define PRIORITY_H

#include <stdbool.h>

enum priority_cause { PRIORITY_READS, PRIORITY_SESSIONS, PRIORITY_CAUSES };

/* Of the thread that calls: low for as long as there is a cause. */
void priority_set(enum priority_cause cause, bool low);

/* Measure the thread that calls from here on. */
void priority_measure(void);

/* If its priority was low since then and it waited for the CPU more than it ran, sleep: others,
 * of other services too, need the CPU, and the priority counts within this service alone. */
void priority_give_way(void);

/* Have the thread that calls, and those that it starts, run soon and for a short time. Its share of
 * the CPU stays the same. What the kernel can't (before 6.12) is left as it is. */
void priority_take_short_slices(void);

#endif
