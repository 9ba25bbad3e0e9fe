/* commit and cancel-commit, RFC 6241 section 8.3 and 8.4. */
#include "operations.h"
#include "problem.h"
#include "request.h"

struct reply *commit(struct session *session, struct lyd_node *rpc) {
    if (request_child(rpc, "confirmed") || request_child(rpc, "persist-id")) {
        return reply_error("operation-not-supported", "protocol",
                           "commit: confirmed commits are not offered; commit without confirmed");
    }
    sr_session_switch_ds(session->sr, SR_DS_RUNNING);
    if (sr_copy_config(session->sr, NULL, SR_DS_CANDIDATE, COMMIT_TIMEOUT_MS)) {
        return problem_of_sysrepo(session->sr);
    }
    return reply_ok();
}

struct reply *cancel_commit(struct session *session, struct lyd_node *rpc) {
    (void)session;
    (void)rpc;
    return reply_error("operation-not-supported", "protocol",
                       "cancel-commit: confirmed commits are not offered");
}
