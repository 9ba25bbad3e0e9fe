#include "request.h"

#include <stdlib.h>
#include <string.h>

#include "problem.h"
#include "text.h"

const struct lyd_node *request_child(const struct lyd_node *rpc, const char *name) {
    const struct lyd_node *child;
    LY_LIST_FOR(lyd_child(rpc), child) {
        if (!strcmp(LYD_NAME(child), name)) {
            return child;
        }
    }
    return NULL;
}

const char *request_value(const struct lyd_node *rpc, const char *name) {
    const struct lyd_node *child = request_child(rpc, name);
    return child ? lyd_get_value(child) : NULL;
}

const char *request_name(const struct lyd_node *rpc, const char *name) {
    const char *value = request_value(rpc, name);
    const char *colon = value ? strchr(value, ':') : NULL;
    return colon ? colon + 1 : value;
}

static bool known(const char *name, sr_datastore_t *datastore) {
    static const struct {
        const char *name;
        sr_datastore_t datastore;
    } all[] = {{"running", SR_DS_RUNNING},
               {"candidate", SR_DS_CANDIDATE},
               {"startup", SR_DS_STARTUP},
               {"operational", SR_DS_OPERATIONAL},
               {"factory-default", SR_DS_FACTORY_DEFAULT}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (!strcmp(name, all[i].name)) {
            *datastore = all[i].datastore;
            return true;
        }
    }
    return false;
}

struct reply *request_datastore(const struct lyd_node *rpc, const char *parameter,
                                sr_datastore_t *datastore, const struct lyd_node **inline_config) {
    const struct lyd_node *given = request_child(rpc, parameter);
    const struct lyd_node *choice = given ? lyd_child(given) : NULL;
    if (choice && inline_config && !strcmp(LYD_NAME(choice), "config")) {
        *inline_config = choice;
        return NULL;
    }
    if (choice && known(LYD_NAME(choice), datastore)) {
        return NULL;
    }
    struct reply *reply =
        choice ? reply_error("operation-not-supported", "protocol",
                             "%s: %s can't be used here; name running, candidate or startup",
                             parameter, LYD_NAME(choice))
               : reply_error("missing-element", "protocol",
                             "%s: it names no datastore; name running, candidate or startup",
                             parameter);
    if (!choice) {
        reply->errors->bad_element = must_copy(parameter);
    }
    return reply;
}

struct reply *request_nmda_datastore(const struct lyd_node *rpc, const char *parameter,
                                     sr_datastore_t *datastore) {
    const char *name = request_name(rpc, parameter);
    if (name && known(name, datastore)) {
        return NULL;
    }
    return reply_error("invalid-value", "application",
                       "%s: datastore %s does not exist; see yang-library for those that do",
                       parameter, name ? name : "''");
}

uint32_t request_with_defaults(const struct lyd_node *rpc) {
    const char *mode = request_value(rpc, "with-defaults");
    if (!mode || !strcmp(mode, "explicit")) {
        return LYD_PRINT_WD_EXPLICIT;
    }
    if (!strcmp(mode, "report-all")) {
        return LYD_PRINT_WD_ALL;
    }
    /* RFC 6243 section 3.4: what the basic mode, explicit, takes for default data. */
    return strcmp(mode, "trim") != 0 ? LYD_PRINT_WD_IMPL_TAG : LYD_PRINT_WD_TRIM;
}

/* A node to be removed may be named without a value, which libyang can only keep unparsed. */
static bool is_removal(const struct lyd_node *node) {
    const struct lyd_attr *attr;
    if (lyd_get_value(node) && *lyd_get_value(node)) {
        return false;
    }
    LY_LIST_FOR(((const struct lyd_node_opaq *)node)->attr, attr) {
        if (!strcmp(attr->name.name, "operation")) {
            return !strcmp(attr->value, "delete") || !strcmp(attr->value, "remove");
        }
    }
    return false;
}

static const struct lys_module *module_of(const struct lyd_node *node) {
    const char *namespace = ((const struct lyd_node_opaq *)node)->name.module_ns;
    return namespace ? ly_ctx_get_module_implemented_ns(LYD_CTX(node), namespace) : NULL;
}

/* Of a node that libyang keeps unparsed. */
static char *path_of(const struct lyd_node *node) {
    const struct lyd_node *parent = lyd_parent(node);
    const struct lys_module *module = module_of(node);
    const bool is_named = module && (!parent || lyd_node_module(parent) != module);
    char *path = parent ? lyd_path(parent, LYD_PATH_STD, NULL, 0) : NULL;
    char *made = must_format("%s/%s%s%s", path ? path : "", is_named ? module->name : "",
                             is_named ? ":" : "", LYD_NAME(node));
    free(path);
    return made;
}

