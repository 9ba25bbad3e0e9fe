#include "monitoring.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysrepo/subscribed_notifications.h>

#include "absence.h"
#include "events.h"
#include "log.h"
#include "operations.h"
#include "text.h"

#define STATE "/ietf-netconf-monitoring:netconf-state"
#define STREAMS5277 "/nc-notifications:netconf"
#define STREAMS8639 "/ietf-subscribed-notifications:streams"
#define SUBSCRIPTIONS "/ietf-subscribed-notifications:subscriptions"

static struct events *served;

static void put(struct lyd_node *parent, const char *path, const char *value) {
    if (lyd_new_path(parent, NULL, path, value, LYD_NEW_PATH_UPDATE, NULL)) {
        log_error("state: %s can't be reported", path);
    }
}

static void put_number(struct lyd_node *parent, const char *path, unsigned value) {
    char number[16];
    snprintf(number, sizeof number, "%u", value);
    put(parent, path, number);
}

static void put_time(struct lyd_node *parent, const char *path, const struct timespec *time) {
    char *text = NULL;
    if (!ly_time_ts2str(time, &text)) {
        put(parent, path, text);
    }
    free(text);
}

static void put_capabilities(struct lyd_node *state, const struct ly_ctx *context) {
    char **all = nc_server_get_cpblts_version(context, LYS_VERSION_1_0);
    for (char **at = all; at && *at; at++) {
        put(state, "capabilities/capability", *at);
        free(*at);
    }
    free(all);
}

struct holder {
    uint32_t session;
    struct timespec since;
};

static void find_holder(struct session *session, void *data) {
    if (session->has_lock) {
        *(struct holder *)data = (struct holder){session->id, session->locked};
    }
}

/* srv6mgrd has the lock on running, sysrepo the others. */
static bool holder_of(sr_datastore_t datastore, struct holder *holder) {
    int locked = 0;
    uint32_t id = 0;
    *holder = (struct holder){0};
    if (datastore == SR_DS_RUNNING) {
        sessions_visit(find_holder, holder);
        return holder->session;
    }
    sr_get_lock(server.connection, datastore, NULL, &locked, &id, &holder->since);
    holder->session = session_of_sysrepo(id);
    return locked;
}

