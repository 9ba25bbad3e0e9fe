#include "events.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "log.h"
#include "reserve.h"
#include "text.h"

#define RETRY_MS 500

struct events {
    const char *name;
    int changed; /* readable once there is a subscription, or it stops */
    atomic_bool stops;
    _Atomic(sr_subscription_ctx_t *) subscription;
    pthread_t thread;
};

/* Readable when there is an event; -1: nothing is subscribed to yet. */
static int announced(const struct events *events) {
    int pipe = -1;
    if (events->subscription) {
        sr_get_event_pipe(events->subscription, &pipe);
    }
    return pipe;
}

/* For so long; -1: until there is an event. False: it stops. */
static bool wait_for(const struct events *events, int timeout) {
    eventfd_t count;
    struct pollfd both[2] = {{.fd = events->changed, .events = POLLIN}, {.events = POLLIN}};
    do {
        both[1].fd = timeout < 0 ? announced(events) : -1;
        both[0].revents = both[1].revents = 0;
        if (poll(both, 2, timeout) >= 0 && both[0].revents) {
            eventfd_read(events->changed, &count);
        }
    } while (!events->stops && timeout < 0 && !both[1].revents);
    return !events->stops;
}

static void *run(void *data) {
    struct events *events = data;
    bool failed = false;
    while (wait_for(events, failed ? RETRY_MS : -1)) {
        reserve_begin();
        const int code = sr_subscription_process_events(events->subscription, NULL, NULL);
        reserve_end();
        if (code && !failed) {
            log_error("sysrepo: an event of %s cannot be processed: %s; retrying", events->name,
                      sr_strerror(code));
        }
        /* sysrepo has emptied the pipe then. */
        failed = code;
    }
    return NULL;
}

struct events *events_start(const char *thread) {
    struct events *events = must_alloc(sizeof *events);
    events->name = thread;
    events->changed = eventfd(0, EFD_CLOEXEC);
    const int error =
        events->changed < 0 ? errno : pthread_create(&events->thread, NULL, run, events);
    if (error) {
        log_error("thread %s: %s; see that LimitNOFILE and TasksMax permit one more", thread,
                  strerror(error));
        if (events->changed >= 0) {
            close(events->changed);
        }
        free(events);
        return NULL;
    }
    pthread_setname_np(events->thread, thread);
    reserve_fill();
    return events;
}

void events_follow(struct events *events, sr_subscription_ctx_t *subscription) {
    events->subscription = subscription;
    eventfd_write(events->changed, 1);
}

void events_stop(struct events *events) {
    if (!events) {
        return;
    }
    /* A writer that waits for the subscription keeps it; the thread answers it meanwhile. */
    while (sr_unsubscribe_sub(events->subscription, 0) == SR_ERR_TIME_OUT) {
    }
    events->stops = true;
    eventfd_write(events->changed, 1);
    pthread_join(events->thread, NULL);
    sr_unsubscribe(events->subscription);
    close(events->changed);
    free(events);
}
