#include "filter.h"

#include <stdlib.h>
#include <string.h>
#include <sysrepo/subscribed_notifications.h>

#include "evaluate.h"
#include "problem.h"
#include "prune.h"
#include "request.h"
#include "subtree.h"
#include "text.h"
#include "xpath.h"

#define EVERYTHING "/*"
#define MOST_CONVERTED 64 /* nodes of a subtree filter: each becomes a path */

struct reply *filter_of_xpath(const struct session *session, const char *xpath,
                              struct filter *filter) {
    *filter = (struct filter){0};
    if (strlen(xpath) > XPATH_LONGEST) {
        return reply_error("too-big", "application",
                           "filter: the expression is longer than %d characters; split it",
                           XPATH_LONGEST);
    }
    filter->xpath = must_copy(xpath);
    if (!xpath_is_plain(xpath)) {
        filter->path = xpath_snapshot(xpath);
        return NULL;
    }
    /* A condition on what is no key is evaluated elsewhere, too: libyang takes long for it. */
    filter->path = xpath_root(session->context, xpath);
    const char *rest = strstr(xpath, filter->path);
    filter->plain = !strchr(rest ? rest + strlen(filter->path) : xpath, '[');
    return NULL;
}

static void of_subtree(const struct lyd_node *node, struct filter *filter) {
    filter->subtree = subtree_of(node);
    filter->path = filter->subtree ? subtree_path(filter->subtree) : NULL;
}

static void of_everything(struct filter *filter) {
    filter->xpath = must_copy(EVERYTHING);
    filter->path = must_copy(EVERYTHING);
    filter->plain = true;
}

static const char *attribute(const struct lyd_node *node, const char *name) {
    const struct lyd_meta *meta = lyd_find_meta(node->meta, NULL, name);
    return meta ? lyd_get_meta_value(meta) : NULL;
}

struct reply *filter_of(const struct session *session, const struct lyd_node *rpc,
                        struct filter *filter) {
    const struct lyd_node *given = request_child(rpc, "filter");
    *filter = (struct filter){0};
    if (!given) {
        of_everything(filter);
        return NULL;
    }
    const char *type = attribute(given, "ietf-netconf:type");
    const char *select = attribute(given, "ietf-netconf:select");
    if (!type || !strcmp(type, "subtree")) {
        of_subtree(given, filter);
        return NULL;
    }
    if (!select) {
        struct reply *reply = reply_error("missing-attribute", "protocol",
                                          "filter: select is missing; add the XPath expression");
        reply->errors->bad_attribute = must_copy("select");
        reply->errors->bad_element = must_copy("filter");
        return reply;
    }
    return filter_of_xpath(session, select, filter);
}

struct reply *filter_of_kind(const struct session *session, const struct lyd_node *rpc,
                             const char *kind, struct filter *filter) {
    char *xpath = must_format("%sxpath-filter", kind),
         *tree = must_format("%ssubtree-filter", kind);
    const char *expression = request_value(rpc, xpath);
    const struct lyd_node *node = request_child(rpc, tree);
    struct reply *reply = NULL;
    *filter = (struct filter){0};
    free(xpath);
    free(tree);
    if (expression) {
        reply = filter_of_xpath(session, expression, filter);
    } else if (node) {
        of_subtree(node, filter);
    } else {
        of_everything(filter);
    }
    return reply;
}

bool filter_is_everything(const struct filter *filter) {
    return filter->xpath && !strcmp(filter->xpath, EVERYTHING);
}

static unsigned count(const struct lyd_node *siblings) {
    const struct lyd_node *node;
    unsigned nodes = 0;
    LY_LIST_FOR(siblings, node) {
        nodes += 1 + (nodes <= MOST_CONVERTED ? count(lyd_child(node)) : 0);
    }
    return nodes;
}

char *filter_xpath(const struct session *session, const struct filter *filter) {
    char *xpath = NULL;
    if (filter->xpath) {
        return must_copy(filter->xpath);
    }
    if (!filter->subtree || count(filter->subtree) > MOST_CONVERTED) {
        return NULL;
    }
    if (srsn_filter_subtree2xpath(filter->subtree, session->sr, &xpath)) {
        return NULL;
    }
    return xpath;
}

struct reply *filter_bounded(const struct session *session, const struct filter *filter,
                             char **xpath) {
    *xpath = filter_is_everything(filter) ? NULL : filter_xpath(session, filter);
    if (filter_is_everything(filter) || (*xpath && xpath_is_bounded(*xpath))) {
        return NULL;
    }
    free(*xpath);
    *xpath = NULL;
    struct reply *reply = reply_error(
        "invalid-value", "application",
        "filter: it is not a union of up to 16 plain paths, which is all that can be evaluated at "
        "each event; name the nodes by such paths");
    /* RFC 8639 section 2.4.6: syntax too complex to be processed by the publisher. */
    reply->errors->app_tag = must_copy("ietf-subscribed-notifications:filter-unsupported");
    return reply;
}

/* A plain path takes no time. */
static struct reply *cut(const struct session *session, const char *path, uint32_t depth,
                         struct lyd_node **tree) {
    struct ly_set *found = NULL;
    if (lyd_find_xpath3(NULL, *tree, path, LY_VALUE_JSON, NULL, NULL, &found)) {
        return problem_of_libyang(session->context, "application", NULL, NULL);
    }
    for (uint32_t i = 0; i < found->count; i++) {
        prune_mark(found->dnodes[i]);
    }
    ly_set_free(found, NULL);
    prune(tree, depth);
    return NULL;
}

struct reply *filter_apply(const struct session *session, const struct filter *filter,
                           uint32_t depth, struct lyd_node **tree) {
    if (!*tree || (filter->plain && !depth && !strcmp(filter->path, filter->xpath))) {
        return NULL;
    }
    if (filter->plain) {
        return cut(session, filter->xpath, depth, tree);
    }
    if (filter->subtree && !depth) {
        return subtree_select(session, filter->subtree, tree);
    }
    char *xpath = filter_xpath(session, filter);
    if (!xpath) {
        return reply_error("too-big", "application",
                           "filter: with max-depth it may have %d nodes; leave one of them out",
                           MOST_CONVERTED);
    }
    struct reply *reply = evaluate(session, xpath, depth, tree);
    free(xpath);
    return reply;
}

void filter_free(struct filter *filter) {
    free(filter->xpath);
    free(filter->path);
    *filter = (struct filter){0};
}
