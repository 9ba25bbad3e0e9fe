/* What a session has subscribed to, and the thread that hands each notification on. */
#ifndef SUBSCRIPTION_H
#define SUBSCRIPTION_H

#include "session.h"

struct subscription {
    uint32_t id; /* of libsysrepo, which is that of RFC 8639 */
    bool rfc5277;
    struct session *session;
    sr_session_ctx_t *sr; /* its own: libsysrepo uses it from threads of its own */
    int pipe;             /* where libsysrepo writes the notifications */
    pthread_t thread;
    bool started;
    atomic_bool over; /* nothing more comes */
    struct subscription *next;
};

/* A name of a stream is NETCONF or that of a module with notifications. */
bool subscription_stream_exists(const struct ly_ctx *context, const char *stream);

/* Prepare one; sr is ready to be used with srsn_*. NULL: sysrepo refused a session. */
struct subscription *subscription_new(struct session *session, bool rfc5277);

/* Give up one that was not added. */
void subscription_free(struct subscription *subscription);

/* id and pipe are known now; delivery begins with subscriptions_start. */
void subscription_add(struct subscription *subscription);

/* Call after the answer was sent, which comes before the first notification. */
void subscriptions_start(struct session *session);

/* End one; session NULL: of whichever. reason NULL: nothing is told. false: there is none. */
bool subscription_end(struct session *session, uint32_t id, const char *reason);
void subscriptions_end(struct session *session);

bool subscription_exists(const struct session *session, uint32_t id);
bool subscription_has_rfc5277(const struct session *session);

/* Send a notification; event is printed with its parents. */
void subscription_notify(struct session *session, const struct lyd_node *event,
                         const struct timespec *time);

#endif
