/* Events of sysrepo's subscriptions, each in a thread of its own.
 *
 * sysrepo's own thread ends at the first event that it cannot process, as without a file descriptor
 * left (sr_shmsub_listen_thread): writers and readers would wait for it in vain from then on, and
 * rules of access would stay as they were.
 */
#ifndef EVENTS_H
#define EVENTS_H

#include <sysrepo.h>

struct events;

/* Start a thread before what it is for: a subscription that nobody processes keeps writers waiting.
 * NULL: the process has no descriptor or thread left, which is logged. */
struct events *events_start(const char *thread);

/* Once: process those of a subscription, made with SR_SUBSCR_NO_THREAD, from now on. */
void events_follow(struct events *events, sr_subscription_ctx_t *subscription);

/* End the subscription, then the thread. */
void events_stop(struct events *events);

#endif
