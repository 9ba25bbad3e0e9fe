#include "running.h"

#include <stdlib.h>
#include <string.h>

#include "commits.h"

static struct reply *ask(struct session *session, struct text *request) {
    struct text answer = {0};
    struct reply *reply = commits_ask(session, request, &answer);
    text_free(&answer);
    return reply;
}

static struct reply *put_tree(struct text *request, const struct lyd_node *tree) {
    char *xml = NULL;
    if (tree &&
        lyd_print_mem(&xml, tree, LYD_XML,
                      LYD_PRINT_WITHSIBLINGS | LYD_PRINT_SHRINK | LYD_PRINT_KEEPEMPTYCONT)) {
        return reply_error("resource-denied", "application",
                           "configuration: it can't be printed; try again later");
    }
    commits_put(request, "data", xml ? xml : "");
    free(xml);
    return NULL;
}

struct reply *running_edit(struct session *session, const struct lyd_node *edit,
                           const char *default_operation) {
    struct text request = commits_request(session, "edit-tree");
    commits_put(&request, "default-operation", default_operation);
    struct reply *reply = put_tree(&request, edit);
    if (reply) {
        text_free(&request);
        return reply;
    }
    return ask(session, &request);
}

struct reply *running_replace(struct session *session, const struct lyd_node *configuration) {
    struct text request = commits_request(session, "replace-tree");
    struct reply *reply = put_tree(&request, configuration);
    if (reply) {
        text_free(&request);
        return reply;
    }
    return ask(session, &request);
}

struct reply *running_copy(struct session *session, const char *source, const char *base,
                           const char *commit) {
    struct text request = commits_request(session, "copy");
    commits_put(&request, "source", source);
    commits_put(&request, "base", base);
    commits_put(&request, "commit", commit);
    return ask(session, &request);
}

char *running_revision(struct session *session) {
    struct text request = commits_request(session, "revision"), answer = {0};
    size_t length = 0;
    struct reply *reply = commits_ask(session, &request, &answer);
    const char *found = reply ? NULL : commits_field(&answer, "revision", &length);
    char *revision = found ? strndup(found, length) : NULL;
    reply_free(reply);
    text_free(&answer);
    return revision;
}
