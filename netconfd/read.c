/* get, get-config (RFC 6241), get-data (RFC 8526). */
#include <stdlib.h>
#include <string.h>

#include "filter.h"
#include "operations.h"
#include "problem.h"
#include "request.h"
#include "secrets.h"
#include "sid_paths.h"
#include "sid_state.h"

/* What xpath selects is put into *tree. */
static struct reply *read_into(struct session *session, sr_datastore_t datastore, const char *xpath,
                               sr_get_options_t options, struct lyd_node **tree) {
    sr_data_t *data = NULL;
    sr_session_switch_ds(session->sr, datastore);
    if (sr_get_data(session->sr, xpath, 0, READ_TIMEOUT_MS, options, &data)) {
        return problem_of_sysrepo(session->sr);
    }
    if (!data) {
        return NULL;
    }
    secrets_hide(session, &data->tree);
    struct reply *reply = NULL;
    if (!*tree) {
        *tree = data->tree;
        data->tree = NULL;
    } else if (data->tree) {
        if (lyd_merge_siblings(tree, data->tree, LYD_MERGE_DESTRUCT)) {
            reply = problem_of_libyang(session->context, "application", NULL, NULL);
        }
        data->tree = NULL;
    }
    sr_release_data(data);
    return reply;
}

/* The tree as <data> of the RPC's output; takes it. */
static struct reply *answer(struct session *session, const struct lyd_node *rpc,
                            struct lyd_node *tree) {
    struct lyd_node *output = NULL;
    if (lyd_dup_single(rpc, NULL, 0, &output) ||
        lyd_new_any(output, NULL, "data", tree, LYD_ANYDATA_DATATREE,
                    LYD_NEW_ANY_USE_VALUE | LYD_NEW_VAL_OUTPUT, NULL)) {
        lyd_free_siblings(tree);
        lyd_free_all(output);
        return problem_of_libyang(session->context, "application", NULL, NULL);
    }
    return reply_data(output, request_with_defaults(rpc));
}

/* The tree, which is taken, unless there is a rejection. */
static struct reply *answer_unless(struct session *session, const struct lyd_node *rpc,
                                   struct reply *rejection, struct lyd_node *tree) {
    if (rejection) {
        lyd_free_siblings(tree);
        return rejection;
    }
    return answer(session, rpc, tree);
}

struct reply *get_config(struct session *session, struct lyd_node *rpc) {
    sr_datastore_t datastore;
    struct lyd_node *tree = NULL;
    struct filter filter = {0};
    struct reply *reply = request_datastore(rpc, "source", &datastore, NULL);
    reply = reply ? reply : filter_of(session, rpc, &filter);
    if (!reply && filter.path) {
        reply = read_into(session, datastore, filter.path, 0, &tree);
    }
    reply = reply ? reply : filter_apply(session, &filter, 0, &tree);
    filter_free(&filter);
    return answer_unless(session, rpc, reply, tree);
}

/* Without a look at the configuration, which sysrepo would have to load as a whole. */
static bool selects_state_only(const struct session *session, const char *xpath) {
    struct ly_set *nodes = NULL;
    bool only = !lys_find_xpath(session->context, NULL, xpath, 0, &nodes) && nodes->count;
    for (uint32_t i = 0; only && i < nodes->count; i++) {
        only = nodes->snodes[i]->flags & LYS_CONFIG_R;
    }
    ly_set_free(nodes, NULL);
    ly_err_clean((struct ly_ctx *)session->context, NULL);
    return only;
}

/* State that xpath selects: of SIDs from the store, if all of it is asked for. */
static struct reply *read_state(struct session *session, const char *xpath,
                                struct lyd_node **tree) {
    char *beside = NULL;
    if (!sid_paths_selected(session, xpath, &beside) || !sid_paths_into(session, tree)) {
        free(beside);
        return read_into(session, SR_DS_OPERATIONAL, xpath, SR_OPER_NO_CONFIG, tree);
    }
    const char *proxies = sid_paths_proxies(session, *tree);
    struct reply *reply =
        beside ? read_into(session, SR_DS_OPERATIONAL, beside, SR_OPER_NO_CONFIG, tree) : NULL;
    if (!reply && proxies) {
        reply = read_into(session, SR_DS_OPERATIONAL, proxies, SR_OPER_NO_CONFIG, tree);
    }
    free(beside);
    return reply;
}

/* What the filter's path selects of a datastore's configuration and, unless options say otherwise,
 * of state. */
static struct reply *read_both(struct session *session, sr_datastore_t datastore,
                               const struct filter *filter, sr_get_options_t options,
                               struct lyd_node **tree) {
    const char *path = filter->path;
    struct reply *reply = NULL;
    if (!(options & SR_OPER_NO_CONFIG) &&
        !selects_state_only(session, filter->plain ? filter->xpath : path)) {
        const sr_get_options_t only = datastore == SR_DS_OPERATIONAL ? SR_OPER_NO_STATE : 0;
        reply = read_into(session, datastore, path, only, tree);
    }
    return reply || options & SR_OPER_NO_STATE ? reply : read_state(session, path, tree);
}

struct reply *read_operational(struct session *session, const struct filter *filter,
                               struct lyd_node **tree) {
    struct reply *reply =
        filter->path ? read_both(session, SR_DS_OPERATIONAL, filter, 0, tree) : NULL;
    return reply ? reply : filter_apply(session, filter, 0, tree);
}

struct reply *read_datastore(struct session *session, sr_datastore_t datastore,
                             const struct filter *filter, struct lyd_node **tree) {
    if (datastore == SR_DS_OPERATIONAL) {
        return read_operational(session, filter, tree);
    }
    struct reply *reply =
        filter->path ? read_into(session, datastore, filter->path, 0, tree) : NULL;
    return reply ? reply : filter_apply(session, filter, 0, tree);
}

