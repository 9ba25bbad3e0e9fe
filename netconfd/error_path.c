#include "error_path.h"

#include <stdlib.h>
#include <string.h>

#include "problem.h"
#include "request.h"

struct search {
    const char *name;
    bool exists; /* look for what must not be there; else for what is missing */
    const struct lyd_node *stored;
};

static bool is_there(const struct lyd_node *stored, const char *path) {
    struct lyd_node *found = NULL;
    return stored && !lyd_find_path(stored, path, 0, &found) && !(found->flags & LYD_DEFAULT);
}

static bool is_offender(const struct search *search, const struct lyd_node *node,
                        const char *operation) {
    const bool creates = !strcmp(operation, "create");
    const bool expects = !strcmp(operation, "delete") || !strcmp(operation, "none");
    if (strcmp(LYD_NAME(node), search->name) != 0 || !(search->exists ? creates : expects)) {
        return false;
    }
    char *path = lyd_path(node, LYD_PATH_STD, NULL, 0);
    bool offends = path && is_there(search->stored, path) == search->exists;
    free(path);
    return offends;
}

static const struct lyd_node *find(const struct search *search, const struct lyd_node *siblings,
                                   const char *inherited) {
    const struct lyd_node *node;
    LY_LIST_FOR(siblings, node) {
        const struct lyd_meta *meta = lyd_find_meta(node->meta, NULL, "ietf-netconf:operation");
        const char *operation = meta ? lyd_get_meta_value(meta) : inherited;
        if (!node->schema) {
            continue;
        }
        if (is_offender(search, node, operation)) {
            return node;
        }
        const struct lyd_node *found = find(search, lyd_child_no_keys(node), operation);
        if (found) {
            return found;
        }
    }
    return NULL;
}

void error_path_set(struct reply *reply, sr_session_ctx_t *sr, const struct lyd_node *edit,
                    const char *default_operation) {
    struct error *error = reply->errors;
    if (!error || error->path || !error->bad_element ||
        (strcmp(error->tag, "data-exists") != 0 && strcmp(error->tag, "data-missing") != 0)) {
        return;
    }
    sr_data_t *data = NULL;
    sr_get_data(sr, "/*", 0, READ_TIMEOUT_MS, 0, &data);
    struct search search = {.name = error->bad_element,
                            .exists = !strcmp(error->tag, "data-exists"),
                            .stored = data ? data->tree : NULL};
    const struct lyd_node *node = find(&search, edit, default_operation);
    if (node) {
        char *path = lyd_path(node, LYD_PATH_STD, NULL, 0);
        char *message = must_format(search.exists ? "Node \"%s\" to be created already exists."
                                                  : "Node \"%s\" does not exist.",
                                    search.name);
        struct reply *placed = problem_of_text(message, path);
        reply->errors = placed->errors; /* one instead of those of nodes within it */
        placed->errors = error;
        reply_free(placed);
        free(message);
        free(path);
    }
    sr_release_data(data);
}
