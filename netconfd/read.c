/* get, get-config (RFC 6241), get-data (RFC 8526). */
#include <stdlib.h>
#include <string.h>

#include "counted.h"
#include "operations.h"
#include "problem.h"
#include "request.h"
#include "sids.h"

/* What xpath selects is put into *tree. */
static struct reply *read_into(struct session *session, sr_datastore_t datastore, const char *xpath,
                               uint32_t depth, sr_get_options_t options, struct lyd_node **tree) {
    sr_data_t *data = NULL;
    sr_session_switch_ds(session->sr, datastore);
    if (sr_get_data(session->sr, xpath, depth, READ_TIMEOUT_MS, options, &data)) {
        return problem_of_sysrepo(session->sr);
    }
    if (!data) {
        return NULL;
    }
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

struct reply *get_config(struct session *session, struct lyd_node *rpc) {
    sr_datastore_t datastore;
    struct lyd_node *tree = NULL;
    char *xpath = NULL;
    struct reply *reply = request_datastore(rpc, "source", &datastore, NULL);
    reply = reply ? reply : request_filter(session, rpc, &xpath);
    if (!reply && xpath) {
        reply = read_into(session, datastore, xpath, 0, 0, &tree);
    }
    free(xpath);
    return reply ? reply : answer(session, rpc, tree);
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
    if (!sids_selected(session, xpath, &beside) || !sids_into(session, tree)) {
        free(beside);
        return read_into(session, SR_DS_OPERATIONAL, xpath, 0, SR_OPER_NO_CONFIG, tree);
    }
    const char *proxies = sids_proxies(session, *tree);
    struct reply *reply =
        beside ? read_into(session, SR_DS_OPERATIONAL, beside, 0, SR_OPER_NO_CONFIG, tree) : NULL;
    if (!reply && proxies) {
        reply = read_into(session, SR_DS_OPERATIONAL, proxies, 0, SR_OPER_NO_CONFIG, tree);
    }
    free(beside);
    return reply;
}

/* What xpath selects of a datastore's configuration and, unless options say otherwise, of state:
 * the answer to rpc, where it comes from the store alone, else put into *tree. */
static struct reply *read_both(struct session *session, const struct lyd_node *rpc,
                               sr_datastore_t datastore, const char *xpath,
                               sr_get_options_t options, struct lyd_node **tree) {
    const bool has_state = !(options & SR_OPER_NO_STATE);
    struct reply *reply = has_state ? counted(session, rpc, xpath) : NULL;
    if (!reply && !(options & SR_OPER_NO_CONFIG) && !selects_state_only(session, xpath)) {
        const sr_get_options_t only = datastore == SR_DS_OPERATIONAL ? SR_OPER_NO_STATE : 0;
        reply = read_into(session, datastore, xpath, 0, only, tree);
    }
    return reply || !has_state ? reply : read_state(session, xpath, tree);
}

struct reply *get(struct session *session, struct lyd_node *rpc) {
    struct lyd_node *tree = NULL;
    char *xpath = NULL;
    struct reply *reply = request_filter(session, rpc, &xpath);
    if (!reply && xpath) {
        reply = read_both(session, rpc, SR_DS_RUNNING, xpath, 0, &tree);
    }
    free(xpath);
    if (reply) {
        lyd_free_siblings(tree);
        return reply;
    }
    return answer(session, rpc, tree);
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

struct reply *get_data(struct session *session, struct lyd_node *rpc) {
    sr_datastore_t datastore;
    struct lyd_node *tree = NULL;
    char *xpath = NULL;
    const char *config = request_value(rpc, "config-filter");
    const char *depth = request_value(rpc, "max-depth");
    const bool origins = request_child(rpc, "with-origin") || request_child(rpc, "origin-filter") ||
                         request_child(rpc, "negated-origin-filter");
    struct reply *reply = request_nmda_datastore(rpc, "datastore", &datastore);
    if (reply) {
        return reply;
    }
    if (origins && datastore != SR_DS_OPERATIONAL) {
        return reply_error("invalid-value", "application",
                           "get-data: only operational tells origins; leave with-origin and "
                           "origin-filter out");
    }
    if (request_value(rpc, "xpath-filter")) {
        xpath = must_copy(request_value(rpc, "xpath-filter"));
    } else if (request_child(rpc, "subtree-filter")) {
        reply = request_subtree(session, request_child(rpc, "subtree-filter"), &xpath);
    } else {
        xpath = must_copy("/*");
    }
    sr_get_options_t options = origins ? SR_OPER_WITH_ORIGIN : 0;
    bool nothing = false;
    if (config && datastore == SR_DS_OPERATIONAL) {
        options |= !strcmp(config, "true") ? SR_OPER_NO_STATE : SR_OPER_NO_CONFIG;
    } else if (config) {
        nothing = strcmp(config, "true") != 0; /* these hold configuration only */
    }
    uint32_t levels =
        depth && strcmp(depth, "unbounded") != 0 ? (uint32_t)strtoul(depth, NULL, 10) : 0;
    const bool plain = datastore == SR_DS_OPERATIONAL && !levels && !origins;
    if (!reply && xpath && !nothing) {
        reply = plain ? read_both(session, rpc, datastore, xpath, options, &tree)
                      : read_into(session, datastore, xpath, levels, options, &tree);
    }
    free(xpath);
    if (reply) {
        lyd_free_siblings(tree);
        return reply;
    }
    if (origins) {
        filter_origins(rpc, tree, "ietf-origin:unknown", &tree);
    }
    return answer(session, rpc, tree);
}