static void put_locks(struct lyd_node *state) {
    static const struct {
        sr_datastore_t datastore;
        const char *name;
    } all[] = {
        {SR_DS_RUNNING, "running"}, {SR_DS_STARTUP, "startup"}, {SR_DS_CANDIDATE, "candidate"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct holder holder;
        char path[96];
        snprintf(path, sizeof path, "datastores/datastore[name='%s']", all[i].name);
        put(state, path, NULL);
        if (holder_of(all[i].datastore, &holder)) {
            snprintf(path, sizeof path,
                     "datastores/datastore[name='%s']/locks/global-lock/locked-by-session",
                     all[i].name);
            put_number(state, path, holder.session);
            snprintf(path, sizeof path,
                     "datastores/datastore[name='%s']/locks/global-lock/locked-time", all[i].name);
            put_time(state, path, &holder.since);
        }
    }
}

static void put_schema(struct lyd_node *state, const char *name, const char *revision,
                       const char *namespace) {
    static const char *const formats[] = {"yang", "yin"};
    for (size_t i = 0; i < 2; i++) {
        struct text path = {0};
        text_printf(&path, "schemas/schema[identifier='%s'][version='%s'][format='%s']", name,
                    revision ? revision : "", formats[i]);
        size_t length = path.length;
        text_puts(&path, "/namespace");
        put(state, path.bytes, namespace);
        path.length = length;
        text_puts(&path, "/location");
        put(state, path.bytes, "NETCONF");
        text_free(&path);
    }
}

static void put_schemas(struct lyd_node *state, const struct ly_ctx *context) {
    const struct lys_module *module;
    uint32_t index = 0;
    while ((module = ly_ctx_get_module_iter(context, &index))) {
        put_schema(state, module->name, module->revision, module->ns);
    }
}

static void put_session(struct session *session, void *data) {
    struct lyd_node *state = data;
    char path[64];
    snprintf(path, sizeof path, "sessions/session[session-id='%u']", session->id);
    struct lyd_node *entry = NULL;
    if (lyd_new_path(state, NULL, path, NULL, 0, &entry) || !entry) {
        return;
    }
    if (lyd_find_path(state, path, 0, &entry)) {
        return;
    }
    put(entry, "transport", session->transport);
    put(entry, "username", session->user);
    if (session->address) {
        put(entry, "source-host", session->address);
    }
    put_time(entry, "login-time", &session->start);
    put_number(entry, "in-rpcs", session->counts.in_rpcs);
    put_number(entry, "in-bad-rpcs", session->counts.in_bad_rpcs);
    put_number(entry, "out-rpc-errors", session->counts.out_rpc_errors);
    put_number(entry, "out-notifications", session->counts.out_notifications);
}

static void add_counts(struct session *session, void *data) {
    struct counts *total = data;
    total->in_rpcs += session->counts.in_rpcs;
    total->in_bad_rpcs += session->counts.in_bad_rpcs;
    total->out_rpc_errors += session->counts.out_rpc_errors;
    total->out_notifications += session->counts.out_notifications;
}

static void put_statistics(struct lyd_node *state) {
    struct counts total = {0};
    total.in_rpcs = server.counts.in_rpcs;
    total.in_bad_rpcs = server.counts.in_bad_rpcs;
    total.out_rpc_errors = server.counts.out_rpc_errors;
    total.out_notifications = server.counts.out_notifications;
    sessions_visit(add_counts, &total);
    put_time(state, "statistics/netconf-start-time", &server.start);
    put_number(state, "statistics/in-bad-hellos", server.in_bad_hellos);
    put_number(state, "statistics/in-sessions", server.in_sessions);
    put_number(state, "statistics/dropped-sessions", server.dropped_sessions);
    put_number(state, "statistics/in-rpcs", total.in_rpcs);
    put_number(state, "statistics/in-bad-rpcs", total.in_bad_rpcs);
    put_number(state, "statistics/out-rpc-errors", total.out_rpc_errors);
    put_number(state, "statistics/out-notifications", total.out_notifications);
}

static int netconf_state(sr_session_ctx_t *sr, uint32_t id, const char *module, const char *path,
                         const char *asked, uint32_t request, struct lyd_node **parent,
                         void *data) {
    struct lyd_node *state = NULL;
    (void)id, (void)module, (void)path, (void)asked, (void)request, (void)data;
    const struct ly_ctx *context = sr_session_acquire_context(sr);
    if (!lyd_new_path(NULL, context, STATE, NULL, 0, &state)) {
        put_capabilities(state, context);
        put_locks(state);
        put_schemas(state, context);
        sessions_visit(put_session, state);
        put_statistics(state);
    }
    sr_session_release_context(sr);
    *parent = state;
    return SR_ERR_OK;
}

bool monitoring_can_replay(const struct ly_ctx *context, const char *stream,
                           struct timespec *since) {
    const struct lys_module *module;
    uint32_t index = 0;
    while ((module = ly_ctx_get_module_iter(context, &index))) {
        struct timespec began = {0};
        int enabled = 0;
        const bool is_meant =
            !stream || !strcmp(stream, "NETCONF") || !strcmp(stream, module->name);
        if (is_meant && module->implemented && module->compiled->notifs &&
            !sr_get_module_replay_support(server.connection, module->name, &began, &enabled) &&
            enabled) {
            if (since) {
                *since = began;
            }
            return true;
        }
    }
    return false;
}

static int streams_5277(sr_session_ctx_t *sr, uint32_t id, const char *module, const char *path,
                        const char *asked, uint32_t request, struct lyd_node **parent, void *data) {
    (void)id, (void)module, (void)path, (void)asked, (void)request, (void)data;
    const struct ly_ctx *context = sr_session_acquire_context(sr);
    struct lyd_node *state = NULL;
    if (!lyd_new_path(NULL, context, STREAMS5277, NULL, 0, &state)) {
        put(state, "streams/stream[name='NETCONF']/description", "All notifications");
        struct timespec since = {0};
        bool replay = monitoring_can_replay(context, NULL, &since);
        put(state, "streams/stream[name='NETCONF']/replaySupport", replay ? "true" : "false");
        if (since.tv_sec) {
            put_time(state, "streams/stream[name='NETCONF']/replayLogCreationTime", &since);
        }
    }
    sr_session_release_context(sr);
    *parent = state;
    return SR_ERR_OK;
}

static int subscriptions(sr_session_ctx_t *sr, uint32_t id, const char *module, const char *path,
                         const char *asked, uint32_t request, struct lyd_node **parent,
                         void *data) {
    srsn_state_sub_t *all = NULL;
    uint32_t count = 0;
    struct lyd_node *state = NULL;
    (void)id, (void)module, (void)path, (void)asked, (void)request, (void)data;
    const struct ly_ctx *context = sr_session_acquire_context(sr);
    srsn_oper_data_subscriptions(&all, &count);
    if (!lyd_new_path(NULL, context, SUBSCRIPTIONS, NULL, 0, &state)) {
        for (uint32_t i = 0; i < count; i++) {
            char entry[64];
            snprintf(entry, sizeof entry, "subscription[id='%u']", all[i].sub_id);
            put(state, entry, NULL);
            snprintf(entry, sizeof entry, "subscription[id='%u']/stream", all[i].sub_id);
            if (all[i].type == SRSN_SUB_NOTIF) {
                put(state, entry, all[i].sub_notif.stream);
            }
            snprintf(entry, sizeof entry,
                     "subscription[id='%u']/receivers/receiver[name='NETCONF']", all[i].sub_id);
            struct text leaf = {0};
            text_printf(&leaf, "%s/sent-event-records", entry);
            put_number(state, leaf.bytes, all[i].sent_count);
            text_free(&leaf);
            text_printf(&leaf, "%s/excluded-event-records", entry);
            put_number(state, leaf.bytes, all[i].excluded_count);
            text_free(&leaf);
            text_printf(&leaf, "%s/state", entry);
            put(state, leaf.bytes, all[i].suspended ? "suspended" : "active");
            text_free(&leaf);
        }
    }
    srsn_oper_data_subscriptions_free(all, count);
    sr_session_release_context(sr);
    *parent = state;
    return SR_ERR_OK;
}

int monitoring_start(void) {
    static const struct {
        const char *module, *path;
        sr_oper_get_items_cb answer;
    } all[] = {
        {"ietf-netconf-monitoring", STATE, netconf_state},
        {"nc-notifications", STREAMS5277, streams_5277},
        {"ietf-subscribed-notifications", STREAMS8639, srsn_oper_data_streams_cb},
        {"ietf-subscribed-notifications", SUBSCRIPTIONS, subscriptions},
    };
    sr_subscription_ctx_t *made = NULL;
    served = events_start("state");
    if (!served) {
        return -1;
    }
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        int failed = sr_oper_get_subscribe(server.own, all[i].module, all[i].path, all[i].answer,
                                           NULL, SR_SUBSCR_NO_THREAD, &made);
        if (failed) {
            log_error("state below %s can't be served: %s; see that no other server does it",
                      all[i].path, sr_strerror(failed));
            return -1;
        }
    }
    int failed = absence_start(server.own, &made);
    if (failed) {
        log_error("state while srv6mgrd does not run can't be served: %s", sr_strerror(failed));
    }
    events_follow(served, made);
    return 0;
}

