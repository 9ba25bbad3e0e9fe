/* The TLS of a connection in which we are the server, RFC 7589. */
#ifndef SECURE_H
#define SECURE_H

#include <openssl/ssl.h>

#include "settings.h"

/* What all connections share; NULL: a file can't be used, which is logged. */
SSL_CTX *secure_context(const struct settings *settings);

/* The handshake on a non-blocking socket, with a client whose certificate is verified. who is for
 * the log. NULL: it failed, which is logged. */
SSL *secure_accept(SSL_CTX *context, int socket, const char *who);

#endif
