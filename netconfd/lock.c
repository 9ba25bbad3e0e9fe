/* lock and unlock of a datastore, RFC 6241 sections 7.5 and 7.6. */
#include <stdlib.h>
#include <string.h>

#include "commits.h"
#include "confirmed.h"
#include "operations.h"
#include "problem.h"
#include "request.h"

static struct reply *denied(sr_datastore_t datastore) {
    int locked = 0;
    uint32_t holder = 0;
    sr_get_lock(server.connection, datastore, NULL, &locked, &holder, NULL);
    uint32_t id = locked ? session_of_sysrepo(holder) : 0;
    struct reply *reply =
        id ? reply_error("lock-denied", "protocol",
                         "lock: session %u holds it; try again when it is unlocked", id)
           : reply_error("lock-denied", "protocol",
                         "lock: another program holds it, in whole or in part; try again when it "
                         "is unlocked");
    reply->errors->with_session = true;
    reply->errors->session = id; /* 0: not a NETCONF session */
    return reply;
}

/* RFC 6241 section 7.5: another session has an ongoing confirmed commit. */
static struct reply *check_pending(const struct session *session) {
    struct pending pending;
    confirmed_read(&pending);
    const bool is_own = confirmed_is_of_session(&pending, session);
    struct reply *reply = pending.name && !is_own ? confirmed_in_use(&pending) : NULL;
    confirmed_pending_free(&pending);
    return reply;
}

/* The holder, as srv6mgrd names it; its number when it is a session of this server. */
static struct reply *lock_running(struct session *session) {
    struct text answer = {0};
    struct reply *reply = commits_lock(session, &answer);
    const char *holder = reply ? commits_field(&answer, "holder", NULL) : NULL;
    if (holder) {
        size_t length = 0;
        const char *northbound = commits_field(&answer, "holder-northbound", &length);
        const bool is_here =
            northbound && length == strlen(NORTHBOUND) && !memcmp(northbound, NORTHBOUND, length);
        reply->errors->tag = "lock-denied";
        reply->errors->with_session = true;
        reply->errors->session = is_here ? (uint32_t)strtoul(holder, NULL, 10) : 0;
    }
    text_free(&answer);
    return reply ? reply : reply_ok();
}

struct reply *lock_datastore(struct session *session, struct lyd_node *rpc) {
    sr_datastore_t target;
    struct reply *reply = request_datastore(rpc, "target", &target, NULL);
    if (!reply && target == SR_DS_RUNNING) {
        reply = check_pending(session);
    }
    if (reply) {
        return reply;
    }
    if (target == SR_DS_RUNNING) {
        return lock_running(session);
    }
    sr_session_switch_ds(session->sr, target);
    switch (sr_lock(session->sr, NULL, 0)) {
    case SR_ERR_OK:
        return reply_ok();
    case SR_ERR_LOCKED:
        return denied(target);
    case SR_ERR_UNSUPPORTED:
        /* RFC 6241 section 7.5 */
        return reply_error("in-use", "protocol",
                           "candidate: it holds changes; commit or discard them first");
    default:
        return problem_of_sysrepo(session->sr);
    }
}

struct reply *unlock_datastore(struct session *session, struct lyd_node *rpc) {
    sr_datastore_t target;
    struct reply *reply = request_datastore(rpc, "target", &target, NULL);
    if (reply) {
        return reply;
    }
    sr_session_switch_ds(session->sr, target);
    if (target == SR_DS_RUNNING ? !session->has_lock : sr_unlock(session->sr, NULL) != 0) {
        return reply_error("operation-failed", "protocol",
                           "unlock: this session holds no lock on it; lock it first");
    }
    reply = target == SR_DS_RUNNING ? commits_unlock(session) : NULL;
    return reply ? reply : reply_ok();
}
