#include "places.h"

#include <errno.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "../log.h"
#include "identity.h"
#include "secure.h"

#define MOST_CHAIN 16384
#define EXPIRY_SECONDS 60

/* What a process reports, in memory that it shares with us. */
struct report {
    atomic_bool authenticated;
    uint32_t length;
    unsigned char chain[MOST_CHAIN]; /* certificates as DER, one behind the other */
};

struct place {
    pid_t process;         /* 0: free */
    unsigned long arrival; /* in order */
    unsigned char
        client[9]; /* family and address; of IPv6 the /64, which is one site's (RFC 6177) */
    struct report *report;
};

/* A file as it was when it was looked at last. */
struct stamp {
    struct timespec changed;
    off_t size;
    ino_t number;
};

static struct place places[MOST_CLIENTS];
static unsigned long arrivals;

int places_start(void) {
    struct report *reports = mmap(NULL, sizeof(struct report) * MOST_CLIENTS,
                                  PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (reports == MAP_FAILED) {
        log_error("memory: %s; see what takes it", strerror(errno));
        return -1;
    }
    for (size_t i = 0; i < MOST_CLIENTS; i++) {
        places[i].report = &reports[i];
    }
    return 0;
}

static void client_of(const struct sockaddr_storage *from, unsigned char *client) {
    memset(client, 0, sizeof places->client);
    client[0] = (unsigned char)from->ss_family;
    if (from->ss_family == AF_INET) {
        memcpy(client + 1, &((const struct sockaddr_in *)from)->sin_addr, 4);
    } else if (from->ss_family == AF_INET6) {
        const struct in6_addr *address = &((const struct sockaddr_in6 *)from)->sin6_addr;
        if (IN6_IS_ADDR_V4MAPPED(address)) {
            client[0] = AF_INET;
            memcpy(client + 1, address->s6_addr + 12, 4);
        } else if (IN6_IS_ADDR_LINKLOCAL(address)) {
            memcpy(client + 1, address->s6_addr + 8, 8);
        } else {
            memcpy(client + 1, address->s6_addr, 8);
        }
    }
}

static bool is_of(const struct place *place, const unsigned char *client) {
    return place->process && !memcmp(place->client, client, sizeof place->client);
}

static bool is_waiting(const struct place *place) {
    return place->process && !atomic_load(&place->report->authenticated);
}

static size_t count(const unsigned char *client, bool waiting_only) {
    size_t found = 0;
    for (size_t i = 0; i < MOST_CLIENTS; i++) {
        found += is_of(&places[i], client) && (!waiting_only || is_waiting(&places[i]));
    }
    return found;
}

/* The oldest that has not authenticated, of this client; NULL: of the one with the most of them. */
static struct place *oldest(const unsigned char *client) {
    struct place *found = NULL;
    size_t most = 0;
    for (size_t i = 0; !client && i < MOST_CLIENTS; i++) {
        size_t its = is_waiting(&places[i]) ? count(places[i].client, true) : 0;
        if (its > most) {
            most = its;
            client = places[i].client;
        }
    }
    for (size_t i = 0; client && i < MOST_CLIENTS; i++) {
        if (is_waiting(&places[i]) && is_of(&places[i], client) &&
            (!found || places[i].arrival < found->arrival)) {
            found = &places[i];
        }
    }
    return found;
}

static struct place *free_place(void) {
    for (size_t i = 0; i < MOST_CLIENTS; i++) {
        if (!places[i].process) {
            return &places[i];
        }
    }
    return NULL;
}

struct place *place_take(const struct sockaddr_storage *from, const struct settings *settings,
                         const char *who) {
    unsigned char client[sizeof places->client];
    client_of(from, client);
    struct place *taken = free_place(), *gives_way = NULL;
    if (count(client, false) >= settings->most_per_peer) {
        taken = gives_way = oldest(client);
    } else if (!taken) {
        taken = gives_way = oldest(NULL);
    }
    if (!taken) {
        log_error("%s: rejected: it has %zu connections, and %d are open at most; close some, or "
                  "raise max-connections-per-peer",
                  who, count(client, false), MOST_CLIENTS);
        return NULL;
    }
    if (gives_way) {
        log_info("%s: an older connection that did not authenticate is ended for it", who);
        kill(gives_way->process, SIGKILL);
        waitpid(gives_way->process, NULL, 0);
    }
    taken->process = -1;
    taken->arrival = ++arrivals;
    memcpy(taken->client, client, sizeof client);
    taken->report->length = 0;
    atomic_store(&taken->report->authenticated, false);
    return taken;
}

void place_assign(struct place *place, pid_t process) {
    place->process = process > 0 ? process : 0;
}

int place_authenticated(struct place *place, STACK_OF(X509) * chain) {
    if (!place) {
        return 0;
    }
    struct report *report = place->report;
    size_t length = 0;
    for (int i = 0; i < sk_X509_num(chain); i++) {
        unsigned char *der = NULL;
        int size = i2d_X509(sk_X509_value(chain, i), &der);
        if (size <= 0 || length + (size_t)size > MOST_CHAIN) {
            OPENSSL_free(der);
            return -1;
        }
        memcpy(report->chain + length, der, (size_t)size);
        length += (size_t)size;
        OPENSSL_free(der);
    }
    report->length = (uint32_t)length;
    atomic_store(&report->authenticated, true);
    return 0;
}

void place_left(pid_t process) {
    for (size_t i = 0; i < MOST_CLIENTS; i++) {
        if (places[i].process == process) {
            places[i].process = 0;
        }
    }
}

static STACK_OF(X509) * chain_of(const struct report *report) {
    STACK_OF(X509) *chain = sk_X509_new_null();
    const unsigned char *at = report->chain, *end = at + report->length;
    while (chain && at < end) {
        X509 *one = d2i_X509(NULL, &at, end - at);
        if (!one || !sk_X509_push(chain, one)) {
            X509_free(one);
            break;
        }
    }
    return chain;
}

/* Why it is not accepted; NULL: it is. */
static const char *problem_of(STACK_OF(X509) * chain, X509_STORE *store) {
    X509_STORE_CTX *context = X509_STORE_CTX_new();
    const char *problem = NULL;
    if (!context || !X509_STORE_CTX_init(context, store, sk_X509_value(chain, 0), chain) ||
        !X509_STORE_CTX_set_default(context, "ssl_client") || X509_verify_cert(context) != 1) {
        problem = X509_verify_cert_error_string(context ? X509_STORE_CTX_get_error(context)
                                                        : X509_V_ERR_OUT_OF_MEM);
    }
    X509_STORE_CTX_free(context);
    ERR_clear_error();
    return problem;
}

static void check(const struct place *place, X509_STORE *store) {
    STACK_OF(X509) *chain = chain_of(place->report);
    if (sk_X509_num(chain) > 0) {
        const char *problem = problem_of(chain, store);
        if (problem) {
            char *subject = identity_subject(sk_X509_value(chain, 0));
            log_error("certificate %s: %s; its session is ended", subject, problem);
            free(subject);
            kill(place->process, SIGTERM);
        }
    }
    sk_X509_pop_free(chain, X509_free);
}

/* Whether the file is another one than before. */
static bool has_changed(struct stamp *stamp, const char *path) {
    struct stat now;
    if (!path || stat(path, &now)) {
        return false;
    }
    const struct stamp found = {now.st_mtim, now.st_size, now.st_ino};
    bool same = found.changed.tv_sec == stamp->changed.tv_sec &&
                found.changed.tv_nsec == stamp->changed.tv_nsec && found.size == stamp->size &&
                found.number == stamp->number;
    *stamp = found;
    return !same;
}

void places_check(const struct settings *settings) {
    static struct stamp client_ca, crl;
    static time_t last;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    bool changed = has_changed(&client_ca, settings->client_ca);
    changed |= has_changed(&crl, settings->crl);
    if (!changed && now.tv_sec - last < EXPIRY_SECONDS) {
        return;
    }
    SSL_CTX *context = secure_context(settings);
    if (!context) {
        /* Half a file, say: it is looked at again. */
        client_ca = crl = (struct stamp){0};
        return;
    }
    last = now.tv_sec;
    for (size_t i = 0; i < MOST_CLIENTS; i++) {
        if (places[i].process > 0 && !is_waiting(&places[i])) {
            check(&places[i], SSL_CTX_get_cert_store(context));
        }
    }
    SSL_CTX_free(context);
}

void places_end(void) {
    for (size_t i = 0; i < MOST_CLIENTS; i++) {
        if (places[i].process > 0) {
            kill(places[i].process, SIGTERM);
        }
    }
}
