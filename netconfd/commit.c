/* commit and cancel-commit, RFC 6241 sections 8.3 and 8.4. */
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "operations.h"
#include "problem.h"
#include "request.h"

#define OURS "srv6mgr-srv6"
#define LONGEST_TIMEOUT 86400 /* of srv6mgrd's clock, seconds */
#define LONGEST_NAME 255

/* What is asked for, and how it stands to the commit that awaits confirmation. */
struct wanted {
    bool confirmed;
    uint32_t seconds;
    const char *persist, *persist_id;
    struct pending pending;
    bool ours; /* the pending commit is the session's, or persist-id names it */
};

static struct reply *refuse(const char *tag, const char *element, const char *text) {
    struct reply *reply = reply_error(tag, "protocol", "%s: %s", element, text);
    reply->errors->bad_element = must_copy(element);
    return reply;
}

static struct reply *check_name(const char *element, const char *name) {
    if (!*name || strlen(name) > LONGEST_NAME) {
        return refuse("invalid-value", element, "it has not 1 to 255 characters; choose another");
    }
    if (clock_is_of_session(name)) {
        return refuse("invalid-value", element, "such names are those of sessions; choose another");
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
        return refuse("invalid-value", "confirm-timeout", "it is above 86400; choose 1 to 86400");
    }
    struct reply *reply = wanted->persist ? check_name("persist", wanted->persist) : NULL;
    if (!reply && wanted->persist_id) {
        reply = check_name("persist-id", wanted->persist_id);
    }
    if (session->commit || !clock_is_idle(session)) {
        clock_read(&wanted->pending);
    }
    const char *name = wanted->persist_id ? wanted->persist_id : session->commit;
    wanted->ours = name && wanted->pending.name && !strcmp(name, wanted->pending.name);
    return reply;
}

/* In the words of srv6mgrd/datastore/clock.py. */
static struct reply *not_ours(const struct wanted *wanted) {
    const struct pending *pending = &wanted->pending;
    if (!pending->name) {
        return refuse("invalid-value", "persist-id",
                      "no commit awaits confirmation; it may be undone already");
    }
    if (wanted->persist_id) {
        return refuse("invalid-value", "persist-id",
                      "it is another commit that awaits confirmation; check its id");
    }
    return reply_error("in-use", "protocol",
                       "commit %s: it came through %s%s%s and awaits confirmation until %s; wait "
                       "for it, confirm it or cancel it",
                       pending->name, pending->door ? pending->door : "another door",
                       pending->user ? " of " : "", pending->user ? pending->user : "",
                       pending->deadline ? pending->deadline : "its time is over");
}

/* The candidate becomes the running configuration, as part of that commit. */
static struct reply *carry_over(struct session *session, const char *name) {
    sr_session_switch_ds(session->sr, SR_DS_RUNNING);
    session_set_origin(session, session->sr, name);
    int failed = sr_copy_config(session->sr, NULL, SR_DS_CANDIDATE, COMMIT_TIMEOUT_MS);
    struct reply *reply = failed ? problem_of_sysrepo(session->sr) : NULL;
    session_set_origin(session, session->sr, "");
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
    char *name = wanted->persist ? must_copy(wanted->persist) : clock_name(session);
    reply = clock_call("commit", name, wanted->seconds);
    if (reply) {
        free(name);
        return reply;
    }
    reply = carry_over(session, name);
    if (reply) {
        reply_free(clock_call("cancel", name, 0));
    }
    if (reply || wanted->persist) {
        free(name);
        return reply;
    }
    free(session->commit);
    session->commit = name;
    return NULL;
}

/* With another persist it is called that from now on, and then does not end with its session. */
static struct reply *prolong(struct session *session, const struct wanted *wanted) {
    struct reply *reply = clock_extend(wanted->pending.name, wanted->seconds, wanted->persist);
    if (!reply && wanted->persist && session->commit) {
        free(session->commit);
        session->commit = NULL;
    }
    return reply;
}

static struct reply *go_on(struct session *session, const struct wanted *wanted) {
    const char *name = wanted->pending.name;
    struct reply *reply = wanted->confirmed ? check_others(session) : NULL;
    reply = reply ? reply : carry_over(session, name);
    if (reply) {
        return reply;
    }
    return wanted->confirmed ? prolong(session, wanted) : clock_call("confirm", name, 0);
}

struct reply *commit(struct session *session, struct lyd_node *rpc) {
    struct wanted wanted = {0};
    struct reply *reply = read_wanted(session, rpc, &wanted);
    if (!reply && wanted.ours) {
        reply = go_on(session, &wanted);
    } else if (!reply && (wanted.pending.name || wanted.persist_id)) {
        reply = not_ours(&wanted);
    } else if (!reply && wanted.confirmed) {
        reply = begin(session, &wanted);
    } else if (!reply) {
        reply = carry_over(session, "");
    }
    clock_pending_free(&wanted.pending);
    return reply ? reply : reply_ok();
}

struct reply *cancel_commit(struct session *session, struct lyd_node *rpc) {
    struct wanted wanted = {0};
    struct reply *reply = read_wanted(session, rpc, &wanted);
    if (!reply && wanted.ours) {
        reply = clock_call("cancel", wanted.pending.name, 0);
    } else if (!reply && !wanted.pending.name) {
        reply = reply_error("operation-failed", "protocol",
                            "cancel-commit: no commit awaits confirmation; it may be undone "
                            "already");
    } else if (!reply) {
        reply = not_ours(&wanted);
    }
    clock_pending_free(&wanted.pending);
    return reply ? reply : reply_ok();
}
