/* The connections: each has a process and a place. */
#ifndef PLACES_H
#define PLACES_H

#include <openssl/x509.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "settings.h"

#define MOST_CLIENTS 512

struct place;

/* Before any other; 0, or -1, which is logged. */
int places_start(void);

/* A place for a client at that address. When it has too many connections, or there is no room, the
 * oldest that has not authenticated of the client with the most of them is ended for it. NULL:
 * nobody gave way, which is logged. who is for the log. */
struct place *place_take(const struct sockaddr_storage *from, const struct settings *settings,
                         const char *who);

/* Its process; -1: there is none, and the place is free again. */
void place_assign(struct place *place, pid_t process);

/* In the process: the client has authenticated, by a chain that begins with its certificate. place
 * may be NULL. 0, or -1: the chain is too long. */
int place_authenticated(struct place *place, STACK_OF(X509) * chain);

/* A process has ended; it need not be one of these. */
void place_left(pid_t process);

/* To be called each PLACES_CHECK_MS: end the connections of certificates that have expired, or that
 * client-ca and crl, as they are now, no longer accept. */
#define PLACES_CHECK_MS 2000
void places_check(const struct settings *settings);

void places_end(void);

#endif
