#include "subtree.h"

#include <libyang/plugins_types.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "prune.h"
#include "text.h"
#include "xpath.h"

#define BLANKS " \t\r\n"
#define MOST_WORK 50000000u /* nodes compared: some seconds */
#define MOST_KEYS 8
#define MOST_PATHS 16
#define LOOK_EVERY 1000000u /* whether the client is still there */

struct search {
    const struct session *session;
    unsigned work;
    bool left, too_long;
};

static bool has_value(const struct lyd_node *filter) {
    const char *value = lyd_child(filter) ? NULL : lyd_get_value(filter);
    return value && value[strspn(value, BLANKS)];
}

/* Whether the filter's node is one of that schema; in no namespace it is of any. */
static bool is_of(const struct lyd_node *filter, const struct lysc_node *schema) {
    const struct lyd_node_opaq *opaque = (const struct lyd_node_opaq *)filter;
    if (filter->schema) {
        return filter->schema == schema;
    }
    const char *namespace = opaque->name.module_ns;
    /* Section 6.2.2: data has no attributes that could match. */
    return schema && !opaque->attr && !strcmp(opaque->name.name, schema->name) &&
           (!namespace || !strcmp(namespace, schema->module->ns));
}

static const struct lysc_node *find_named(const struct lyd_node *filter,
                                          const struct lysc_node *parent,
                                          const struct lysc_module *module) {
    const struct lysc_node *child = lys_getnext(NULL, parent, module, 0);
    while (child &&
           (!is_of(filter, child) || child->nodetype & (LYS_RPC | LYS_ACTION | LYS_NOTIF))) {
        child = lys_getnext(child, parent, module, 0);
    }
    return child;
}

/* The schema node of a filter's node below parent (NULL: at the top). */
static const struct lysc_node *schema_of(const struct lyd_node *filter,
                                         const struct lysc_node *parent) {
    uint32_t index = 0;
    if (filter->schema || (parent && !(parent->nodetype & (LYS_CONTAINER | LYS_LIST)))) {
        return filter->schema;
    }
    if (parent) {
        return find_named(filter, parent, NULL);
    }
    const struct lys_module *module = ly_ctx_get_module_iter(LYD_CTX(filter), &index);
    const struct lysc_node *found = NULL;
    while (module && !found) {
        found = module->implemented ? find_named(filter, NULL, module->compiled) : NULL;
        module = ly_ctx_get_module_iter(LYD_CTX(filter), &index);
    }
    return found;
}

/* The value as data of the schema node has it; identities are written with their module. */
static char *canonical(const struct lyd_node *filter, const struct lysc_node *schema) {
    const struct lyd_node_opaq *opaque = (const struct lyd_node_opaq *)filter;
    const char *text = lyd_get_value(filter), *found = NULL;
    text += strspn(text, BLANKS);
    size_t length = strlen(text);
    while (length && strchr(BLANKS, text[length - 1])) {
        length--;
    }
    char *value = must_format("%.*s", (int)length, text), *colon = strchr(value, ':');
    const struct lys_module *module =
        !filter->schema && colon
            ? lyplg_type_identity_module(LYD_CTX(filter), NULL, value, (size_t)(colon - value),
                                         opaque->format, opaque->val_prefix_data)
            : NULL;
    if (module) {
        char *named = must_format("%s%s", module->name, colon);
        free(value);
        value = named;
    }
    if (schema && schema->nodetype & LYD_NODE_TERM &&
        !lyd_value_validate(LYD_CTX(filter), schema, value, strlen(value), NULL, NULL, &found)) {
        free(value);
        value = must_copy(found);
        lydict_remove(LYD_CTX(filter), found);
    }
    return value;
}

static void set_value(struct lyd_node *filter, const char *value) {
    struct lyd_node_opaq *opaque = (struct lyd_node_opaq *)filter;
    const char *kept = NULL;
    if (filter->schema) {
        lyd_change_term(filter, value); /* fails where the type does not allow it */
    } else if (!lydict_insert(LYD_CTX(filter), value, 0, &kept)) {
        lydict_remove(LYD_CTX(filter), opaque->value);
        opaque->value = kept;
    }
}

