/* commit and cancel-commit, RFC 6241 sections 8.3 and 8.4. */
#include <stdlib.h>
#include <string.h>

#include "candidate.h"
#include "confirmed.h"
#include "operations.h"
#include "problem.h"
#include "request.h"
#include "running.h"

#define OURS "srv6mgr-srv6"
#define LONGEST_TIMEOUT 86400 /* of srv6mgrd's clock, seconds */
#define LONGEST_NAME 255

/* The request, and its relation to the commit that awaits confirmation. */
struct wanted {
    bool confirmed;
    uint32_t seconds;
    const char *persist, *persist_id;
    struct pending pending;
    const char *token; /* of the pending commit; NULL: it is not the session's, nor persist-id's */
};

static struct reply *reject(const char *tag, const char *element, const char *text) {
    struct reply *reply = reply_error(tag, "protocol", "%s: %s", element, text);
    reply->errors->bad_element = must_copy(element);
    return reply;
}

static struct reply *check_name(const char *element, const char *name) {
    if (!*name || strlen(name) > LONGEST_NAME) {
        return reject("invalid-value", element, "it has not 1 to 255 characters; choose another");
    }
    return NULL;
}

static struct reply *read_wanted(struct session *session, const struct lyd_node *rpc,
                                 struct wanted *wanted) {
    const char *timeout = request_value(rpc, "confirm-timeout");
    unsigned long seconds = timeout ? strtoul(timeout, NULL, 10) : 600;
    wanted->confirmed = request_child(rpc, "confirmed") != NULL;
    wanted->persist = request_value(rpc, "persist");
    wanted->persist_id = request_value(rpc, "persist-id");
    wanted->seconds = (uint32_t)seconds;
    if (seconds > LONGEST_TIMEOUT) {
        return reject("invalid-value", "confirm-timeout", "it is above 86400; choose 1 to 86400");
    }
    struct reply *reply = wanted->persist ? check_name("persist", wanted->persist) : NULL;
    if (!reply && wanted->persist_id) {
        reply = check_name("persist-id", wanted->persist_id);
    }
    confirmed_read(&wanted->pending);
    if (!reply && wanted->pending.name && wanted->persist_id) {
        wanted->token = confirmed_is_of_token(wanted->persist_id) ? wanted->persist_id : NULL;
    } else if (confirmed_is_of_session(&wanted->pending, session)) {
        wanted->token = session->commit;
    }
    return reply;
}

static struct reply *not_ours(const struct wanted *wanted) {
    const struct pending *pending = &wanted->pending;
    if (!pending->name) {
        return reject("invalid-value", "persist-id",
                      "no commit awaits confirmation; it may be undone already");
    }
    if (wanted->persist_id) {
        return reject("invalid-value", "persist-id",
                      "it is another commit that awaits confirmation; check its id");
    }
    return confirmed_in_use(pending);
}

/* The candidate becomes the running configuration, as part of that commit. */
static struct reply *carry_over(struct session *session, const char *name) {
    int locked = 0;
    uint32_t holder = 0;
    sr_get_lock(server.connection, SR_DS_CANDIDATE, NULL, &locked, &holder, NULL);
    if (locked && holder != sr_session_get_id(session->sr)) {
        return reply_error("in-use", "protocol",
                           "candidate: session %u holds the lock; try again when it is unlocked",
                           session_of_sysrepo(holder));
    }
    char *base = candidate_base();
    struct reply *reply = running_copy(session, "candidate", base, name);
    free(base);
    if (!reply) {
        sr_session_switch_ds(session->sr, SR_DS_CANDIDATE);
        sr_copy_config(session->sr, NULL, SR_DS_RUNNING, COMMIT_TIMEOUT_MS);
        candidate_end();
    }
    return reply;
}

