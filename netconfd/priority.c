#include "priority.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>

/* A tenth of the CPU time of a thread that has the usual one. */
#define LOWER 10

static _Thread_local bool causes[PRIORITY_CAUSES];
static _Thread_local bool lowered;
static _Thread_local int usual;

/* Without the right to go back (LimitNICE of the unit) priorities stay as they are. */
static bool may_lower(void) {
    struct rlimit nice;
    return prctl(PR_CAPBSET_READ, CAP_SYS_NICE) == 1 ||
           (!getrlimit(RLIMIT_NICE, &nice) &&
            (int)nice.rlim_cur >= 20 - getpriority(PRIO_PROCESS, 0));
}

void priority_set(enum priority_cause cause, bool low) {
    bool wanted = false;
    causes[cause] = low;
    for (int i = 0; i < PRIORITY_CAUSES; i++) {
        wanted = wanted || causes[i];
    }
    if (wanted && !lowered && may_lower()) {
        usual = getpriority(PRIO_PROCESS, 0);
        lowered = !setpriority(PRIO_PROCESS, 0, usual + LOWER);
    } else if (!wanted && lowered) {
        lowered = setpriority(PRIO_PROCESS, 0, usual) != 0;
    }
}
