/* Which node of an edit sysrepo refused: it tells the node's name, but not where it stands. */
#ifndef ERROR_PATH_H
#define ERROR_PATH_H

#include <sysrepo.h>

#include "reply.h"

/* Give errors without a path, which are that data exist or are missing, path and words.
 * sr: of the datastore that the edit was meant for. */
void error_path_set(struct reply *reply, sr_session_ctx_t *sr, const struct lyd_node *edit,
                    const char *default_operation);

#endif
