#include "prune.h"

static char mark;

void prune_mark(struct lyd_node *node) {
    node->priv = &mark;
}

bool prune_is_marked(const struct lyd_node *node) {
    return node->priv == &mark;
}

/* left: levels below the node. A marked node starts over. */
static void cut(struct lyd_node *node, uint32_t depth, uint32_t left) {
    struct lyd_node *child, *next;
    LY_LIST_FOR_SAFE(lyd_child_no_keys(node), next, child) {
        if (prune_is_marked(child)) {
            cut(child, depth, depth - 1);
        } else if (left) {
            cut(child, depth, left - 1);
        } else {
            lyd_free_tree(child);
        }
    }
}

/* Whether anything of it is kept. */
static bool keeps(struct lyd_node *node, uint32_t depth) {
    struct lyd_node *child, *next;
    if (prune_is_marked(node)) {
        if (depth) {
            cut(node, depth, depth - 1);
        }
        return true;
    }
    bool any = false;
    LY_LIST_FOR_SAFE(lyd_child(node), next, child) {
        if (lysc_is_key(child->schema)) {
            any = any || prune_is_marked(child);
        } else if (keeps(child, depth)) {
            any = true;
        } else {
            lyd_free_tree(child);
        }
    }
    return any;
}

void prune(struct lyd_node **tree, uint32_t depth) {
    struct lyd_node *node, *next;
    LY_LIST_FOR_SAFE(*tree, next, node) {
        if (!keeps(node, depth)) {
            *tree = *tree == node ? next : *tree;
            lyd_free_tree(node);
        }
    }
}
