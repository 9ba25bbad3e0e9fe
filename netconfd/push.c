/* RFC 8639 (subscribed notifications) and RFC 8641 (YANG-Push), dynamic subscriptions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysrepo/subscribed_notifications.h>

#include "events.h"
#include "filter.h"
#include "monitoring.h"
#include "operations.h"
#include "periodic.h"
#include "problem.h"
#include "request.h"
#include "secrets.h"
#include "subscription.h"
#include "watch.h"

#define CENTISECOND_MS 10
#define SHORTEST_PERIOD 100 /* centiseconds */

struct wanted {
    const char *stream; /* NULL: a datastore */
    sr_datastore_t datastore;
    struct filter filter;
    bool has_filter;
    char *xpath; /* the filter, for what sysrepo evaluates; NULL: everything */
    const struct lyd_node *periodic, *on_change;
    struct timespec start, stop, anchor;
    bool has_start, has_stop, has_anchor;
};

static struct reply *read_time(const struct lyd_node *parent, const char *name,
                               struct timespec *time, bool *has) {
    const char *value = parent ? request_value(parent, name) : NULL;
    *has = value != NULL;
    if (value && ly_time_str2ts(value, time)) {
        return reply_error("invalid-value", "application", "%s: '%s' is no date-and-time", name,
                           value);
    }
    return NULL;
}

static void free_wanted(struct wanted *wanted) {
    filter_free(&wanted->filter);
    free(wanted->xpath);
}

/* RFC 8641 section 4.4.1: how often, at most, all that was subscribed to is read. */
static struct reply *check_period(const struct lyd_node *rpc, const struct lyd_node *periodic) {
    const char *period = periodic ? request_value(periodic, "period") : NULL;
    if (!period || strtoul(period, NULL, 10) >= SHORTEST_PERIOD) {
        return NULL;
    }
    struct reply *reply = reply_error("invalid-value", "application",
                                      "%s: a period of %s hundredths of a second is too short; "
                                      "choose %d or more",
                                      LYD_NAME(rpc), period, SHORTEST_PERIOD);
    reply->errors->app_tag = must_copy("ietf-yang-push:period-unsupported");
    return reply;
}

static struct reply *read_wanted(struct session *session, const struct lyd_node *rpc,
                                 struct wanted *wanted) {
    struct reply *reply = NULL;
    wanted->stream = request_value(rpc, "stream");
    wanted->periodic = request_child(rpc, "periodic");
    wanted->on_change = request_child(rpc, "on-change");
    if (request_child(rpc, "stream-filter-name") || request_child(rpc, "selection-filter-ref")) {
        return reply_error("operation-not-supported", "application",
                           "%s: filters are not kept here; put the filter into the request",
                           LYD_NAME(rpc));
    }
    if (wanted->stream && !subscription_stream_exists(session->context, wanted->stream)) {
        return reply_error("invalid-value", "application",
                           "%s: there is no stream %s; see streams for those there are",
                           LYD_NAME(rpc), wanted->stream);
    }
    if (request_value(rpc, "datastore")) {
        reply = request_nmda_datastore(rpc, "datastore", &wanted->datastore);
        reply = reply ? reply : filter_of_kind(session, rpc, "datastore-", &wanted->filter);
    } else {
        reply = filter_of_kind(session, rpc, "stream-", &wanted->filter);
    }
    wanted->has_filter = !filter_is_everything(&wanted->filter);
    reply = reply ? reply : filter_bounded(session, &wanted->filter, &wanted->xpath);
    reply = reply ? reply : check_period(rpc, wanted->periodic);
    reply = reply ? reply : secrets_reject(session, wanted->xpath);
    reply = reply ? reply : read_time(rpc, "stop-time", &wanted->stop, &wanted->has_stop);
    reply = reply ? reply : read_time(rpc, "replay-start-time", &wanted->start, &wanted->has_start);
    return reply ? reply
                 : read_time(wanted->periodic, "anchor-time", &wanted->anchor, &wanted->has_anchor);
}

