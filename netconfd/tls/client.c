#include "client.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "../log.h"
#include "../text.h"
#include "identity.h"
#include "relay.h"
#include "secure.h"

#define CONNECT_MS 10000

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

/* srv6-netconfd asks the kernel who is there, and shall hear of this user. */
static int become(const struct passwd *user) {
    if (geteuid() == user->pw_uid) {
        return 0;
    }
    return initgroups(user->pw_name, user->pw_gid) || setgid(user->pw_gid) || setuid(user->pw_uid);
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

/* A socket of srv6-netconfd's in the name of the user; -1: refused, which is logged. */
static int enter(const struct settings *settings, const char *who, SSL *ssl) {
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
    } else if (become(user)) {
        log_error("%s: user %s: %s; run srv6-netconf-tls as root", who, name, strerror(errno));
    } else if ((made = reach_server(settings->socket)) < 0) {
        log_error("%s: %s: %s; see that srv6-netconfd runs", who, settings->socket,
                  strerror(errno));
    } else {
        log_info("%s: user %s, by certificate %s", who, name, subject);
    }
    free(name);
    free(subject);
    return made;
}

int client_serve(const struct settings *settings, int socket, const char *who) {
    /* Read again for each, so that a certificate is renewed by replacing its file. */
    SSL_CTX *context = secure_context(settings);
    keep_alive(socket);
    make_unblocking(socket);
    SSL *ssl = context ? secure_accept(context, socket, who) : NULL;
    int server = ssl ? enter(settings, who, ssl) : -1;
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
