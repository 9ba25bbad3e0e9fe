/* RPCs and actions that are not NETCONF's own: sysrepo finds who answers them. */
#include <stdlib.h>
#include <string.h>

#include "commits.h"
#include "operations.h"
#include "problem.h"
#include "request.h"

#define OURS "srv6mgr-"

static bool has_output(const struct lyd_node *node) {
    const struct lyd_node *child;
    LY_LIST_FOR(lyd_child_no_keys(node), child) {
        if (!(child->flags & LYD_DEFAULT)) {
            return true;
        }
    }
    return false;
}

static struct reply *answered(const struct lyd_node *tree) {
    const struct lyd_node *answer = tree;
    struct lyd_node *copy = NULL;
    while (answer && !(answer->schema->nodetype & (LYS_RPC | LYS_ACTION))) {
        answer = lyd_child_no_keys(answer);
    }
    if (answer && has_output(answer)) {
        lyd_dup_single(answer, NULL, LYD_DUP_RECURSIVE | LYD_DUP_WITH_FLAGS, &copy);
    }
    return copy ? reply_data(copy, LYD_PRINT_WD_EXPLICIT) : reply_ok();
}

/* Its own socket shows when srv6mgrd dies meanwhile. */
static struct reply *forward_to_srv6mgrd(struct session *session, const struct lyd_node *top) {
    struct text request = commits_request(session, "send-tree"), answer = {0};
    struct lyd_node *tree = NULL, *node = NULL;
    struct ly_in *in = NULL;
    char *xml = NULL;
    lyd_print_mem(&xml, top, LYD_XML, LYD_PRINT_SHRINK);
    commits_put(&request, "data", xml ? xml : "");
    free(xml);
    struct reply *reply = commits_ask(session, &request, &answer);
    const char *data = reply ? NULL : commits_field(&answer, "data", NULL);
    if (!reply && data && !ly_in_new_memory(data, &in)) {
        lyd_parse_op(session->context, NULL, in, LYD_XML, LYD_TYPE_REPLY_YANG, &tree, &node);
        ly_in_free(in, 0);
    }
    reply = reply ? reply : answered(tree);
    lyd_free_all(tree);
    text_free(&answer);
    return reply;
}

struct reply *forward(struct session *session, struct lyd_node *rpc) {
    sr_data_t *output = NULL;
    struct lyd_node *top = rpc;
    while (lyd_parent(top)) {
        top = lyd_parent(top);
    }
    const char *module = top->schema->module->name;
    if (!strncmp(module, OURS, strlen(OURS)) || !strcmp(module, "ietf-alarms")) {
        return forward_to_srv6mgrd(session, top);
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
    struct reply *reply = answered(output ? output->tree : NULL);
    sr_release_data(output);
    return reply;
}