/* The answer to rpc, where it comes from the store alone; NULL: it does not. */
static struct reply *answer_sid_state(struct session *session, const struct lyd_node *rpc,
                                      const struct filter *filter) {
    char *xpath = filter_xpath(session, filter);
    struct reply *reply = xpath ? sid_state_answer(session, rpc, xpath) : NULL;
    free(xpath);
    return reply;
}

struct reply *get(struct session *session, struct lyd_node *rpc) {
    struct lyd_node *tree = NULL;
    struct filter filter;
    struct reply *reply = filter_of(session, rpc, &filter);
    struct reply *ready = reply ? NULL : answer_sid_state(session, rpc, &filter);
    if (!ready) {
        if (!reply && filter.path) {
            reply = read_both(session, SR_DS_RUNNING, &filter, 0, &tree);
        }
        reply = reply ? reply : filter_apply(session, &filter, 0, &tree);
        ready = answer_unless(session, rpc, reply, tree);
    }
    filter_free(&filter);
    return ready;
}

/* RFC 8526 section 3.1.1. */
static bool origin_wanted(const struct lyd_node *rpc, const char *origin) {
    const struct lyd_node *filter;
    bool only = false;
    LY_LIST_FOR(lyd_child(rpc), filter) {
        bool same = !strcmp(lyd_get_value(filter) ? lyd_get_value(filter) : "", origin);
        if (!strcmp(LYD_NAME(filter), "negated-origin-filter") && same) {
            return false;
        }
        if (!strcmp(LYD_NAME(filter), "origin-filter")) {
            if (same) {
                return true;
            }
            only = true;
        }
    }
    return !only;
}

/* A node without the annotation has the origin of its parent (RFC 7950, RFC 8342 section 5.3.4). */
static void filter_origins(const struct lyd_node *rpc, struct lyd_node *siblings,
                           const char *inherited, struct lyd_node **first) {
    struct lyd_node *node, *next;
    LY_LIST_FOR_SAFE(siblings, next, node) {
        const struct lyd_meta *meta = lyd_find_meta(node->meta, NULL, "ietf-origin:origin");
        const char *origin = meta ? lyd_get_meta_value(meta) : inherited;
        bool is_inner = node->schema->nodetype & (LYS_CONTAINER | LYS_LIST);
        if (is_inner) {
            filter_origins(rpc, lyd_child_no_keys(node), origin, NULL);
        }
        bool keeps = is_inner && lyd_child_no_keys(node);
        if (!keeps && !origin_wanted(rpc, origin)) {
            if (first && *first == node) {
                *first = next;
            }
            lyd_free_tree(node);
        }
    }
}

/* What get-data asks for. */
struct wanted {
    sr_datastore_t datastore;
    struct filter filter;
    sr_get_options_t options;
    uint32_t levels; /* 0: all */
    bool origins, nothing;
};

static struct reply *read_wanted(const struct session *session, const struct lyd_node *rpc,
                                 struct wanted *wanted) {
    const char *config = request_value(rpc, "config-filter");
    const char *depth = request_value(rpc, "max-depth");
    *wanted = (struct wanted){0};
    wanted->origins = request_child(rpc, "with-origin") || request_child(rpc, "origin-filter") ||
                      request_child(rpc, "negated-origin-filter");
    wanted->options = wanted->origins ? SR_OPER_WITH_ORIGIN : 0;
    struct reply *reply = request_nmda_datastore(rpc, "datastore", &wanted->datastore);
    if (reply) {
        return reply;
    }
    if (wanted->origins && wanted->datastore != SR_DS_OPERATIONAL) {
        return reply_error("invalid-value", "application",
                           "get-data: only operational has origins; leave with-origin and "
                           "origin-filter out");
    }
    if (config && wanted->datastore == SR_DS_OPERATIONAL) {
        wanted->options |= !strcmp(config, "true") ? SR_OPER_NO_STATE : SR_OPER_NO_CONFIG;
    } else if (config) {
        wanted->nothing = strcmp(config, "true") != 0; /* these hold configuration only */
    }
    if (depth && strcmp(depth, "unbounded") != 0) {
        wanted->levels = (uint32_t)strtoul(depth, NULL, 10);
    }
    return filter_of_kind(session, rpc, "", &wanted->filter);
}

static struct reply *read_data(struct session *session, const struct wanted *wanted,
                               struct lyd_node **tree) {
    const char *path = wanted->filter.path;
    if (!path || wanted->nothing) {
        return NULL;
    }
    return wanted->datastore == SR_DS_OPERATIONAL && !wanted->origins
               ? read_both(session, wanted->datastore, &wanted->filter, wanted->options, tree)
               : read_into(session, wanted->datastore, path, wanted->options, tree);
}

struct reply *get_data(struct session *session, struct lyd_node *rpc) {
    struct lyd_node *tree = NULL;
    struct wanted wanted;
    struct reply *reply = read_wanted(session, rpc, &wanted), *ready = NULL;
    if (!reply && wanted.datastore == SR_DS_OPERATIONAL && !wanted.levels && !wanted.origins &&
        !(wanted.options & SR_OPER_NO_STATE)) {
        ready = answer_sid_state(session, rpc, &wanted.filter);
    }
    if (!ready) {
        reply = reply ? reply : read_data(session, &wanted, &tree);
        reply = reply ? reply : filter_apply(session, &wanted.filter, wanted.levels, &tree);
        if (!reply && wanted.origins) {
            filter_origins(rpc, tree, "ietf-origin:unknown", &tree);
        }
        ready = answer_unless(session, rpc, reply, tree);
    }
    filter_free(&wanted.filter);
    return ready;
}
