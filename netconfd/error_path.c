#include "error_path.h"

#include <stdlib.h>
#include <string.h>

#include "problem.h"
#include "request.h"

#define BEFORE_NAME "Node \""

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

/* NULL: it is not found. */
static char *path_of(sr_session_ctx_t *sr, const char *name, bool exists,
                     const struct lyd_node *edit, const char *default_operation) {
    sr_data_t *data = NULL;
    sr_get_data(sr, "/*", 0, READ_TIMEOUT_MS, 0, &data);
    struct search search = {.name = name, .exists = exists, .stored = data ? data->tree : NULL};
    const struct lyd_node *node = find(&search, edit, default_operation);
    char *path = node ? lyd_path(node, LYD_PATH_STD, NULL, 0) : NULL;
    sr_release_data(data);
    return path;
}

void error_path_set(struct reply *reply, sr_session_ctx_t *sr, const struct lyd_node *edit,
                    const char *default_operation) {
    struct error *error = reply->errors;
    if (!error || error->path || !error->bad_element ||
        (strcmp(error->tag, "data-exists") != 0 && strcmp(error->tag, "data-missing") != 0)) {
        return;
    }
    const bool exists = !strcmp(error->tag, "data-exists");
    char *path = path_of(sr, error->bad_element, exists, edit, default_operation);
    if (path) {
        char *message = must_format(exists ? "Node \"%s\" to be created already exists."
                                           : "Node \"%s\" does not exist.",
                                    error->bad_element);
        struct reply *placed = problem_of_text(message, path);
        reply->errors = placed->errors; /* one instead of those of nodes within it */
        placed->errors = error;
        reply_free(placed);
        free(message);
        free(path);
    }
}

/* The name in sysrepo's 'Node "NAME" ...', to be freed; NULL: the text is another one. */
static char *name_in(const char *message) {
    const char *begin = message && !strncmp(message, BEFORE_NAME, strlen(BEFORE_NAME))
                            ? message + strlen(BEFORE_NAME)
                            : NULL;
    const char *end = begin ? strchr(begin, '"') : NULL;
    return end ? strndup(begin, (size_t)(end - begin)) : NULL;
}

struct reply *error_path_problem(sr_session_ctx_t *sr, const struct lyd_node *edit,
                                 const char *default_operation) {
    const sr_error_info_t *info = NULL;
    sr_session_get_error(sr, &info);
    const sr_error_info_err_t *first = info && info->err_count ? &info->err[0] : NULL;
    const bool exists = first && first->err_code == SR_ERR_EXISTS;
    char *name =
        exists || (first && first->err_code == SR_ERR_NOT_FOUND) ? name_in(first->message) : NULL;
    if (!name) {
        return problem_of_sysrepo(sr);
    }
    /* The session forgets its error with the next call, and shows its edit to who reads. */
    char *message = must_copy(first->message);
    sr_discard_changes(sr);
    char *path = path_of(sr, name, exists, edit, default_operation);
    struct reply *reply = problem_of_text(message, path);
    free(path);
    free(message);
    free(name);
    return reply;
}
