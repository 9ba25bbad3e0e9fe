/* The settings of srv6-netconf-tls: a file of lines, each a keyword and its values. */
#ifndef SETTINGS_H
#define SETTINGS_H

#include <openssl/evp.h>
#include <stdbool.h>
#include <stddef.h>

/* How a certificate names its user, RFC 7407 (ietf-x509-cert-to-name). */
enum map_type {
    MAP_SPECIFIED,
    MAP_RFC822_NAME,
    MAP_DNS_NAME,
    MAP_URI, /* not of RFC 7407: SPIFFE's, say */
    MAP_IP_ADDRESS,
    MAP_ANY,
    MAP_COMMON_NAME,
};

/* For certificates that have this fingerprint themselves or in the chain that leads to them. */
struct mapping {
    const EVP_MD *hash;
    unsigned char fingerprint[EVP_MAX_MD_SIZE];
    size_t length;
    enum map_type type;
    char *user; /* of MAP_SPECIFIED */
};

struct endpoint {
    char *host, *port;
};

#define MOST_ENDPOINTS 16
#define MOST_MAPPINGS 256

struct settings {
    struct endpoint listen[MOST_ENDPOINTS], call_home[MOST_ENDPOINTS];
    size_t listens, call_homes;
    char *certificate, *key, *client_ca; /* PEM files */
    char *crl;                           /* the same; NULL: none is looked at */
    char *socket;                        /* of srv6-netconfd */
    struct mapping mappings[MOST_MAPPINGS];
    size_t count;         /* of mappings, in order */
    size_t most_per_peer; /* connections of one address, or IPv6 /64 */
};

/* 0; or -1 when the file can't be used, which is logged. */
int settings_read(const char *path, struct settings *settings);

#endif
