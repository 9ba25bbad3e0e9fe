/* Whose a client's certificate is, RFC 7407 (ietf-x509-cert-to-name). */
#ifndef IDENTITY_H
#define IDENTITY_H

#include <openssl/x509.h>
#include <stdbool.h>

#include "settings.h"

/* Name of the user; owned by the caller. chain has been verified, and begins with the client's own
 * certificate. NULL: no entry fits and gives one. *specified: the settings say the name, not the
 * certificate. */
char *identity_user(const struct settings *settings, STACK_OF(X509) * chain, bool *specified);

/* The subject of a certificate, in RFC 2253 form; owned by the caller. */
char *identity_subject(const X509 *certificate);

#endif
