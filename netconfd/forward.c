/* RPCs and actions that are not NETCONF's own: sysrepo finds who answers them. */
#include <stdlib.h>

#include "operations.h"
#include "problem.h"
#include "request.h"

static bool has_output(const struct lyd_node *node) {
    const struct lyd_node *child;
    LY_LIST_FOR(lyd_child_no_keys(node), child) {
        if (!(child->flags & LYD_DEFAULT)) {
            return true;
        }
    }
    return false;
}

struct reply *forward(struct session *session, struct lyd_node *rpc) {
    sr_data_t *output = NULL;
    struct lyd_node *top = rpc, *copy = NULL;
    while (lyd_parent(top)) {
        top = lyd_parent(top);
    }
    sr_session_switch_ds(session->sr, SR_DS_RUNNING);
    int failed = sr_rpc_send_tree(session->sr, top, COMMIT_TIMEOUT_MS, &output);
    if (failed == SR_ERR_UNSUPPORTED) {
        return reply_error("operation-not-supported", "application",
                           "%s: nobody answers it; see that srv6mgrd runs", LYD_NAME(rpc));
    }
    if (failed) {
        return problem_of_sysrepo(session->sr);
    }
    const struct lyd_node *answer = output ? output->tree : NULL;
    while (answer && !(answer->schema->nodetype & (LYS_RPC | LYS_ACTION))) {
        answer = lyd_child_no_keys(answer);
    }
    if (answer && has_output(answer)) {
        lyd_dup_single(answer, NULL, LYD_DUP_RECURSIVE | LYD_DUP_WITH_FLAGS, &copy);
    }
    sr_release_data(output);
    return copy ? reply_data(copy, LYD_PRINT_WD_EXPLICIT) : reply_ok();
}
