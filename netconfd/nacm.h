/* The configuration of NACM (RFC 8341), and its rules for a user. */
#ifndef NACM_H
#define NACM_H

#include <libyang/libyang.h>
#include <stdbool.h>
#include <sysrepo.h>

#include "text.h"

struct nacm {
    sr_session_ctx_t *sr;
    sr_data_t *data;
    const struct lyd_node *tree;
};

/* Read the container nacm, under no rules; false: sysrepo can't. To be freed either way. */
bool nacm_read(struct nacm *nacm);
void nacm_free(struct nacm *nacm);

/* Value of a leaf below, "" where it is absent. */
const char *nacm_value(const struct lyd_node *node, const char *name);

/* Call visit for each rule that is for one of the user's groups, in order. */
typedef void nacm_visit(const struct lyd_node *rule, void *data);
void nacm_rules(const struct nacm *nacm, const char *user, nacm_visit *visit, void *data);

#endif
