/* Which node of an edit sysrepo rejected: it reports the node's name, but not its path. */
#ifndef ERROR_PATH_H
#define ERROR_PATH_H

#include <sysrepo.h>

#include "reply.h"

/* The errors of the session's last call, of an edit that it did not make, which is discarded. */
struct reply *error_path_problem(sr_session_ctx_t *sr, const struct lyd_node *edit,
                                 const char *default_operation);

/* Give errors of srv6mgrd without a path, which are that data exist or are missing, path and
 * message. sr: of the datastore that the edit was meant for. */
void error_path_set(struct reply *reply, sr_session_ctx_t *sr, const struct lyd_node *edit,
                    const char *default_operation);

#endif