static void make_canonical(struct lyd_node *siblings, const struct lysc_node *parent) {
    struct lyd_node *filter;
    LY_LIST_FOR(siblings, filter) {
        const struct lysc_node *schema = schema_of(filter, parent);
        if (lyd_child(filter)) {
            make_canonical(lyd_child(filter), schema);
        } else if (!filter->schema || filter->schema->nodetype & LYD_NODE_TERM) {
            char *value = canonical(filter, schema);
            set_value(filter, value);
            free(value);
        }
    }
}

struct lyd_node *subtree_of(const struct lyd_node *filter) {
    const struct lyd_node_any *any = (const struct lyd_node_any *)filter;
    struct lyd_node *tree = any && any->value_type == LYD_ANYDATA_DATATREE ? any->value.tree : NULL;
    if (tree) {
        make_canonical(tree, NULL);
        ly_err_clean((struct ly_ctx *)LYD_CTX(tree), NULL);
    }
    return tree;
}

static bool goes_on(struct search *search) {
    struct pollfd client = {.fd = search->session->wire.socket};
    search->too_long = search->too_long || ++search->work > MOST_WORK;
    if (search->work % LOOK_EVERY == 0) {
        search->left = poll(&client, 1, 0) > 0;
    }
    return !search->too_long && !search->left;
}

static bool matches_content(struct search *search, const struct lyd_node *filter,
                            const struct lyd_node *parent) {
    const struct lyd_node *child;
    LY_LIST_FOR(lyd_child(parent), child) {
        if (!goes_on(search)) {
            return false;
        }
        if (is_of(filter, child->schema) && child->schema->nodetype & LYD_NODE_TERM &&
            !strcmp(lyd_get_value(filter), lyd_get_value(child))) {
            return true;
        }
    }
    return false;
}

static void add_key(struct text *text, const struct lysc_node *key, const char *value) {
    const char quote = strchr(value, '\'') ? '"' : '\'';
    text_printf(text, "[%s=%c%s%c]", key->name, quote, value, quote);
}

/* The entry whose keys are all given; NULL: there is none. False: they are not all given. */
static bool find_entry(const struct lyd_node *filter, const struct lyd_node *siblings,
                       const struct lysc_node *schema, struct lyd_node **entry) {
    const bool is_keyed = schema->nodetype == LYS_LIST && !(schema->flags & LYS_KEYLESS);
    const struct lysc_node *key = is_keyed ? lys_getnext(NULL, schema, NULL, 0) : NULL;
    const struct lyd_node *child;
    struct text keys = {0};
    bool all = is_keyed;
    for (; all && key && lysc_is_key(key); key = lys_getnext(key, schema, NULL, 0)) {
        all = false;
        LY_LIST_FOR(lyd_child(filter), child) {
            if (!strcmp(LYD_NAME(child), key->name) && has_value(child)) {
                add_key(&keys, key, lyd_get_value(child));
                all = true;
                break;
            }
        }
    }
    *entry = NULL;
    if (all && lyd_find_sibling_val(siblings, schema, keys.bytes, keys.length, entry)) {
        *entry = NULL;
        ly_err_clean((struct ly_ctx *)LYD_CTX(filter), NULL);
    }
    text_free(&keys);
    return all;
}

static void select_siblings(struct search *search, const struct lyd_node *filters,
                            struct lyd_node *siblings);

/* An instance of the filter's node: section 6.2.3 to 6.2.5. */
static void select_instance(struct search *search, const struct lyd_node *filter,
                            struct lyd_node *node) {
    const struct lyd_node *child;
    bool only_content = true;
    LY_LIST_FOR(lyd_child(filter), child) {
        if (!has_value(child)) {
            only_content = false;
        } else if (!matches_content(search, child, node)) {
            return;
        }
    }
    if (only_content) {
        prune_mark(node);
    } else {
        select_siblings(search, lyd_child(filter), lyd_child(node));
    }
}

