/* What a request wants of a datastore: everything, or what a subtree or XPath filter selects.
 *
 * Whatever the filter, sysrepo is asked for plain paths only, as it holds its locks meanwhile; the
 * rest is done on what it gave, when the locks are released.
 */
#ifndef FILTER_H
#define FILTER_H

#include <libyang/libyang.h>

#include "reply.h"
#include "session.h"

struct filter {
    struct lyd_node *subtree;
    char *xpath; /* NULL: it is a subtree filter */
    char *path;  /* what to ask sysrepo for; NULL: nothing, as nothing is selected */
    bool plain;  /* xpath is plain, and path what it begins with */
};

/* Functions that can reject return the rejection, NULL when all is well. */

/* The <filter> of RFC 6241, or none, which selects everything. */
struct reply *filter_of(const struct session *session, const struct lyd_node *rpc,
                        struct filter *filter);

/* The filter of RFC 8526, 8639 and 8641: leaf KINDxpath-filter, anydata KINDsubtree-filter, or
 * neither. */
struct reply *filter_of_kind(const struct session *session, const struct lyd_node *rpc,
                             const char *kind, struct filter *filter);

struct reply *filter_of_xpath(const struct session *session, const char *xpath,
                              struct filter *filter);

/* An XPath expression that selects the same, for what is evaluated by sysrepo; NULL: nothing is
 * selected, or it would be too long. */
char *filter_xpath(const struct session *session, const struct filter *filter);

bool filter_is_everything(const struct filter *filter);

/* The same for what sysrepo evaluates at each event; NULL when that is everything. The rejection
 * says that it may cost too much. */
struct reply *filter_bounded(const struct session *session, const struct filter *filter,
                             char **xpath);

/* Leave in *tree, which path selected, what the filter selects, to so many levels (0: all). */
struct reply *filter_apply(const struct session *session, const struct filter *filter,
                           uint32_t depth, struct lyd_node **tree);

void filter_free(struct filter *filter);

#endif
