/* The commit socket of srv6mgrd, which makes all changes of the running configuration
 * (docs/adr/0024). Messages as in srv6mgrd/commits/fields.py. */
#ifndef COMMITS_H
#define COMMITS_H

#include <stddef.h>

#include "reply.h"
#include "session.h"

void commits_at(const char *path);

/* Whether nobody listens there. */
bool commits_is_absent(void);

/* A request by a session, under the access rules for its user; NULL: by the server itself. */
struct text commits_request(const struct session *session, const char *name);
void commits_put(struct text *request, const char *name, const char *value);

/* Send it, which spends it, and wait for the answer: NULL and the answer, which the caller frees,
 * or why it failed. It ends when srv6mgrd dies or gives no sign of life, and when the client of the
 * session leaves. */
struct reply *commits_ask(struct session *session, struct text *request, struct text *answer);

/* A field of an answer; NULL: it has none. A NUL follows it: that of the text, or the first byte of
 * the length of the next name. */
const char *commits_field(const struct text *answer, const char *name, size_t *length);

/* Errors in srv6mgrd's words; NULL: it does not answer. */
struct failure;
struct reply *commits_message(const struct failure *all, size_t count);

/* The lock on running, which lasts as long as the session or until it is released. *answer names
 * the holder when it is denied. */
struct reply *commits_lock(struct session *session, struct text *answer);
struct reply *commits_unlock(struct session *session);

/* Wait for data of the client. Meanwhile a lock that ended with its srv6mgrd is taken from the next
 * one; the session ends when another has it by then. */
void commits_keep_lock(struct session *session);

#endif
