/* The one commit clock of all doors, which is srv6mgrd's (docs/adr/0011). */
#ifndef CLOCK_H
#define CLOCK_H

#include "reply.h"
#include "session.h"

/* The commit that awaits confirmation. */
struct pending {
    char *name, *door, *user, *deadline; /* owned; name, known to all, NULL: none does */
};

void clock_read(struct pending *pending);
void clock_pending_free(struct pending *pending);

/* The rejection of what has to wait for it. */
struct reply *clock_in_use(const struct pending *pending);

/* Its RPCs, by the token of the commit, which is a secret. NULL when it is done. */
struct reply *clock_call(const char *rpc, const char *token);

/* name: what everybody may call it; NULL: srv6mgrd makes one. */
struct reply *clock_begin(const char *token, const char *name, uint32_t seconds);

/* new_token NULL: it keeps the one it has. */
struct reply *clock_extend(const char *token, uint32_t seconds, const char *new_token);

/* A new token, and the name of the commit of a session that does not outlive it; owned by the
 * caller. */
char *clock_token(void);
char *clock_name(const struct session *session);

bool clock_is_of_session(const struct pending *pending, const struct session *session);

/* The token is that of the commit that awaits confirmation. */
bool clock_is_of_token(const char *token);

/* Undo what the session did not confirm. */
void clock_session_ends(const struct session *session);

/* Undo what sessions of a former process did not confirm. */
void clock_forsake(void);

#endif
