/* Subtree filters, RFC 6241 section 6. */
#ifndef SUBTREE_H
#define SUBTREE_H

#include <libyang/libyang.h>

#include "reply.h"
#include "session.h"

/* The nodes below a <filter>, or an anydata that is one, values in canonical form without blanks
 * around them (section 6.2.5); NULL: it is empty, and selects nothing. */
struct lyd_node *subtree_of(const struct lyd_node *filter);

/* A union of plain paths to all that it may select; NULL: the model has no such nodes. */
char *subtree_path(const struct lyd_node *subtree);

/* Leave in *tree what it selects. Work is the product of the nodes of one level of data and of the
 * filter, where no keys are given. NULL, or the rejection: it would be too much, or the client of
 * the session left. */
struct reply *subtree_select(const struct session *session, const struct lyd_node *subtree,
                             struct lyd_node **tree);

#endif
