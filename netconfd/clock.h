/* The one commit clock of all doors, which is srv6mgrd's (docs/adr/0011). */
#ifndef CLOCK_H
#define CLOCK_H

#include "reply.h"
#include "session.h"

/* The commit that awaits confirmation. */
struct pending {
    char *name, *door, *user, *deadline; /* owned; name NULL: none does */
};

void clock_read(struct pending *pending);
void clock_pending_free(struct pending *pending);

/* Its RPCs, by name: commit with seconds, confirm and cancel with 0.
 * NULL when it is done. */
struct reply *clock_call(const char *rpc, const char *name, uint32_t seconds);

/* The RPC extend; new_name NULL: it keeps its name. */
struct reply *clock_extend(const char *name, uint32_t seconds, const char *new_name);

/* Whether no commit awaits confirmation; of none of the session's own. Much quicker than to read
 * which, for which sysrepo loads the whole configuration. */
bool clock_is_idle(const struct session *session);

/* Name of the commit of a session that does not outlive it; owned by the caller. */
char *clock_name(const struct session *session);
bool clock_is_of_session(const char *name);

/* Undo what the session did not confirm. */
void clock_session_ends(const struct session *session);

/* Undo what sessions of a former process did not confirm. */
void clock_forsake(void);

#endif