static bool is_value(const struct lyd_node *node, const struct lysc_node *schema) {
    const char *value = lyd_get_value(node) ? lyd_get_value(node) : "";
    const LY_ERR failed =
        lyd_value_validate(LYD_CTX(node), schema, value, strlen(value), NULL, NULL, NULL);
    return failed == LY_SUCCESS || failed == LY_EINCOMPLETE;
}

/* That of an unparsed list entry which can't be one; NULL: there is none. */
static const struct lyd_node *find_bad_key(const struct lyd_node *node) {
    const struct lyd_node *parent = lyd_parent(node), *child;
    const struct lys_module *module = module_of(node);
    const struct lysc_node *list = module ? lys_find_child(parent ? parent->schema : NULL, module,
                                                           LYD_NAME(node), 0, LYS_LIST, 0)
                                          : NULL;
    LY_LIST_FOR(list ? lyd_child(node) : NULL, child) {
        const struct lysc_node *key =
            lys_find_child(list, list->module, LYD_NAME(child), 0, LYS_LEAF, 0);
        if (key && lysc_is_key(key) && !is_value(child, key)) {
            return child;
        }
    }
    return NULL;
}

/* XML has text alone; libyang takes that of an unparsed node for a number where it can. */
static void take_for_text(const struct lyd_node *node) {
    const struct lyd_node *child;
    if (!node->schema) {
        ((struct lyd_node_opaq *)node)->hints |= LYD_VALHINT_STRING;
    }
    LY_LIST_FOR(lyd_child(node), child) {
        take_for_text(child);
    }
}

static struct reply *unparsed(struct session *session, const struct lyd_node *node) {
    take_for_text(node);
    const struct lyd_node *key = find_bad_key(node);
    ly_err_clean((struct ly_ctx *)session->context, NULL);
    if (lyd_parse_opaq_error(node) == LY_SUCCESS && !ly_err_first(session->context)) {
        return NULL;
    }
    char *path = path_of(node);
    struct reply *reply;
    if (key) {
        char *of_key = must_format("%s/%s", path, LYD_NAME(key));
        reply = problem_of_key(session->context, of_key, lyd_get_value(key));
        free(of_key);
    } else {
        reply = problem_of_libyang(session->context, "application", path, LYD_NAME(node));
    }
    if (reply->errors && !reply->errors->path) {
        reply->errors->path = must_copy(path);
    }
    free(path);
    return reply;
}

static struct reply *find_unparsed(struct session *session, const struct lyd_node *siblings) {
    const struct lyd_node *node;
    LY_LIST_FOR(siblings, node) {
        if (!node->schema) {
            if (!is_removal(node)) {
                struct reply *reply = unparsed(session, node);
                if (reply) {
                    return reply;
                }
            }
            continue;
        }
        if (!(node->schema->nodetype & (LYS_CONTAINER | LYS_LIST))) {
            continue;
        }
        struct reply *reply = find_unparsed(session, lyd_child(node));
        if (reply) {
            return reply;
        }
    }
    return NULL;
}

/* Configuration can't be in a place that the model has for state. */
static struct reply *find_state(const struct lyd_node *siblings) {
    const struct lyd_node *node;
    LY_LIST_FOR(siblings, node) {
        if (!node->schema) {
            continue;
        }
        if (node->schema->flags & LYS_CONFIG_R) {
            char *path = lyd_path(node, LYD_PATH_STD, NULL, 0);
            char *message = must_format("Unexpected state node \"%s\" found.", LYD_NAME(node));
            struct reply *reply = problem_of_text(message, path);
            free(message);
            free(path);
            return reply;
        }
        struct reply *reply = find_state(lyd_child(node));
        if (reply) {
            return reply;
        }
    }
    return NULL;
}

struct reply *request_config(struct session *session, const struct lyd_node *node,
                             struct lyd_node **config) {
    struct lyd_node_any *any = (struct lyd_node_any *)node;
    *config = NULL;
    if (any->value_type != LYD_ANYDATA_DATATREE) {
        if (any->value.str && *any->value.str) {
            return reply_error("bad-element", "protocol",
                               "config: it holds no XML elements; put the configuration there");
        }
        return NULL;
    }
    struct reply *reply = find_unparsed(session, any->value.tree);
    reply = reply ? reply : find_state(any->value.tree);
    if (reply) {
        return reply;
    }
    *config = any->value.tree;
    any->value.tree = NULL;
    return NULL;
}
