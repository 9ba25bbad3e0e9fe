/* The parameters of RPCs, read from their libyang tree.
 *
 * Functions that can reject return the rejection, and NULL when all is well.
 */
#ifndef REQUEST_H
#define REQUEST_H

#include <libyang/libyang.h>
#include <stdbool.h>
#include <sysrepo.h>

#include "reply.h"
#include "session.h"

/* A commit takes as long as the kernel and FRR need. */
#define COMMIT_TIMEOUT_MS 600000
#define READ_TIMEOUT_MS 60000

/* The child of that name; NULL: there is none. */
const struct lyd_node *request_child(const struct lyd_node *rpc, const char *name);

/* Value of a leaf, NULL when it is absent. request_name: without the module of an identity. */
const char *request_value(const struct lyd_node *rpc, const char *name);
const char *request_name(const struct lyd_node *rpc, const char *name);

/* The datastore that source or target names; *inline_config: it is <config> instead. */
struct reply *request_datastore(const struct lyd_node *rpc, const char *parameter,
                                sr_datastore_t *datastore, const struct lyd_node **inline_config);

/* The datastore identity of NMDA's RPCs. */
struct reply *request_nmda_datastore(const struct lyd_node *rpc, const char *parameter,
                                     sr_datastore_t *datastore);

/* LYD_PRINT_WD_*. */
uint32_t request_with_defaults(const struct lyd_node *rpc);

/* The configuration in an anyxml or anydata; it is taken out of the RPC. */
struct reply *request_config(struct session *session, const struct lyd_node *node,
                             struct lyd_node **config);

#endif
