#include "clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "problem.h"
#include "request.h"

#define PENDING "/srv6mgr-srv6:srv6/srv6mgr-operations:transactions/pending"
#define OF_SESSION "netconf-session-"

static char *leaf(const struct lyd_node *tree, const char *name) {
    struct text path = {0};
    struct lyd_node *found = NULL;
    text_printf(&path, PENDING "/%s", name);
    LY_ERR failed = lyd_find_path(tree, path.bytes, 0, &found);
    text_free(&path);
    return failed ? NULL : must_copy(lyd_get_value(found));
}

/* All of it is done by the server itself: users need the right to commit, not that to the clock. */
void clock_read(struct pending *pending) {
    sr_session_ctx_t *sr = NULL;
    sr_data_t *data = NULL;
    *pending = (struct pending){0};
    int failed = sr_session_start(server.connection, SR_DS_OPERATIONAL, &sr);
    failed =
        failed ? failed : sr_get_data(sr, PENDING, 0, READ_TIMEOUT_MS, SR_OPER_NO_CONFIG, &data);
    if (!failed && data && data->tree) {
        pending->name = leaf(data->tree, "id");
        pending->door = leaf(data->tree, "origin");
        pending->user = leaf(data->tree, "user");
        pending->deadline = leaf(data->tree, "deadline");
    }
    sr_release_data(data);
    sr_session_stop(sr);
}

void clock_pending_free(struct pending *pending) {
    free(pending->name);
    free(pending->door);
    free(pending->user);
    free(pending->deadline);
    *pending = (struct pending){0};
}

static struct lyd_node *call_of(const struct ly_ctx *context, const char *rpc, const char *name,
                                uint32_t seconds, const char *new_name) {
    struct text path = {0};
    struct lyd_node *call = NULL;
    text_printf(&path, "/srv6mgr-operations:%s", rpc);
    if (!lyd_new_path(NULL, context, path.bytes, NULL, 0, &call)) {
        lyd_new_path(call, NULL, "id", name, 0, NULL);
        if (seconds) {
            char number[16];
            snprintf(number, sizeof number, "%u", seconds);
            lyd_new_path(call, NULL, "timeout", number, 0, NULL);
        }
        if (new_name) {
            lyd_new_path(call, NULL, "new-id", new_name, 0, NULL);
        }
    }
    text_free(&path);
    return call;
}

static struct reply *send_call(sr_session_ctx_t *sr, struct lyd_node *call) {
    sr_data_t *output = NULL;
    int failed = sr_rpc_send_tree(sr, call, COMMIT_TIMEOUT_MS, &output);
    sr_release_data(output);
    if (failed == SR_ERR_UNSUPPORTED) {
        return reply_error("operation-not-supported", "protocol",
                           "commit: srv6mgrd, which keeps its time, does not answer; start it");
    }
    return failed ? problem_of_sysrepo(sr) : NULL;
}

static struct reply *call(const char *rpc, const char *name, uint32_t seconds,
                          const char *new_name) {
    sr_session_ctx_t *sr = NULL;
    if (sr_session_start(server.connection, SR_DS_RUNNING, &sr)) {
        return reply_error("resource-denied", "protocol",
                           "commit: sysrepo has no session left; try again later");
    }
    const struct ly_ctx *context = sr_session_acquire_context(sr);
    struct lyd_node *tree = call_of(context, rpc, name, seconds, new_name);
    struct reply *reply =
        tree ? send_call(sr, tree) : problem_of_libyang(context, "protocol", NULL, NULL);
    lyd_free_all(tree);
    sr_session_release_context(sr);
    sr_session_stop(sr);
    return reply;
}

struct reply *clock_call(const char *rpc, const char *name, uint32_t seconds) {
    return call(rpc, name, seconds, NULL);
}

struct reply *clock_extend(const char *name, uint32_t seconds, const char *new_name) {
    return call("extend", name, seconds, new_name);
}

char *clock_name(const struct session *session) {
    return must_format(OF_SESSION "%u", session->id);
}

bool clock_is_of_session(const char *name) {
    return !strncmp(name, OF_SESSION, strlen(OF_SESSION));
}

/* Asked for a commit that there is not, the clock tells whether there is another. Were it there, it
 * would have been left by a former process, and has to end. */
bool clock_is_idle(const struct session *session) {
    char *name = clock_name(session);
    struct reply *reply = clock_extend(name, 1, NULL);
    const char *tag = reply ? reply->errors->tag : "";
    /* Without srv6mgrd nobody waits for anything. */
    bool idle = !strcmp(tag, "data-missing") || !strcmp(tag, "operation-not-supported");
    reply_free(reply);
    free(name);
    return idle;
}

static void undo(const char *name) {
    struct reply *reply = clock_call("cancel", name, 0);
    if (reply) {
        log_error("%s", reply->errors->message);
    } else {
        log_info("commit %s: undone with its session", name);
    }
    reply_free(reply);
}

void clock_session_ends(const struct session *session) {
    struct pending pending = {0};
    if (session->commit) {
        clock_read(&pending);
        if (pending.name && !strcmp(pending.name, session->commit)) {
            undo(session->commit);
        }
        clock_pending_free(&pending);
    }
}

void clock_forsake(void) {
    struct pending pending;
    clock_read(&pending);
    if (pending.name && clock_is_of_session(pending.name)) {
        undo(pending.name);
    }
    clock_pending_free(&pending);
}
