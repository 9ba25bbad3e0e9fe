/* create-subscription, RFC 5277. */
#include <stdlib.h>
#include <sysrepo/subscribed_notifications.h>
#include <time.h>

#include "events.h"
#include "filter.h"
#include "monitoring.h"
#include "operations.h"
#include "problem.h"
#include "request.h"
#include "subscription.h"

static struct reply *reject(const char *tag, const char *element, const char *message) {
    struct reply *reply = reply_error(tag, "protocol", "create-subscription: %s", message);
    reply->errors->bad_element = must_copy(element);
    return reply;
}

/* RFC 5277 section 2.1.1. */
static struct reply *check_times(const struct timespec *start, const struct timespec *stop) {
    if (start && start->tv_sec > time(NULL)) {
        return reject("bad-element", "startTime", "startTime lies in the future; leave it out");
    }
    if (stop && !start) {
        return reject("missing-element", "startTime", "stopTime needs startTime; add it");
    }
    if (stop && stop->tv_sec < start->tv_sec) {
        return reject("bad-element", "stopTime", "stopTime is before startTime; correct it");
    }
    return NULL;
}

struct reply *create_subscription(struct session *session, struct lyd_node *rpc) {
    const char *stream = request_value(rpc, "stream");
    const char *from = request_value(rpc, "startTime"), *to = request_value(rpc, "stopTime");
    struct timespec start, stop, replayed;
    struct filter filter = {0};
    char *xpath = NULL;
    if (subscription_has_rfc5277(session)) {
        return reply_error("operation-failed", "protocol",
                           "create-subscription: this session has one; open another session, or "
                           "use establish-subscription");
    }
    if (stream && !subscription_stream_exists(session->context, stream)) {
        return reject("invalid-value", "stream",
                      "there is no such stream; see netconf/streams for those there are");
    }
    if ((from && ly_time_str2ts(from, &start)) || (to && ly_time_str2ts(to, &stop))) {
        return reject("bad-element", from ? "startTime" : "stopTime",
                      "the time is no date-and-time");
    }
    struct reply *reply = check_times(from ? &start : NULL, to ? &stop : NULL);
    if (!reply && from && !monitoring_can_replay(session->context, stream, NULL)) {
        /* RFC 5277 section 2.1.1: startTime is for streams that support replay. */
        reply = reject("operation-not-supported", "startTime",
                       "the stream keeps no notifications; leave startTime out, or have sysrepo "
                       "keep them (sysrepoctl --replay)");
    }
    reply = reply ? reply : filter_of(session, rpc, &filter);
    reply = reply ? reply : filter_bounded(session, &filter, &xpath);
    filter_free(&filter);
    if (reply) {
        return reply;
    }
    struct subscription *made = subscription_new(session, true);
    if (!made) {
        free(xpath);
        return reply_error("resource-denied", "protocol",
                           "create-subscription: sysrepo has no session left; try again later");
    }
    sr_subscription_ctx_t *changes = NULL;
    reply = subscription_prepare(made);
    if (!reply && srsn_subscribe(made->sr, stream ? stream : "NETCONF", xpath, to ? &stop : NULL,
                                 from ? &start : NULL, 1, &changes, from ? &replayed : NULL,
                                 &made->pipe, &made->id)) {
        reply = problem_of_sysrepo(made->sr);
    }
    free(xpath);
    if (reply) {
        subscription_free(made);
        return reply;
    }
    events_follow(made->events, changes);
    subscription_add(made);
    return reply_ok();
}
