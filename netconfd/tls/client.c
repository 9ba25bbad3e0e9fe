#include "client.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "../address.h"
#include "../log.h"
#include "../text.h"
#include "identity.h"
#include "relay.h"
#include "secure.h"

#define CONNECT_MS 10000
#define MAPPED "::ffff:" /* RFC 4291 section 2.5.5.2 */

/* A client that vanished is noticed within two minutes (RFC 8071 section 4.1, C4 and S4). */
static void keep_alive(int socket) {
    const struct {
        int level, name, value;
    } options[] = {{SOL_SOCKET, SO_KEEPALIVE, 1},
                   {IPPROTO_TCP, TCP_KEEPIDLE, 60},
                   {IPPROTO_TCP, TCP_KEEPINTVL, 15},
                   {IPPROTO_TCP, TCP_KEEPCNT, 4},
                   {IPPROTO_TCP, TCP_NODELAY, 1}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        setsockopt(socket, options[i].level, options[i].name, &options[i].value, sizeof(int));
    }
}

static void make_unblocking(int socket) {
    fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK);
}

/* Who has a certificate may connect to the socket, of the socket's group or not. */
static int join_groups(const struct passwd *user, const char *path) {
    gid_t groups[NGROUPS_MAX];
    struct stat at;
    if (initgroups(user->pw_name, user->pw_gid)) {
        return -1;
    }
    int count = getgroups(NGROUPS_MAX - 1, groups);
    if (count >= 0 && count < NGROUPS_MAX && !stat(path, &at)) {
        groups[count++] = at.st_gid;
    }
    return count < 0 || setgroups((size_t)count, groups) ? -1 : 0;
}

static int reach_server(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(address.sun_path, path);
    int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (made >= 0 && connect(made, (struct sockaddr *)&address, sizeof address)) {
        int error = errno;
        close(made);
        errno = error;
        return -1;
    }
    return made;
}

/* The address of the client as numbers; one of IPv4 is written as such, also on an IPv6 socket. */
static void name_peer(int socket, char *host, size_t size) {
    struct sockaddr_storage from;
    socklen_t length = sizeof from;
    if (getpeername(socket, (struct sockaddr *)&from, &length) ||
        getnameinfo((struct sockaddr *)&from, length, host, (socklen_t)size, NULL, 0,
                    NI_NUMERICHOST)) {
        *host = '\0';
        return;
    }
    if (!strncmp(host, MAPPED, strlen(MAPPED)) && strchr(host, '.')) {
        memmove(host, host + strlen(MAPPED), strlen(host + strlen(MAPPED)) + 1);
    }
}

/* Become the user with a connection to srv6-netconfd, which asks the kernel who has connected, and
 * takes the client's address from root alone. -1: errno says why. */
static int become(const struct passwd *user, const char *path, int client) {
    const uid_t before = geteuid();
    char address[NI_MAXHOST] = "";
    name_peer(client, address, sizeof address);
    const bool changes = before != user->pw_uid;
    if (changes && (join_groups(user, path) || setegid(user->pw_gid) || seteuid(user->pw_uid))) {
        return -1;
    }
    int made = reach_server(path);
    int error = errno;
    if (changes && seteuid(before)) {
        _exit(1);
    }
    if (made >= 0 && !before && address_send(made, address)) {
        error = errno;
        close(made);
        made = -1;
    }
    if (changes && (setgid(user->pw_gid) || setuid(user->pw_uid))) {
        _exit(1);
    }
    errno = error;
    return made;
}

/* A socket of srv6-netconfd's in the name of the user; -1: rejected, which is logged. */
static int enter(const struct settings *settings, int client, const char *who, SSL *ssl,
                 struct place *place) {
    STACK_OF(X509) *chain = SSL_get0_verified_chain(ssl);
    char *subject = identity_subject(sk_X509_value(chain, 0));
    bool specified = false;
    char *name = identity_user(settings, chain, &specified);
    const struct passwd *user = name ? getpwnam(name) : NULL;
    int made = -1;
    if (!name) {
        log_error("%s: certificate %s: no cert-to-name gives it a user; add one", who, subject);
    } else if (!user) {
        log_error("%s: certificate %s: this system has no user %s; add it, or correct cert-to-name",
                  who, subject, name);
    } else if (user->pw_uid == 0 && !specified) {
        log_error("%s: certificate %s: root is named by the certificate alone; write it behind "
                  "specified in a cert-to-name",
                  who, subject);
    } else if (place_authenticated(place, chain)) {
        log_error("%s: certificate %s: its chain is longer than 16 kB; shorten it", who, subject);
    } else if ((made = become(user, settings->socket, client)) < 0) {
        log_error("%s: user %s: %s: %s; run srv6-netconf-tls as root, and see that srv6-netconfd "
                  "runs",
                  who, name, settings->socket, strerror(errno));
    } else {
        log_info("%s: user %s, by certificate %s", who, name, subject);
    }
    free(name);
    free(subject);
    return made;
}

int client_serve(const struct settings *settings, int socket, const char *who,
                 struct place *place) {
    /* Read again for each, so that a certificate is renewed by replacing its file. */
    SSL_CTX *context = secure_context(settings);
    keep_alive(socket);
    make_unblocking(socket);
    SSL *ssl = context ? secure_accept(context, socket, who) : NULL;
    int server = ssl ? enter(settings, socket, who, ssl, place) : -1;
    if (server >= 0) {
        make_unblocking(server);
        relay(ssl, socket, server);
        close(server);
    }
    SSL_free(ssl);
    SSL_CTX_free(context);
    close(socket);
    return server >= 0 ? 0 : -1;
}

static int connect_within(int socket, const struct sockaddr *address, socklen_t length) {
    int error = 0;
    socklen_t size = sizeof error;
    if (!connect(socket, address, length)) {
        return 0;
    }
    struct pollfd wanted = {.fd = socket, .events = POLLOUT};
    if (errno != EINPROGRESS) {
        return -1;
    }
    if (poll(&wanted, 1, CONNECT_MS) <= 0) {
        errno = ETIMEDOUT;
        return -1;
    }
    getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size);
    errno = error;
    return error ? -1 : 0;
}

int client_call(const struct endpoint *endpoint) {
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    char *name = client_name(endpoint);
    int made = -1;
    int failed = getaddrinfo(endpoint->host, endpoint->port, &hints, &found);
    const char *problem = failed ? gai_strerror(failed) : NULL;
    for (const struct addrinfo *at = found; at && made < 0; at = at->ai_next) {
        made = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (made >= 0 && connect_within(made, at->ai_addr, at->ai_addrlen)) {
            problem = strerror(errno);
            close(made);
            made = -1;
        }
    }
    if (found) {
        freeaddrinfo(found);
    }
    if (made < 0) {
        log_error("call home %s: %s; it is tried again", name, problem ? problem : "no address");
    }
    free(name);
    return made;
}

char *client_name(const struct endpoint *endpoint) {
    bool numeric = strchr(endpoint->host, ':') != NULL;
    return must_format("%s%s%s:%s", numeric ? "[" : "", endpoint->host, numeric ? "]" : "",
                       endpoint->port);
}