void monitoring_stop(void) {
    events_stop(served);
    served = NULL;
}

struct reply *get_schema(struct session *session, struct lyd_node *rpc) {
    const char *name = NULL, *revision = NULL, *format = NULL;
    struct lyd_node *output = NULL;
    struct ly_out *out;
    char *source = NULL;
    const struct lyd_node *child;
    LY_LIST_FOR(lyd_child(rpc), child) {
        const char *value = lyd_get_value(child);
        if (!strcmp(LYD_NAME(child), "identifier")) {
            name = value;
        } else if (!strcmp(LYD_NAME(child), "version") && *value) {
            revision = value;
        } else if (!strcmp(LYD_NAME(child), "format")) {
            format = strchr(value, ':') ? strchr(value, ':') + 1 : value;
        }
    }
    const struct lys_module *module = revision
                                          ? ly_ctx_get_module(session->context, name, revision)
                                          : ly_ctx_get_module_implemented(session->context, name);
    module = module || revision ? module : ly_ctx_get_module_latest(session->context, name);
    if (!module) {
        return reply_error("invalid-value", "application",
                           "get-schema: there is no module %s%s%s; see netconf-state/schemas", name,
                           revision ? " of revision " : "", revision ? revision : "");
    }
    if (format && strcmp(format, "yang") != 0 && strcmp(format, "yin") != 0) {
        return reply_error("invalid-value", "application",
                           "get-schema: format %s is not offered; ask for yang or yin", format);
    }
    bool yin = format && !strcmp(format, "yin");
    if (ly_out_new_memory(&source, 0, &out)) {
        return reply_error("resource-denied", "application", "get-schema: out of memory");
    }
    lys_print_module(out, module, yin ? LYS_OUT_YIN : LYS_OUT_YANG, 0, 0);
    ly_out_free(out, NULL, 0);
    if (lyd_dup_single(rpc, NULL, 0, &output) ||
        lyd_new_any(output, NULL, "data", source, LYD_ANYDATA_STRING,
                    LYD_NEW_ANY_USE_VALUE | LYD_NEW_VAL_OUTPUT, NULL)) {
        free(source);
        lyd_free_all(output);
        return reply_error("operation-failed", "application", "get-schema: it can't be printed");
    }
    return reply_data(output, LYD_PRINT_WD_EXPLICIT);
}
