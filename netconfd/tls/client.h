/* One client, in a process of its own. */
#ifndef CLIENT_H
#define CLIENT_H

#include "places.h"
#include "settings.h"

/* Serve a connected TCP socket until its session ends; who is its address. 0, or -1 when it got no
 * session, which is logged. The process becomes the client's user, for good. place is NULL for a
 * client that we called. */
int client_serve(const struct settings *settings, int socket, const char *who, struct place *place);

/* Connect to where a client waits for us (RFC 8071); the socket, or -1, which is logged. */
int client_call(const struct endpoint *endpoint);

/* As it is written: [2001:db8::1]:6513. Owned by the caller. */
char *client_name(const struct endpoint *endpoint);

#endif