static void select_node(struct search *search, const struct lyd_node *filter,
                        struct lyd_node *node) {
    const bool is_term = node->schema->nodetype & LYD_NODE_TERM;
    if (!has_value(filter)) {
        if (!lyd_child(filter)) {
            prune_mark(node);
        } else if (!is_term) {
            select_instance(search, filter, node);
        }
    } else if (is_term && !strcmp(lyd_get_value(filter), lyd_get_value(node))) {
        prune_mark(node);
    }
}

static void select_siblings(struct search *search, const struct lyd_node *filters,
                            struct lyd_node *siblings) {
    const struct lyd_node *filter;
    struct lyd_node *node, *entry;
    LY_LIST_FOR(filters, filter) {
        bool looked = false;
        LY_LIST_FOR(siblings, node) {
            if (!goes_on(search)) {
                return;
            }
            if (!is_of(filter, node->schema) || prune_is_marked(node)) {
                continue;
            }
            if (!looked && find_entry(filter, siblings, node->schema, &entry)) {
                if (entry) {
                    select_node(search, filter, entry);
                }
                break;
            }
            looked = true;
            select_node(search, filter, node);
        }
    }
}

struct reply *subtree_select(const struct session *session, const struct lyd_node *subtree,
                             struct lyd_node **tree) {
    struct search search = {.session = session};
    select_siblings(&search, subtree, *tree);
    prune(tree, 0);
    if (search.too_long) {
        return reply_error("too-big", "application",
                           "filter: it compares more than %u nodes; name keys, or ask for less at "
                           "a time",
                           MOST_WORK);
    }
    return search.left ? reply_error("operation-failed", "application",
                                     "filter: its client left; send it again")
                       : NULL;
}

/* Add the keys that the filter gives of a list, and count them. The one child that goes on from
 * there; NULL: it ends there, or there are several, or conditions on what is no key. */
static const struct lyd_node *add_keys(const struct lyd_node *filter,
                                       const struct lysc_node *schema, struct text *paths,
                                       unsigned *keys) {
    const struct lyd_node *child, *found = NULL;
    bool one = true;
    LY_LIST_FOR(lyd_child(filter), child) {
        if (!has_value(child)) {
            one = one && !found;
            found = child;
            continue;
        }
        const struct lysc_node *key = schema_of(child, schema);
        if (!key || !lysc_is_key(key)) {
            one = false;
        } else if ((*keys)++ < MOST_KEYS) {
            add_key(paths, key, lyd_get_value(child));
        }
    }
    return one ? found : NULL;
}

/* Add the path as far down as there is one way only, to one place (see xpath_root). */
static void add_path(const struct lyd_node *filter, struct text *paths) {
    const struct lysc_node *schema, *parent = NULL;
    const size_t before = paths->length;
    text_puts(paths, before ? " | " : "");
    while (filter) {
        schema = schema_of(filter, parent);
        if (!schema) {
            text_cut(paths, before);
            return;
        }
        const bool is_inherited = parent && parent->module == schema->module;
        const size_t above = paths->length;
        unsigned keys = 0;
        text_printf(paths, "/%s%s%s", is_inherited ? "" : schema->module->name,
                    is_inherited ? "" : ":", schema->name);
        filter = schema->nodetype & (LYS_CONTAINER | LYS_LIST)
                     ? add_keys(filter, schema, paths, &keys)
                     : NULL;
        const bool is_single = schema->nodetype == LYS_LIST ? keys && keys == xpath_keys_of(schema)
                                                            : schema->nodetype != LYS_LEAFLIST;
        if (parent && !is_single) {
            text_cut(paths, above);
            return;
        }
        parent = schema;
    }
}

char *subtree_path(const struct lyd_node *subtree) {
    const struct lyd_node *filter;
    struct text paths = {0};
    unsigned count = 0;
    LY_LIST_FOR(subtree, filter) {
        const struct lyd_node_opaq *opaque = (const struct lyd_node_opaq *)filter;
        if ((!filter->schema && !opaque->name.module_ns) || count++ == MOST_PATHS) {
            text_free(&paths);
            return must_copy("/*");
        }
        add_path(filter, &paths);
    }
    if (!paths.length) {
        text_free(&paths);
    }
    return paths.bytes;
}
