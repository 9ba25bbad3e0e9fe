#include "rpc.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sysrepo/netconf_acm.h>

#include "attributes.h"
#include "name_service.h"
#include "operations.h"
#include "problem.h"
#include "request.h"
#include "rights.h"
#include "shm.h"
#include "turns.h"

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

/* Those that hold others up or end their commit are for who may write something. */
static operation *const of_writers[] = {lock_datastore, commit, cancel_commit, discard_changes};

/* Those that compute long for who may only read. */
static operation *const of_readers[] = {get, get_config, get_data, get_schema, validate};

static operation *find(const struct lyd_node *rpc) {
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (rpc->schema->nodetype == LYS_RPC && !strcmp(rpc->schema->name, table[i].name) &&
            !strcmp(rpc->schema->module->name, table[i].module)) {
            return table[i].carry_out;
        }
    }
    return forward;
}

static bool is_among(operation *call, operation *const *some, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (some[i] == call) {
            return true;
        }
    }
    return false;
}

static bool is_of_writers(operation *call) {
    return is_among(call, of_writers, sizeof of_writers / sizeof *of_writers);
}

static bool is_of_readers(operation *call) {
    return is_among(call, of_readers, sizeof of_readers / sizeof *of_readers);
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

static bool same_text(const char *one, const char *other) {
    return !strcmp(one ? one : "", other ? other : "");
}

/* Whether one before it is the same, or, with_prefix, has the same prefix. */
static bool is_repeated(const struct lyd_attr *first, const struct lyd_attr *attr,
                        bool with_prefix) {
    for (; first != attr; first = first->next) {
        if (with_prefix ? same_text(first->name.prefix, attr->name.prefix)
                        : !strcmp(first->name.name, attr->name.name) &&
                              same_text(first->name.module_ns, attr->name.module_ns)) {
            return true;
        }
    }
    return false;
}

/* RFC 6241 section 4.2: the reply has all attributes of the rpc; each once, whatever that had. */
static char *attributes_of(const struct lyd_node *envelope, bool *has_id) {
    struct text text = {0};
    const struct lyd_attr *attr;
    *has_id = false;
    if (envelope && !envelope->schema) {
        const struct lyd_attr *first = ((const struct lyd_node_opaq *)envelope)->attr;
        LY_LIST_FOR(first, attr) {
            const char *prefix = attr->name.prefix;
            const char *namespace = attr->name.module_ns;
            *has_id = *has_id || (!prefix && !strcmp(attr->name.name, "message-id"));
            if (is_repeated(first, attr, false)) {
                continue;
            }
            if (prefix && namespace && !is_repeated(first, attr, true)) {
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
    if (call != close_session && !name_service_learn(session->user)) {
        return reply_error("operation-failed", "application",
                           "user %s: groups: no answer within %d s; try again, or see that what "
                           "nsswitch.conf names for users and groups answers",
                           session->user, NAME_SERVICE_SECONDS);
    }
    /* RFC 8341 section 3.4.4: close-session is always permitted */
    if (call != close_session && sr_nacm_check_operation(session->sr, rpc)) {
        return problem_of_sysrepo(session->sr);
    }
    struct reply *reply = call != close_session ? shm_lacks_room() : NULL;
    reply = !reply && is_of_writers(call) ? rights_to_write(session) : reply;
    return reply ? reply : call(session, rpc);
}

/* The element in <rpc>, for errors without a path. */
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

static void print(struct session *session, const struct reply *reply, const char *attributes,
                  struct text *text) {
    reply_print(reply, attributes, session->context, text);
    for (const struct error *error = reply->errors; error; error = error->next) {
        session->counts.out_rpc_errors++;
    }
}

static int answer(struct session *session, const struct reply *reply, const char *attributes) {
    struct text text = {0};
    print(session, reply, attributes, &text);
    int failed = wire_write(&session->wire, &text);
    text_free(&text);
    return failed;
}

/* What libyang must not read: it would take long. */
static int reject_unread(struct session *session, const char *message, struct reply *reply) {
    char *id = attributes_message_id(message);
    char *attributes = *id ? must_format(" message-id=\"%s\"", id) : must_copy("");
    int failed = answer(session, reply, attributes);
    session->counts.in_bad_rpcs++;
    reply_free(reply);
    free(attributes);
    free(id);
    return failed;
}

/* The reply to what was understood; NULL: its client left, or reads nothing. */
static struct reply *reply_to(struct session *session, struct lyd_node *rpc) {
    session->counts.in_rpcs++;
    if (is_of_readers(find(rpc)) && !turns_take(session)) {
        return NULL;
    }
    return in_turn(session, rpc, carry_out);
}

int rpc_handle(struct session *session, const struct text *message) {
    struct lyd_node *envelope = NULL, *rpc = NULL;
    struct text text = {0};
    struct ly_in *in;
    const char *bytes = message->bytes ? message->bytes : "";
    bool has_id;
    struct reply *reply = attributes_check(session->context, bytes);
    if (reply && !strcmp(reply->errors->tag, "too-big")) {
        return reject_unread(session, bytes, reply);
    }
    if (ly_in_new_memory(bytes, &in)) {
        reply_free(reply);
        return -1;
    }
    ly_err_clean((struct ly_ctx *)session->context, NULL);
    LY_ERR failed =
        lyd_parse_op(session->context, NULL, in, LYD_XML, LYD_TYPE_RPC_NETCONF, &envelope, &rpc);
    ly_in_free(in, 0);
    char *attributes = attributes_of(envelope, &has_id);
    if (!reply && (failed || !rpc)) {
        reply = not_understood(session, envelope);
    } else if (!reply && !has_id) {
        reply = reply_error("missing-attribute", "rpc", "rpc: message-id is missing; add it");
        reply->errors->bad_attribute = must_copy("message-id");
        reply->errors->bad_element = must_copy("rpc");
    }
    if (reply || !rpc) {
        session->counts.in_bad_rpcs++;
    } else {
        reply = reply_to(session, rpc);
    }
    const bool lost = !reply || (!envelope && !session->wire.chunked); /* 1.0 knows no answer */
    if (!lost) {
        print(session, reply, attributes, &text);
    }
    /* The text alone waits for who reads slowly. */
    reply_free(reply);
    free(attributes);
    lyd_free_all(rpc);
    lyd_free_all(envelope);
    turns_give_back();
    const bool ends = lost || wire_write(&session->wire, &text) || session->closing;
    text_free(&text);
    return ends ? -1 : 0;
}

void rpc_reject_frame(struct session *session, enum frame_status status) {
    struct reply *reply =
        status == FRAME_TOO_BIG
            ? reply_error("too-big", "transport",
                          "message: it is longer than %zu bytes, or, of a user who may write "
                          "nothing, than %u; split it",
                          session->wire.limit, WIRE_SHORT)
            : reply_error("malformed-message", "rpc",
                          "message: its framing is broken; see RFC 6242 section 4.2");
    session->counts.in_bad_rpcs++;
    answer(session, reply, "");
    reply_free(reply);
}
