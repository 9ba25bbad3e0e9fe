/* The one commit coordinator of all northbounds, which is srv6mgrd's (docs/adr/0011). */
#ifndef CONFIRMED_H
#define CONFIRMED_H

#include "reply.h"
#include "session.h"

/* The commit that awaits confirmation. */
struct pending {
    char *name, *northbound, *user, *deadline; /* owned; name, known to all, NULL: none does */
};

void confirmed_read(struct pending *pending);
void confirmed_pending_free(struct pending *pending);

/* The rejection of what has to wait for it. */
struct reply *confirmed_in_use(const struct pending *pending);

/* Its RPCs, by the token of the commit, which is a secret. NULL when it is done. */
struct reply *confirmed_call(const char *rpc, const char *token);

/* name: what everybody may call it; NULL: srv6mgrd makes one. */
struct reply *confirmed_begin(const char *token, const char *name, uint32_t seconds);

/* new_token NULL: it keeps the one it has. */
struct reply *confirmed_extend(const char *token, uint32_t seconds, const char *new_token);

/* A new token, and the name of the commit of a session that does not outlive it; owned by the
 * caller. */
char *confirmed_token(void);
char *confirmed_name(const struct session *session);

bool confirmed_is_of_session(const struct pending *pending, const struct session *session);

/* The token is that of the commit that awaits confirmation. */
bool confirmed_is_of_token(const char *token);

/* Undo what the session did not confirm. */
void confirmed_session_ends(const struct session *session);

/* Undo what sessions of a former process did not confirm. */
void confirmed_forsake(void);

#endif
