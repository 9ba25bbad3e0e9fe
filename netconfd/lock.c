/* lock and unlock of a datastore, RFC 6241 sections 7.5 and 7.6. */
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

struct reply *lock_datastore(struct session *session, struct lyd_node *rpc) {
    sr_datastore_t target;
    struct reply *reply = request_datastore(rpc, "target", &target, NULL);
    if (reply) {
        return reply;
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
    if (sr_unlock(session->sr, NULL)) {
        return reply_error("operation-failed", "protocol",
                           "unlock: this session holds no lock on it; lock it first");
    }
    return reply_ok();
}
