#include "secure.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../log.h"
#include "../text.h"
#include "identity.h"

#define HANDSHAKE_MS 10000

/* What is wrong with the client's certificate. Each connection has a process of its own. */
static char *rejected;

static int look(int verified, X509_STORE_CTX *store) {
    if (!verified) {
        const X509 *at = X509_STORE_CTX_get_current_cert(store);
        char *subject = at ? identity_subject(at) : must_copy("(none)");
        int error = X509_STORE_CTX_get_error(store);
        free(rejected);
        rejected = must_format("certificate %s: %s; let its client show one that is valid and that "
                               "a CA of client-ca has signed",
                               subject, X509_verify_cert_error_string(error));
        free(subject);
    }
    return verified;
}

static SSL_CTX *unusable(SSL_CTX *context, const char *keyword, const char *path) {
    const char *reason = ERR_reason_error_string(ERR_peek_last_error());
    if (ERR_GET_LIB(ERR_peek_error()) == ERR_LIB_SYS) {
        reason = strerror(ERR_GET_REASON(ERR_peek_error()));
    }
    log_error("%s %s: %s; name a PEM file that fits", keyword, path,
              reason ? reason : "it can't be used");
    ERR_clear_error();
    SSL_CTX_free(context);
    return NULL;
}

static int load_crl(SSL_CTX *context, const char *path) {
    X509_STORE *store = SSL_CTX_get_cert_store(context);
    X509_LOOKUP *lookup = X509_STORE_add_lookup(store, X509_LOOKUP_file());
    if (!lookup || X509_load_crl_file(lookup, path, X509_FILETYPE_PEM) <= 0) {
        return -1;
    }
    X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL);
    return 0;
}

SSL_CTX *secure_context(const struct settings *settings) {
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    ERR_clear_error();
    if (!context || !SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION)) {
        return unusable(context, "OpenSSL", "TLS 1.2");
    }
    /* A session that is resumed would show no certificate. */
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_num_tickets(context, 0);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, look);
    if (SSL_CTX_use_certificate_chain_file(context, settings->certificate) != 1) {
        return unusable(context, "certificate", settings->certificate);
    }
    if (SSL_CTX_use_PrivateKey_file(context, settings->key, SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_check_private_key(context) != 1) {
        return unusable(context, "key", settings->key);
    }
    STACK_OF(X509_NAME) *names = SSL_load_client_CA_file(settings->client_ca);
    if (!names || SSL_CTX_load_verify_file(context, settings->client_ca) != 1) {
        sk_X509_NAME_pop_free(names, X509_NAME_free);
        return unusable(context, "client-ca", settings->client_ca);
    }
    SSL_CTX_set_client_CA_list(context, names);
    if (settings->crl && load_crl(context, settings->crl)) {
        return unusable(context, "crl", settings->crl);
    }
    return context;
}

static void explain(const char *who, int error) {
    unsigned long first = ERR_peek_error();
    const char *reason = ERR_reason_error_string(first);
    if (rejected) {
        log_error("%s: %s", who, rejected);
    } else if (ERR_GET_REASON(first) == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE) {
        log_error("%s: it shows no certificate; give it one that a CA of client-ca has signed",
                  who);
    } else if (ERR_GET_REASON(first) == SSL_R_TLSV1_ALERT_UNKNOWN_CA) {
        log_error("%s: it does not trust our certificate; give it the CA that has signed that",
                  who);
    } else if (reason) {
        log_error("%s: TLS fails: %s; see that it speaks TLS 1.2 or 1.3 here", who, reason);
    } else {
        log_error("%s: it ended the connection within the handshake%s%s; see its log", who,
                  error == SSL_ERROR_SYSCALL && errno ? ": " : "",
                  error == SSL_ERROR_SYSCALL && errno ? strerror(errno) : "");
    }
    ERR_clear_error();
}

static int milliseconds_left(const struct timespec *end) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long left = (end->tv_sec - now.tv_sec) * 1000 + (end->tv_nsec - now.tv_nsec) / 1000000;
    return left > 0 ? (int)left : 0;
}

SSL *secure_accept(SSL_CTX *context, int socket, const char *who) {
    SSL *ssl = SSL_new(context);
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += HANDSHAKE_MS / 1000;
    if (!ssl || !SSL_set_fd(ssl, socket)) {
        log_error("%s: OpenSSL has no memory left; see what takes it", who);
        SSL_free(ssl);
        return NULL;
    }
    for (;;) {
        ERR_clear_error();
        errno = 0;
        int done = SSL_accept(ssl);
        if (done == 1) {
            return ssl;
        }
        int error = SSL_get_error(ssl, done);
        if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) {
            explain(who, error);
            break;
        }
        struct pollfd wanted = {.fd = socket,
                                .events = error == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT};
        if (poll(&wanted, 1, milliseconds_left(&end)) == 0) {
            log_error("%s: no handshake within %d s; see that it speaks TLS", who,
                      HANDSHAKE_MS / 1000);
            break;
        }
    }
    SSL_free(ssl);
    return NULL;
}
