#include "judge.h"

#include <stdlib.h>
#include <string.h>

#include "problem.h"
#include "request.h"
#include "srv6mgrd.h"

#define OURS "srv6mgr-srv6"

static const struct lyd_node *ours(const struct lyd_node *siblings) {
    const struct lyd_node *node;
    LY_LIST_FOR(siblings, node) {
        if (node->schema && !strcmp(node->schema->module->name, OURS)) {
            return node;
        }
    }
    return NULL;
}

struct reply *judge_tree(const struct lyd_node *configuration) {
    const struct lyd_node *top = ours(configuration);
    char *text = NULL;
    if (top && lyd_print_mem(&text, top, LYD_JSON, LYD_PRINT_SHRINK | LYD_PRINT_WD_EXPLICIT)) {
        return reply_error("resource-denied", "application",
                           "validate: the configuration can't be printed; try again later");
    }
    const struct argument argument = {"configuration", text ? text : "{}"};
    struct reply *reply = srv6mgrd_call("plan", &argument, 1);
    free(text);
    return reply;
}

/* Under no user's rules: srv6mgrd judges the whole configuration, not what the user may read. */
struct reply *judge_datastore(sr_datastore_t datastore, const struct lyd_node *edit,
                              const char *default_operation) {
    sr_session_ctx_t *sr = NULL;
    sr_data_t *data = NULL;
    struct reply *reply;
    if (sr_session_start(server.connection, datastore, &sr)) {
        return reply_error("resource-denied", "application",
                           "validate: sysrepo has no session left; try again later");
    }
    if ((edit && sr_edit_batch(sr, edit, default_operation)) ||
        sr_get_data(sr, "/" OURS ":*", 0, READ_TIMEOUT_MS, 0, &data)) {
        reply = problem_of_sysrepo(sr);
    } else {
        reply = judge_tree(data ? data->tree : NULL);
    }
    sr_release_data(data);
    sr_session_stop(sr);
    return reply;
}
