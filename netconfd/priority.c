#include "priority.h"

#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

/* A tenth of the CPU time of a thread that has the usual one. */
#define LOWER 10

/* The least that the kernel takes (kernel/sched/syscalls.c), in nanoseconds. */
#define SHORT_SLICE 100000

/* Of the time that it has slept and run, a thread that gives way runs a 17th, and it sleeps for a
 * second at most. A thread that waits less than twice as long as it runs may wait for the other
 * one of its user (turns.h). */
#define SLEEP 16
#define MOST_SLEEP 1000000000ULL
#define MUCH_WAITING 2

/* Of the thread: nanoseconds that it ran, and that it could have (sched-stats.rst); zeros where the
 * kernel does not report it. */
struct times {
    unsigned long long ran, waited;
};

static _Thread_local struct times measured;

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

static struct times now(void) {
    char line[64];
    struct times found = {0};
    FILE *file = fopen("/proc/thread-self/schedstat", "re");
    if (file && fgets(line, sizeof(line), file)) {
        char *rest;
        found.ran = strtoull(line, &rest, 10);
        found.waited = strtoull(rest, NULL, 10);
    }
    if (file) {
        (void)fclose(file);
    }
    return found;
}

void priority_measure(void) {
    measured = now();
}

void priority_give_way(void) {
    if (!lowered) {
        return;
    }
    const struct times at = now();
    const unsigned long long ran = at.ran - measured.ran, waited = at.waited - measured.waited;
    if (waited <= MUCH_WAITING * ran) {
        return;
    }
    const unsigned long long sleep = SLEEP * ran < MOST_SLEEP ? SLEEP * ran : MOST_SLEEP;
    struct timespec left = {.tv_sec = (time_t)(sleep / 1000000000ULL),
                            .tv_nsec = (long)(sleep % 1000000000ULL)};
    (void)nanosleep(&left, NULL);
}

void priority_take_short_slices(void) {
    struct sched_attr attributes = {.size = sizeof(attributes),
                                    .sched_policy = SCHED_OTHER,
                                    .sched_nice = getpriority(PRIO_PROCESS, 0),
                                    .sched_runtime = SHORT_SLICE};
    (void)sched_setattr(0, &attributes, 0);
}