static uint32_t milliseconds(const struct lyd_node *parent, const char *name) {
    const char *value = parent ? request_value(parent, name) : NULL;
    return value ? (uint32_t)strtoul(value, NULL, 10) * CENTISECOND_MS : 0;
}

static void read_excluded(const struct lyd_node *on_change, int excluded[SRSN_COUNT_YP_CHANGE]) {
    static const char *const names[SRSN_COUNT_YP_CHANGE] = {"create", "delete", "insert", "move",
                                                            "replace"};
    const struct lyd_node *child;
    LY_LIST_FOR(lyd_child(on_change), child) {
        for (int i = 0; i < SRSN_COUNT_YP_CHANGE; i++) {
            if (!strcmp(LYD_NAME(child), "excluded-change") &&
                !strcmp(lyd_get_value(child), names[i])) {
                excluded[i] = 1;
            }
        }
    }
}

static int begin(struct subscription *made, const struct wanted *wanted, struct timespec *replayed,
                 sr_subscription_ctx_t **changes) {
    const struct timespec *stop = wanted->has_stop ? &wanted->stop : NULL;
    if (wanted->stream) {
        return srsn_subscribe(made->sr, wanted->stream, wanted->xpath, stop,
                              wanted->has_start ? &wanted->start : NULL, 1, changes, replayed,
                              &made->pipe, &made->id);
    }
    if (wanted->periodic) {
        return srsn_yang_push_periodic(
            made->sr, wanted->datastore, PERIODIC_BEAT, milliseconds(wanted->periodic, "period"),
            wanted->has_anchor ? &wanted->anchor : NULL, stop, &made->pipe, &made->id);
    }
    const char *sync = request_value(wanted->on_change, "sync-on-start");
    int excluded[SRSN_COUNT_YP_CHANGE] = {0};
    read_excluded(wanted->on_change, excluded);
    return srsn_yang_push_on_change(made->sr, wanted->datastore, wanted->xpath,
                                    milliseconds(wanted->on_change, "dampening-period"),
                                    !sync || !strcmp(sync, "true"), excluded, stop, 1, changes,
                                    &made->pipe, &made->id);
}

/* NULL, or the rejection. */
static struct reply *subscribe(struct subscription *made, const struct wanted *wanted,
                               struct timespec *replayed) {
    sr_subscription_ctx_t *changes = NULL;
    struct reply *reply = wanted->periodic ? NULL : subscription_prepare(made);
    if (reply) {
        return reply;
    }
    if (begin(made, wanted, replayed, &changes)) {
        return problem_of_sysrepo(made->sr);
    }
    if (changes) {
        events_follow(made->events, changes);
    }
    return NULL;
}

static struct reply *established(struct session *session, const struct lyd_node *rpc, uint32_t id,
                                 const struct timespec *replayed) {
    struct lyd_node *output = NULL;
    char number[16];
    snprintf(number, sizeof number, "%u", id);
    if (lyd_dup_single(rpc, NULL, 0, &output) ||
        lyd_new_term(output, NULL, "id", number, LYD_NEW_VAL_OUTPUT, NULL)) {
        lyd_free_all(output);
        return problem_of_libyang(session->context, "application", NULL, NULL);
    }
    if (replayed->tv_sec) {
        char *text = NULL;
        ly_time_ts2str(replayed, &text);
        lyd_new_term(output, NULL, "replay-start-time-revision", text, LYD_NEW_VAL_OUTPUT, NULL);
        free(text);
    }
    return reply_data(output, LYD_PRINT_WD_EXPLICIT);
}

/* See watch.h: changes of state sysrepo reports none of. */
static struct reply *watch(struct subscription *made, const struct wanted *wanted) {
    static const char *const names[CHANGES] = {"create", "delete", "replace"};
    struct watch_wanted watched = {.xpath = wanted->xpath,
                                   .dampening_ms =
                                       milliseconds(wanted->on_change, "dampening-period")};
    const struct lyd_node *child;
    if (!wanted->on_change || wanted->datastore != SR_DS_OPERATIONAL) {
        return NULL;
    }
    LY_LIST_FOR(lyd_child(wanted->on_change), child) {
        for (int i = 0; i < CHANGES; i++) {
            watched.excluded[i] =
                watched.excluded[i] || (!strcmp(LYD_NAME(child), "excluded-change") &&
                                        !strcmp(lyd_get_value(child), names[i]));
        }
    }
    return watch_new(made->session, &watched, &made->watch);
}