/* NULL: what the module has in the datastore can't be read. */
static sr_data_t *content(struct session *session, sr_datastore_t datastore, const char *module) {
    sr_data_t *data = NULL;
    struct text path = {0};
    text_printf(&path, "/%s:*", module);
    sr_session_switch_ds(session->sr, datastore);
    sr_get_data(session->sr, path.bytes, 0, READ_TIMEOUT_MS, 0, &data);
    text_free(&path);
    return data;
}

/* The clock undoes what belongs to our modules, which all hang below one container. */
static struct reply *check_others(struct session *session) {
    const struct lys_module *module;
    uint32_t index = 0;
    while ((module = ly_ctx_get_module_iter(session->context, &index))) {
        if (!module->implemented || !strcmp(module->name, OURS) || !module->compiled->data) {
            continue;
        }
        sr_data_t *now = content(session, SR_DS_RUNNING, module->name);
        sr_data_t *then = content(session, SR_DS_CANDIDATE, module->name);
        LY_ERR differs = lyd_compare_siblings(now ? now->tree : NULL, then ? then->tree : NULL,
                                              LYD_COMPARE_FULL_RECURSION);
        sr_release_data(now);
        sr_release_data(then);
        if (differs) {
            return reply_error("operation-not-supported", "protocol",
                               "module %s: a commit to be confirmed covers srv6mgr's modules only; "
                               "commit the change of this one without confirmed",
                               module->name);
        }
    }
    return NULL;
}

static struct reply *begin(struct session *session, const struct wanted *wanted) {
    struct reply *reply = check_others(session);
    if (reply) {
        return reply;
    }
    char *token = wanted->persist ? must_copy(wanted->persist) : confirmed_token();
    char *name = wanted->persist ? NULL : confirmed_name(session);
    reply = confirmed_begin(token, name, wanted->seconds);
    free(name);
    if (reply) {
        free(token);
        return reply;
    }
    reply = carry_over(session, token);
    if (reply) {
        reply_free(confirmed_call("cancel", token));
    }
    if (reply || wanted->persist) {
        free(token);
        return reply;
    }
    free(session->commit);
    session->commit = token;
    return NULL;
}

/* With persist that is its token from now on, and it does not end with its session. */
static struct reply *prolong(struct session *session, const struct wanted *wanted) {
    struct reply *reply = confirmed_extend(wanted->token, wanted->seconds, wanted->persist);
    if (!reply && wanted->persist && session->commit) {
        free(session->commit);
        session->commit = NULL;
    }
    return reply;
}

static struct reply *go_on(struct session *session, const struct wanted *wanted) {
    struct reply *reply = wanted->confirmed ? check_others(session) : NULL;
    reply = reply ? reply : carry_over(session, wanted->token);
    if (reply) {
        return reply;
    }
    return wanted->confirmed ? prolong(session, wanted) : confirmed_call("confirm", wanted->token);
}

struct reply *commit(struct session *session, struct lyd_node *rpc) {
    struct wanted wanted = {0};
    struct reply *reply = read_wanted(session, rpc, &wanted);
    if (!reply && wanted.token) {
        reply = go_on(session, &wanted);
    } else if (!reply && (wanted.pending.name || wanted.persist_id)) {
        reply = not_ours(&wanted);
    } else if (!reply && wanted.confirmed) {
        reply = begin(session, &wanted);
    } else if (!reply) {
        reply = carry_over(session, "");
    }
    confirmed_pending_free(&wanted.pending);
    return reply ? reply : reply_ok();
}

struct reply *cancel_commit(struct session *session, struct lyd_node *rpc) {
    struct wanted wanted = {0};
    struct reply *reply = read_wanted(session, rpc, &wanted);
    if (!reply && wanted.token) {
        reply = confirmed_call("cancel", wanted.token);
    } else if (!reply && !wanted.pending.name) {
        reply = reply_error("operation-failed", "protocol",
                            "cancel-commit: no commit awaits confirmation; it may be undone "
                            "already");
    } else if (!reply) {
        reply = not_ours(&wanted);
    }
    confirmed_pending_free(&wanted.pending);
    return reply ? reply : reply_ok();
}
