/* What srv6mgrd rejects though YANG has nothing against it: its plan for a configuration is asked
 * for, as the commit would. */
#ifndef JUDGE_H
#define JUDGE_H

#include <libyang/libyang.h>
#include <sysrepo.h>

#include "reply.h"

/* The rejection of a datastore's configuration after an edit, which may be NULL, with its default
 * operation. NULL: it would be carried out. */
struct reply *judge_datastore(sr_datastore_t datastore, const struct lyd_node *edit,
                              const char *default_operation);

/* The same of a whole configuration. */
struct reply *judge_tree(const struct lyd_node *configuration);

#endif
