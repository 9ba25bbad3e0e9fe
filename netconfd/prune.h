/* What a filter selects of a tree: nodes are marked, then all others removed. */
#ifndef PRUNE_H
#define PRUNE_H

#include <libyang/libyang.h>
#include <stdbool.h>
#include <stdint.h>

/* With all that is below. */
void prune_mark(struct lyd_node *node);
bool prune_is_marked(const struct lyd_node *node);

/* Keep what is marked, what it is in, and the keys of that; depth: so many levels of what is
 * marked, 0 is all. Linear. */
void prune(struct lyd_node **tree, uint32_t depth);

#endif
