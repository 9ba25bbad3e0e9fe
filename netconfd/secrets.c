#include "secrets.h"

#include <stdlib.h>
#include <string.h>
#include <sysrepo/netconf_acm.h>

#include "access.h"
#include "nacm.h"
#include "request.h"

struct judge {
    const struct session *session;
    struct nacm nacm;
    bool has_read, permits_all;
};

struct asked {
    const struct lysc_node *schema;
    const char *operation;
    char *path;
    bool is_decided, permits;
};

static bool is_secret(const struct lysc_node *schema) {
    LY_ARRAY_COUNT_TYPE i;
    LY_ARRAY_FOR(schema->exts, i) {
        const struct lysc_ext *kind = schema->exts[i].def;
        if (!strcmp(kind->name, "default-deny-all") &&
            !strcmp(kind->module->name, "ietf-netconf-acm")) {
            return true;
        }
    }
    return false;
}

static bool holds_secrets(const struct lysc_node *schema) {
    const struct lysc_node *child;
    if (is_secret(schema) || schema->nodetype & LYD_NODE_ANY) {
        return true;
    }
    LY_LIST_FOR(lysc_node_child(schema), child) {
        if (holds_secrets(child)) {
            return true;
        }
    }
    return false;
}

/* RFC 8341 section 3.4.5, steps 6 to 8: the first rule that matches decides. */
static void look(const struct lyd_node *rule, void *data) {
    struct asked *asked = data;
    const char *operations = nacm_value(rule, "access-operations");
    const char *module = nacm_value(rule, "module-name"), *path = nacm_value(rule, "path");
    if (asked->is_decided || request_child(rule, "rpc-name") ||
        request_child(rule, "notification-name") ||
        !(strchr(operations, '*') || strstr(operations, asked->operation)) ||
        (strcmp(module, "*") != 0 && strcmp(module, asked->schema->module->name) != 0) ||
        (*path && strcmp(path, "/") != 0 && !access_covers(path, asked->path))) {
        return;
    }
    asked->is_decided = true;
    asked->permits = !strcmp(nacm_value(rule, "action"), "permit");
}

static bool permits_operation(struct judge *judge, const struct lysc_node *schema, char *path,
                              const char *operation) {
    struct asked asked = {.schema = schema, .operation = operation, .path = path};
    if (!judge->has_read) {
        judge->has_read = true;
        judge->permits_all = nacm_read(&judge->nacm) &&
                             !strcmp(nacm_value(judge->nacm.tree, "enable-nacm"), "false");
    }
    if (judge->nacm.tree && asked.path) {
        nacm_rules(&judge->nacm, judge->session->user, look, &asked);
    }
    return judge->permits_all || asked.permits;
}

/* Takes the path. */
static bool permits(struct judge *judge, const struct lysc_node *schema, char *path) {
    const bool found = permits_operation(judge, schema, path, "read");
    free(path);
    return found;
}

static char *path_of(const struct lyd_node *node) {
    const struct lyd_node *top = node;
    while (lyd_parent(top)) {
        top = lyd_parent(top);
    }
    /* A value of YANG-Push begins in the middle of the tree. */
    return top->schema->parent ? lysc_path(node->schema, LYSC_PATH_DATA, NULL, 0)
                               : lyd_path(node, LYD_PATH_STD, NULL, 0);
}

static void hide(struct judge *judge, struct lyd_node **first) {
    const struct lysc_node *known = NULL;
    struct lyd_node *node, *next;
    bool is_searched = false;
    LY_LIST_FOR_SAFE(*first, next, node) {
        if (node->schema != known) {
            known = node->schema;
            is_searched = known && holds_secrets(known);
        }
        if (!is_searched) {
            continue;
        }
        if (known->nodetype & LYD_NODE_ANY) {
            struct lyd_node_any *any = (struct lyd_node_any *)node;
            if (any->value_type == LYD_ANYDATA_DATATREE && any->value.tree) {
                hide(judge, &any->value.tree);
            }
        } else if (!is_secret(known)) {
            struct lyd_node *child = lyd_child(node);
            hide(judge, &child);
        } else if (!permits(judge, known, path_of(node))) {
            *first = *first == node ? next : *first;
            lyd_free_tree(node);
        }
    }
}

void secrets_hide(const struct session *session, struct lyd_node **tree) {
    struct judge judge = {.session = session};
    if (*tree && strcmp(session->user, sr_nacm_get_recovery_user()) != 0) {
        hide(&judge, tree);
        nacm_free(&judge.nacm);
    }
}

/* The path of a secret with a value that may not be written; NULL: there is none. */
static char *find_denied(struct judge *judge, const struct lyd_node *siblings) {
    const struct lyd_node *node;
    char *found = NULL;
    LY_LIST_FOR(siblings, node) {
        const struct lysc_node *schema = node->schema;
        if (found || !schema || !holds_secrets(schema)) {
            continue;
        }
        if (!is_secret(schema)) {
            found = find_denied(judge, lyd_child(node));
            continue;
        }
        char *path = path_of(node);
        if (permits_operation(judge, schema, path, "create") &&
            permits_operation(judge, schema, path, "update")) {
            free(path);
        } else {
            found = path;
        }
    }
    return found;
}

struct reply *secrets_reject_edit(const struct session *session, const struct lyd_node *edit) {
    struct judge judge = {.session = session};
    if (!edit || !strcmp(session->user, sr_nacm_get_recovery_user())) {
        return NULL;
    }
    char *path = find_denied(&judge, edit);
    nacm_free(&judge.nacm);
    if (!path) {
        return NULL;
    }
    struct reply *reply = reply_error("access-denied", "protocol",
                                      "%s: user %s may not create and update it, whatever it is "
                                      "now; leave it out, or ask for a NACM rule",
                                      path, session->user);
    reply->errors->path = path;
    return reply;
}

struct reply *secrets_reject(const struct session *session, const char *xpath) {
    struct judge judge = {.session = session};
    struct ly_set *atoms = NULL;
    bool is_denied = false;
    if (!xpath || !strchr(xpath, '[') || !strcmp(session->user, sr_nacm_get_recovery_user()) ||
        lys_find_xpath_atoms(session->context, NULL, xpath, 0, &atoms)) {
        return NULL;
    }
    for (uint32_t i = 0; !is_denied && i < atoms->count; i++) {
        const struct lysc_node *schema = atoms->snodes[i];
        is_denied = is_secret(schema) &&
                    !permits(&judge, schema, lysc_path(schema, LYSC_PATH_DATA, NULL, 0));
    }
    nacm_free(&judge.nacm);
    ly_set_free(atoms, NULL);
    return is_denied ? reply_error("access-denied", "protocol",
                                   "filter: user %s may not read what it compares; name paths and "
                                   "keys of lists alone",
                                   session->user)
                     : NULL;
}
