#include "rpc.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sysrepo/netconf_acm.h>

#include "operations.h"
#include "problem.h"
#include "request.h"

struct entry {
    const char *module;
    const char *name;
    operation *carry_out;
};

static const struct entry table[] = {
    {"ietf-netconf", "get", get},
    {"ietf-netconf", "get-config", get_config},
    {"ietf-netconf", "edit-config", edit_config},
    {"ietf-netconf", "copy-config", copy_config},
    {"ietf-netconf", "delete-config", delete_config},
    {"ietf-netconf", "lock", lock_datastore},
    {"ietf-netconf", "unlock", unlock_datastore},
    {"ietf-netconf", "commit", commit},
    {"ietf-netconf", "cancel-commit", cancel_commit},
    {"ietf-netconf", "discard-changes", discard_changes},
    {"ietf-netconf", "validate", validate},
    {"ietf-netconf", "close-session", close_session},
    {"ietf-netconf", "kill-session", kill_session},
    {"ietf-netconf-monitoring", "get-schema", get_schema},
    {"ietf-netconf-nmda", "get-data", get_data},
    {"ietf-netconf-nmda", "edit-data", edit_data},
    {"notifications", "create-subscription", create_subscription},
    {"ietf-subscribed-notifications", "establish-subscription", establish_subscription},
    {"ietf-subscribed-notifications", "modify-subscription", modify_subscription},
    {"ietf-subscribed-notifications", "delete-subscription", delete_subscription},
    {"ietf-subscribed-notifications", "kill-subscription", kill_subscription},
    {"ietf-yang-push", "resync-subscription", resync_subscription},
};

static operation *find(const struct lyd_node *rpc) {
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (rpc->schema->nodetype == LYS_RPC && !strcmp(rpc->schema->name, table[i].name) &&
            !strcmp(rpc->schema->module->name, table[i].module)) {
            return table[i].carry_out;
        }
    }
    return forward;
}

struct reply *close_session(struct session *session, struct lyd_node *rpc) {
    (void)rpc;
    session->closing = true;
    session->end = "closed";
    return reply_ok();
}

struct reply *kill_session(struct session *session, struct lyd_node *rpc) {
    const char *given = request_value(rpc, "session-id");
    uint32_t id = given ? (uint32_t)strtoul(given, NULL, 10) : 0;
    if (id == session->id) {
        return reply_error("invalid-value", "protocol",
                           "kill-session: %u is this session; use close-session", id);
    }
    if (!session_kill(id, session->id)) {
        return reply_error("invalid-value", "protocol",
                           "kill-session: there is no session %u; see netconf-state for those "
                           "there are",
                           id);
    }
    return reply_ok();
}

/* So many RPCs at a time: each holds locks of sysrepo's, and a process may hold one 255 times. */
#define MOST_AT_A_TIME 100

static sem_t turns;

static void prepare_turns(void) {
    sem_init(&turns, 0, MOST_AT_A_TIME);
}

static struct reply *in_turn(struct session *session, struct lyd_node *rpc, operation *call) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, prepare_turns);
    while (sem_wait(&turns)) {
    }
    struct reply *reply = call(session, rpc);
    sem_post(&turns);
    return reply;
}

/* RFC 6241 section 4.2: the reply has all attributes of the rpc. */
static char *attributes_of(const struct lyd_node *envelope, bool *has_id) {
    struct text text = {0};
    const struct lyd_attr *attr;
    *has_id = false;
    if (envelope && !envelope->schema) {
        LY_LIST_FOR(((const struct lyd_node_opaq *)envelope)->attr, attr) {
            const char *prefix = attr->name.prefix;
            const char *namespace = attr->name.module_ns;
            *has_id = *has_id || (!prefix && !strcmp(attr->name.name, "message-id"));
            if (prefix && namespace) {
                text_printf(&text, " xmlns:%s=\"", prefix);
                text_put_xml(&text, namespace);
                text_puts(&text, "\"");
            }
            text_printf(&text, " %s%s%s=\"", prefix ? prefix : "", prefix ? ":" : "",
                        attr->name.name);
            text_put_xml(&text, attr->value);
            text_puts(&text, "\"");
        }
    }
    return text.bytes ? text.bytes : must_copy("");
}

