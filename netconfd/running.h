/* Changes of the running configuration, which srv6mgrd makes. NULL when it is done. */
#ifndef RUNNING_H
#define RUNNING_H

#include <libyang/libyang.h>

#include "reply.h"
#include "session.h"

/* An edit with the operations of RFC 6241 section 7.2 in it. */
struct reply *running_edit(struct session *session, const struct lyd_node *edit,
                           const char *default_operation);

/* configuration NULL: none. */
struct reply *running_replace(struct session *session, const struct lyd_node *configuration);

/* source: startup or candidate; base: the revision that it was made from, "" when that does not
 * matter; commit: name of the confirmed commit that this is part of, or "". */
struct reply *running_copy(struct session *session, const char *source, const char *base,
                           const char *commit);

/* Name of what is running now; NULL: srv6mgrd does not say it. Owned by the caller. */
char *running_revision(struct session *session);

#endif