struct reply *establish_subscription(struct session *session, struct lyd_node *rpc) {
    struct wanted wanted = {0};
    struct timespec replayed = {0};
    struct reply *reply = read_wanted(session, rpc, &wanted);
    if (!reply && wanted.has_start &&
        !monitoring_can_replay(session->context, wanted.stream, NULL)) {
        reply = reply_error("operation-not-supported", "application",
                            "establish-subscription: stream %s keeps no notifications; leave "
                            "replay-start-time out",
                            wanted.stream);
        reply->errors->app_tag = must_copy("ietf-subscribed-notifications:replay-unsupported");
    }
    if (!reply && !wanted.stream && !wanted.periodic && !wanted.on_change) {
        reply = reply_error("missing-element", "application",
                            "establish-subscription: periodic or on-change is missing; add one");
    }
    struct subscription *made = reply ? NULL : subscription_new(session, false);
    reply = made ? watch(made, &wanted) : reply;
    if (made && !reply && wanted.periodic) {
        reply = periodic_new(session, wanted.datastore, wanted.xpath, &made->periodic);
    }
    if (made && !reply) {
        reply = subscribe(made, &wanted, &replayed);
    }
    if (made && reply) {
        subscription_free(made);
    } else if (made) {
        subscription_add(made);
        reply = established(session, rpc, made->id, &replayed);
    } else if (!reply) {
        reply = reply_error("resource-denied", "application",
                            "establish-subscription: the session has %d subscriptions, or sysrepo "
                            "no session left; delete one, or try again later",
                            MOST_SUBSCRIPTIONS);
        reply->errors->app_tag = must_copy("ietf-subscribed-notifications:insufficient-resources");
    }
    free_wanted(&wanted);
    return reply;
}

/* RFC 8639 section 2.4.3: identities of the module name why. */
static struct reply *no_such(const char *name, uint32_t id) {
    struct reply *reply = reply_error(
        "invalid-value", "application",
        "%s: there is no subscription %u of this session; name one of its own", name, id);
    reply->errors->app_tag = must_copy("ietf-subscribed-notifications:no-such-subscription");
    return reply;
}

static uint32_t id_of(const struct lyd_node *rpc) {
    return (uint32_t)strtoul(request_value(rpc, "id"), NULL, 10);
}

static void put(struct lyd_node *parent, const char *module, const char *path, const char *value) {
    char *whole = must_format("%s%s%s", module, *module ? ":" : "", path);
    lyd_new_path(parent, NULL, whole, value, 0, NULL);
    free(whole);
}

