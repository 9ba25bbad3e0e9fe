#include "sid_paths.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "access.h"
#include "request.h"
#include "store.h"

#define PROXY SIDS "/sid/srv6mgr-proxy:proxy"

static void add_path(struct text *paths, const char *above, const struct lysc_node *node) {
    if (!(node->nodetype & (LYS_RPC | LYS_ACTION | LYS_NOTIF))) {
        text_printf(paths, "%s%s/%s:%s", paths->length ? " | " : "", above, node->module->name,
                    node->name);
    }
}

static void add_members(const struct session *session, struct text *paths) {
    const struct lysc_node *top = lys_find_path(session->context, NULL, TOP, 0);
    const struct lysc_node *member = NULL;
    while ((member = lys_getnext(member, top, NULL, 0))) {
        if (strcmp(member->name, "local-sids") != 0) {
            add_path(paths, TOP, member);
        }
    }
}

static void add_modules(const struct session *session, struct text *paths) {
    const struct lys_module *module;
    uint32_t index = 0;
    while ((module = ly_ctx_get_module_iter(session->context, &index))) {
        if (!module->implemented || !strcmp(module->name, MODULE)) {
            continue;
        }
        const struct lysc_node *node = NULL;
        while ((node = lys_getnext(node, NULL, module->compiled, 0))) {
            add_path(paths, "", node);
        }
    }
}

/* A subtree filter's path is in parentheses. */
static bool is(const char *xpath, const char *path) {
    const bool enclosed = *xpath == '(';
    const size_t length = strlen(path);
    return !strncmp(xpath + enclosed, path, length) &&
           !strcmp(xpath + enclosed + length, enclosed ? ")" : "");
}

bool sid_paths_selected(const struct session *session, const char *xpath, char **beside) {
    const bool everything = is(xpath, "/*");
    const bool ours = everything || is(xpath, TOP) || is(xpath, "/" MODULE ":*");
    struct text paths = {0};
    if (!ours && !is(xpath, SIDS) && !is(xpath, SIDS "/sid")) {
        return false;
    }
    if (ours) {
        add_members(session, &paths);
    }
    if (everything) {
        add_modules(session, &paths);
    }
    *beside = paths.bytes;
    return true;
}

const char *sid_paths_proxies(const struct session *session, const struct lyd_node *tree) {
    const struct lysc_node *schema = lys_find_path(session->context, NULL, PROXY, 0);
    const struct lyd_node *entry;
    struct lyd_node *sids = NULL, *proxy;
    if (schema && tree && !lyd_find_path(tree, SIDS, 0, &sids)) {
        LY_LIST_FOR(lyd_child(sids), entry) {
            if (!lyd_find_sibling_val(lyd_child(entry), schema, NULL, 0, &proxy)) {
                return PROXY "/state";
            }
        }
    }
    ly_err_clean((struct ly_ctx *)session->context, NULL);
    return NULL;
}

static void keep(const struct sid *sid, void *data, struct text *text) {
    (void)data;
    text_add(text, (const char *)sid, sizeof *sid);
}

static bool put_leaf(struct lyd_node *parent, enum sid_leaf leaf, const char *value) {
    return !lyd_new_term(parent, NULL, sid_leaves[leaf], value, 0, NULL);
}

static bool put_number(struct lyd_node *parent, uint32_t leaves, enum sid_leaf leaf,
                       uint64_t value) {
    char digits[21];
    snprintf(digits, sizeof digits, "%" PRIu64, value);
    return !(leaves & 1u << leaf) || put_leaf(parent, leaf, digits);
}

static bool put_time(struct lyd_node *parent, uint32_t leaves, enum sid_leaf leaf,
                     struct text_moment *last, uint64_t at) {
    return !at || !(leaves & 1u << leaf) || put_leaf(parent, leaf, text_of_time(last, at));
}

static bool put_state(struct lyd_node *entry, const struct sid *sid, uint32_t leaves,
                      struct text_moment *last) {
    struct lyd_node *state, *counters;
    if (lyd_new_inner(entry, NULL, "state", 0, &state)) {
        return false;
    }
    bool done = (!sid->status || !(leaves & 1u << SID_INSTALL_STATUS) ||
                 put_leaf(state, SID_INSTALL_STATUS, store_status(sid->status))) &&
                (!(leaves & 1u << SID_REASON) || put_leaf(state, SID_REASON, sid->reason)) &&
                put_time(state, leaves, SID_SINCE, last, sid->since) &&
                put_time(state, leaves, SID_LAST_REPAIR, last, sid->last_repair) &&
                put_number(state, leaves, SID_REPAIRS, sid->repairs);
    if (!done || leaves < 1u << SID_IN_PKTS) {
        return done;
    }
    return !lyd_new_inner(state, NULL, "counters", 0, &counters) &&
           put_number(counters, leaves, SID_IN_PKTS, sid->packets) &&
           put_number(counters, leaves, SID_IN_OCTETS, sid->octets) &&
           put_number(counters, leaves, SID_IN_ERRORS, sid->errors) &&
           put_time(counters, leaves, SID_DISCONTINUITY_TIME, last, sid->discontinuity);
}

/* The container of the SIDs, which is made where it is missing. */
static struct lyd_node *container(const struct session *session, struct lyd_node **tree) {
    struct lyd_node *top = NULL, *sids = NULL;
    if (*tree && !lyd_find_path(*tree, SIDS, 0, &sids)) {
        return sids;
    }
    if (!*tree || lyd_find_path(*tree, TOP, 0, &top)) {
        if (lyd_new_path(NULL, session->context, TOP, NULL, 0, &top) ||
            lyd_insert_sibling(*tree, top, tree)) {
            return NULL;
        }
    }
    ly_err_clean((struct ly_ctx *)session->context, NULL);
    return lyd_new_inner(top, NULL, "local-sids", 0, &sids) ? NULL : sids;
}

static struct lyd_node *entry_of(struct lyd_node *sids, const struct lysc_node *schema,
                                 const char *prefix) {
    struct lyd_node *entry = NULL;
    char key[sizeof((struct sid *)0)->prefix + sizeof "[prefix='']"];
    snprintf(key, sizeof key, "[prefix='%s']", prefix);
    if (!lyd_find_sibling_val(lyd_child(sids), schema, key, 0, &entry)) {
        return entry;
    }
    return lyd_new_list(sids, NULL, "sid", 0, &entry, prefix) ? NULL : entry;
}

bool sid_paths_into(const struct session *session, struct lyd_node **tree) {
    const struct lysc_node *schema = lys_find_path(session->context, NULL, SIDS "/sid", 0);
    struct text_moment last = {0};
    struct text found = {0};
    struct access *access = access_of(session);
    bool done = access && schema && store_read(NULL, keep, NULL, &found);
    struct lyd_node *sids = NULL;
    for (size_t at = 0; done && at < found.length; at += sizeof(struct sid)) {
        struct sid sid;
        memcpy(&sid, found.bytes + at, sizeof sid);
        const uint32_t leaves = access_to_sid(access, sid.prefix);
        if (!leaves) {
            continue;
        }
        sids = sids ? sids : container(session, tree);
        struct lyd_node *entry = sids ? entry_of(sids, schema, sid.prefix) : NULL;
        done = entry && put_state(entry, &sid, leaves, &last);
    }
    access_free(access);
    text_free(&found);
    return done;
}
