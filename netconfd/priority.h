/* The priority of a thread: a lower one while it serves who asks for much. */
#ifndef PRIORITY_H
#define PRIORITY_H

#include <stdbool.h>

enum priority_cause { PRIORITY_READS, PRIORITY_SESSIONS, PRIORITY_CAUSES };

/* Of the thread that calls: low for as long as there is a cause. */
void priority_set(enum priority_cause cause, bool low);

#endif
