/* On-change subscriptions to the operational datastore (RFC 8641).
 *
 * sysrepo reports no change of what is asked for when it is read, as state is: it accepts such a
 * subscription and is silent. So whenever srv6mgrd has reported something new, what is subscribed
 * to is read again and compared. Counters are left out: who wants them subscribes periodically.
 */
#ifndef WATCH_H
#define WATCH_H

#include "changes.h"
#include "reply.h"
#include "session.h"

struct watch;

struct watch_wanted {
    const char *xpath; /* of filter_bounded: NULL is everything */
    unsigned dampening_ms;
    bool excluded[CHANGES];
};

/* Read what there is now, with which the first change is compared. NULL, or the rejection. */
struct reply *watch_new(const struct session *session, const struct watch_wanted *wanted,
                        struct watch **watch);

/* Send changes as those of the subscription of that number, until watch_free. */
void watch_start(struct watch *watch, uint32_t id);
void watch_set(struct watch *watch, unsigned dampening_ms);

void watch_free(struct watch *watch);

#endif
