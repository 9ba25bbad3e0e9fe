#include "changes.h"

#include <stdlib.h>
#include <string.h>

#include "text.h"

#define UPDATE "/ietf-yang-push:push-change-update"

static const char *const operations[CHANGES] = {"create", "delete", "replace"};

struct making {
    struct lyd_node *patch;
    const bool *excluded;
    uint32_t edits;
};

/* The change that the node of a difference is; CHANGES: it is none, but something below may be. */
static enum change change_of(const struct lyd_node *node) {
    const struct lyd_meta *meta = lyd_find_meta(node->meta, NULL, "yang:operation");
    const char *operation = meta ? lyd_get_meta_value(meta) : "none";
    for (enum change change = 0; change < CHANGES; change++) {
        if (!strcmp(operation, operations[change])) {
            return change;
        }
    }
    return CHANGES;
}

static void add_value(struct lyd_node *edit, const struct lyd_node *node) {
    struct lyd_node *value = NULL;
    char *xml = NULL;
    if (!lyd_dup_single(node, NULL, LYD_DUP_RECURSIVE | LYD_DUP_NO_META, &value) &&
        !lyd_print_mem(&xml, value, LYD_XML, LYD_PRINT_SHRINK | LYD_PRINT_WD_ALL)) {
        lyd_new_any(edit, NULL, "value", xml, LYD_ANYDATA_XML, 0, NULL);
    }
    free(xml);
    lyd_free_tree(value);
}

static void add_edit(struct making *making, const struct lyd_node *node, enum change change) {
    struct lyd_node *edit;
    char *name = must_format("edit-%u", ++making->edits);
    char *target = lyd_path(node, LYD_PATH_STD, NULL, 0);
    if (target && !lyd_new_list(making->patch, NULL, "edit", 0, &edit, name)) {
        lyd_new_term(edit, NULL, "operation", operations[change], 0, NULL);
        lyd_new_term(edit, NULL, "target", target, 0, NULL);
        if (change != CHANGE_DELETE) {
            add_value(edit, node);
        }
    }
    free(target);
    free(name);
}

static void add(struct making *making, const struct lyd_node *siblings) {
    const struct lyd_node *node;
    LY_LIST_FOR(siblings, node) {
        enum change change = change_of(node);
        if (change == CHANGES) {
            add(making, lyd_child_no_keys(node));
        } else if (!making->excluded[change]) {
            add_edit(making, node, change);
        }
    }
}

struct lyd_node *changes_between(const struct ly_ctx *context, const struct lyd_node *before,
                                 const struct lyd_node *after, const bool excluded[CHANGES],
                                 uint32_t subscription, uint32_t patch) {
    struct lyd_node *difference = NULL, *update = NULL, *id = NULL;
    char *number = must_format("%u", subscription), *name = must_format("patch-%u", patch);
    struct making making = {.excluded = excluded};
    if (!lyd_diff_siblings(before, after, 0, &difference) && difference &&
        !lyd_new_path(NULL, context, UPDATE "/id", number, 0, &update) &&
        !lyd_new_path(update, NULL, "datastore-changes/yang-patch/patch-id", name, 0, NULL) &&
        !lyd_find_path(update, "datastore-changes/yang-patch/patch-id", 0, &id)) {
        making.patch = lyd_parent(id);
        add(&making, difference);
    }
    lyd_free_siblings(difference);
    free(number);
    free(name);
    if (!making.edits) {
        lyd_free_all(update);
        return NULL;
    }
    return update;
}