static struct reply *carry_out(struct session *session, struct lyd_node *rpc) {
    operation *call = find(rpc);
    /* Those of others sysrepo judges, which has the data that they refer to. */
    if (call != forward) {
        ly_err_clean((struct ly_ctx *)session->context, NULL);
        if (lyd_validate_op(rpc, NULL, LYD_TYPE_RPC_YANG, NULL)) {
            return problem_of_libyang(session->context, "protocol", NULL, NULL);
        }
    }
    /* RFC 8341 section 3.4.4: close-session is always permitted */
    if (call != close_session && sr_nacm_check_operation(session->sr, rpc)) {
        return problem_of_sysrepo(session->sr);
    }
    return call(session, rpc);
}

/* The element that stands in <rpc>, for errors that tell no path. */
static const char *operation_name(const struct lyd_node *envelope) {
    const struct lyd_node *child = envelope ? lyd_child(envelope) : NULL;
    return child ? LYD_NAME(child) : NULL;
}

static struct reply *not_understood(struct session *session, const struct lyd_node *envelope) {
    if (!envelope) {
        ly_err_clean((struct ly_ctx *)session->context, NULL);
        return reply_error("malformed-message", "rpc",
                           "message: it is no well-formed <rpc>; correct it and send it again");
    }
    return problem_of_libyang(session->context, "protocol", NULL, operation_name(envelope));
}

static int answer(struct session *session, const struct reply *reply, const char *attributes) {
    struct text text = {0};
    reply_print(reply, attributes, session->context, &text);
    for (const struct error *error = reply->errors; error; error = error->next) {
        session->counts.out_rpc_errors++;
    }
    int failed = wire_write(&session->wire, &text);
    text_free(&text);
    return failed;
}

int rpc_handle(struct session *session, const struct text *message) {
    struct lyd_node *envelope = NULL, *rpc = NULL;
    struct ly_in *in;
    struct reply *reply;
    bool has_id;
    if (ly_in_new_memory(message->bytes ? message->bytes : "", &in)) {
        return -1;
    }
    ly_err_clean((struct ly_ctx *)session->context, NULL);
    LY_ERR failed =
        lyd_parse_op(session->context, NULL, in, LYD_XML, LYD_TYPE_RPC_NETCONF, &envelope, &rpc);
    ly_in_free(in, 0);
    char *attributes = attributes_of(envelope, &has_id);
    if (failed || !rpc) {
        session->counts.in_bad_rpcs++;
        reply = not_understood(session, envelope);
    } else if (!has_id) {
        session->counts.in_bad_rpcs++;
        reply = reply_error("missing-attribute", "rpc", "rpc: message-id is missing; add it");
        reply->errors->bad_attribute = must_copy("message-id");
        reply->errors->bad_element = must_copy("rpc");
    } else {
        session->counts.in_rpcs++;
        reply = in_turn(session, rpc, carry_out);
    }
    bool lost = !envelope && !session->wire.chunked; /* 1.0 knows no answer to that */
    failed = lost || answer(session, reply, attributes) || session->closing;
    reply_free(reply);
    free(attributes);
    lyd_free_all(rpc);
    lyd_free_all(envelope);
    return failed ? -1 : 0;
}

void rpc_refuse_frame(struct session *session, enum frame_status status) {
    struct reply *reply =
        status == FRAME_TOO_BIG
            ? reply_error("too-big", "transport", "message: it is longer than %zu bytes; split it",
                          session->wire.limit)
            : reply_error("malformed-message", "rpc",
                          "message: its framing is broken; see RFC 6242 section 4.2");
    session->counts.in_bad_rpcs++;
    answer(session, reply, "");
    reply_free(reply);
}