/* What the subscription is now, RFC 8639 section 2.7.2. */
static void notify_modified(struct session *session, uint32_t id) {
    static const char *const datastores[] = {[SR_DS_STARTUP] = "ietf-datastores:startup",
                                             [SR_DS_RUNNING] = "ietf-datastores:running",
                                             [SR_DS_CANDIDATE] = "ietf-datastores:candidate",
                                             [SR_DS_OPERATIONAL] = "ietf-datastores:operational",
                                             [SR_DS_FACTORY_DEFAULT] =
                                                 "ietf-factory-default:factory-default"};
    const char *const push = "ietf-yang-push";
    srsn_state_sub_t *state = NULL;
    struct lyd_node *event = NULL;
    struct timespec now;
    char number[16];
    if (srsn_oper_data_sub(id, &state)) {
        return;
    }
    snprintf(number, sizeof number, "%u", id);
    lyd_new_path(NULL, session->context, "/ietf-subscribed-notifications:subscription-modified",
                 NULL, 0, &event);
    put(event, "", "id", number);
    if (state->type == SRSN_SUB_NOTIF) {
        put(event, "", "stream", state->sub_notif.stream);
        if (state->xpath_filter) {
            put(event, "", "stream-xpath-filter", state->xpath_filter);
        }
    } else {
        bool periodic = state->type == SRSN_YANG_PUSH_PERIODIC;
        put(event, push, "datastore",
            datastores[periodic ? state->yp_periodic.ds : state->yp_on_change.ds]);
        char *own = periodic ? subscription_xpath(session, id) : NULL;
        const char *xpath = periodic ? own : state->xpath_filter;
        if (xpath) {
            put(event, push, "datastore-xpath-filter", xpath);
        }
        free(own);
        snprintf(number, sizeof number, "%u",
                 periodic ? state->yp_periodic.period : state->yp_on_change.dampening_period);
        put(event, push, periodic ? "periodic/period" : "on-change/dampening-period", number);
    }
    if (state->stop_time.tv_sec) {
        char *stop = NULL;
        ly_time_ts2str(&state->stop_time, &stop);
        put(event, "", "stop-time", stop);
        free(stop);
    }
    srsn_oper_data_subscriptions_free(state, 1);
    clock_gettime(CLOCK_REALTIME, &now);
    subscription_notify(session, event, &now);
    srsn_notif_sent(id);
    lyd_free_all(event);
}

struct reply *modify_subscription(struct session *session, struct lyd_node *rpc) {
    struct wanted wanted = {0};
    uint32_t id = id_of(rpc);
    if (!subscription_exists(session, id)) {
        return no_such("modify-subscription", id);
    }
    struct reply *reply = read_wanted(session, rpc, &wanted);
    int failed = 0;
    if (!reply && wanted.has_filter && subscription_is_watched(session, id)) {
        reply = reply_error("operation-not-supported", "application",
                            "modify-subscription: the filter of an on-change subscription to "
                            "operational stays; delete it, and establish another");
    }
    if (!reply && wanted.has_filter && subscription_is_periodic(session, id)) {
        reply = subscription_refilter(session, id, wanted.xpath);
    } else if (!reply && wanted.has_filter) {
        failed = srsn_modify_xpath_filter(id, wanted.xpath);
    }
    if (!reply && !failed && wanted.has_stop) {
        failed = srsn_modify_stop_time(id, &wanted.stop);
    }
    if (!reply && !failed && wanted.periodic) {
        failed = srsn_yang_push_modify_periodic(id, milliseconds(wanted.periodic, "period"),
                                                wanted.has_anchor ? &wanted.anchor : NULL);
    }
    if (!reply && !failed && wanted.on_change) {
        const uint32_t dampening = milliseconds(wanted.on_change, "dampening-period");
        failed = srsn_yang_push_modify_on_change(id, dampening);
        subscription_set(session, id, dampening);
    }
    free_wanted(&wanted);
    if (failed) {
        reply = reply_error("invalid-value", "application",
                            "modify-subscription: %s; keep to the kind that it was established as",
                            sr_strerror(failed));
    }
    if (!reply) {
        notify_modified(session, id);
        reply = reply_ok();
    }
    return reply;
}

struct reply *delete_subscription(struct session *session, struct lyd_node *rpc) {
    uint32_t id = id_of(rpc);
    return subscription_end(session, id, NULL) ? reply_ok() : no_such("delete-subscription", id);
}

struct reply *kill_subscription(struct session *session, struct lyd_node *rpc) {
    uint32_t id = id_of(rpc);
    (void)session;
    return subscription_end(NULL, id, "ietf-subscribed-notifications:no-such-subscription")
               ? reply_ok()
               : no_such("kill-subscription", id);
}

struct reply *resync_subscription(struct session *session, struct lyd_node *rpc) {
    uint32_t id = id_of(rpc);
    if (!subscription_exists(session, id)) {
        return no_such("resync-subscription", id);
    }
    if (srsn_yang_push_on_change_resync(id)) {
        return reply_error("operation-failed", "application",
                           "resync-subscription: %u is no on-change subscription; name one that "
                           "is",
                           id);
    }
    return reply_ok();
}
