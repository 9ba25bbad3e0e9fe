/* What a session has subscribed to, and the thread that hands each notification on. */
#ifndef SUBSCRIPTION_H
#define SUBSCRIPTION_H

#include "reply.h"
#include "session.h"

struct events;
struct periodic;
struct watch;

struct subscription {
    uint32_t id; /* of libsysrepo, which is that of RFC 8639 */
    bool rfc5277;
    struct session *session;
    sr_session_ctx_t *sr;  /* its own: libsysrepo uses it from threads of its own */
    struct events *events; /* of what libsysrepo has subscribed to; NULL: nothing */
    int pipe;              /* where libsysrepo writes the notifications */
    pthread_t thread;
    bool started;
    atomic_bool over;          /* nothing more comes */
    struct watch *watch;       /* what sysrepo reports no change of; NULL: it does */
    struct periodic *periodic; /* what is read when sysrepo says that it is due; NULL: no such */
    struct subscription *next;
};

/* A name of a stream is NETCONF or that of a module with notifications. */
bool subscription_stream_exists(const struct ly_ctx *context, const char *stream);

#define MOST_SUBSCRIPTIONS 32 /* of a session */

/* Prepare one; sr is ready to be used with srsn_*. NULL: the session has as many as it may, or
 * sysrepo rejected one more. */
struct subscription *subscription_new(struct session *session, bool rfc5277);

/* Begin to process what srsn_* is going to subscribe to. NULL, or the rejection. */
struct reply *subscription_prepare(struct subscription *subscription);

/* Give up one that was not added. */
void subscription_free(struct subscription *subscription);

/* id and pipe are known now; delivery begins with subscriptions_start. */
void subscription_add(struct subscription *subscription);

/* Call after the answer was sent, which comes before the first notification. */
void subscriptions_start(struct session *session);

/* End one; session NULL: of whichever. reason NULL: nothing is sent. false: there is none. */
bool subscription_end(struct session *session, uint32_t id, const char *reason);
void subscriptions_end(struct session *session);

/* Another dampening period for one that is watched. */
void subscription_set(struct session *session, uint32_t id, unsigned dampening_ms);

/* Another filter for a periodic one. NULL, or the rejection. */
struct reply *subscription_refilter(struct session *session, uint32_t id, const char *xpath);

/* The filter of a periodic one, to be freed; NULL: it has none, or is no such. */
char *subscription_xpath(struct session *session, uint32_t id);

bool subscription_is_periodic(const struct session *session, uint32_t id);
bool subscription_is_watched(const struct session *session, uint32_t id);

bool subscription_exists(const struct session *session, uint32_t id);
bool subscription_has_rfc5277(const struct session *session);

/* Send a notification; event is printed with its parents. */
void subscription_notify(struct session *session, const struct lyd_node *event,
                         const struct timespec *time);

#endif
