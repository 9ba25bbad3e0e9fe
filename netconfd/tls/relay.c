#include "relay.h"

#include <errno.h>
#include <openssl/err.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/socket.h>

/* What the server has said last is waited for, while its client takes it. */
#define CLOSING_MS 10000

/* One direction. */
struct way {
    char bytes[16384];
    size_t begin, end;
    bool over; /* nothing will come any more */
};

static bool is_empty(const struct way *way) {
    return way->begin == way->end;
}

/* TLS wants the socket so before it goes on; 0: it does not, and the connection is over. */
static short wanted(SSL *ssl, int done) {
    int error = SSL_get_error(ssl, done);
    ERR_clear_error();
    return error == SSL_ERROR_WANT_READ ? POLLIN : error == SSL_ERROR_WANT_WRITE ? POLLOUT : 0;
}

/* Each of these moves what can be moved, and adds what it waits for. */

static bool from_client(struct way *in, SSL *ssl, short *client) {
    if (in->over || !is_empty(in)) {
        return false;
    }
    int got = SSL_read(ssl, in->bytes, sizeof in->bytes);
    if (got > 0) {
        in->begin = 0;
        in->end = (size_t)got;
        return true;
    }
    short events = wanted(ssl, got);
    in->over = !events;
    *client |= events;
    return in->over;
}

static bool to_client(struct way *out, SSL *ssl, short *client) {
    if (is_empty(out)) {
        return false;
    }
    int sent = SSL_write(ssl, out->bytes + out->begin, (int)(out->end - out->begin));
    if (sent > 0) {
        out->begin += (size_t)sent;
        return true;
    }
    short events = wanted(ssl, sent);
    if (!events) {
        out->begin = out->end;
        out->over = true;
    }
    *client |= events;
    return !events;
}

static bool from_server(struct way *out, int socket, short *server) {
    if (out->over || !is_empty(out)) {
        return false;
    }
    ssize_t got = recv(socket, out->bytes, sizeof out->bytes, 0);
    if (got > 0) {
        out->begin = 0;
        out->end = (size_t)got;
        return true;
    }
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        *server |= POLLIN;
        return false;
    }
    return out->over = true;
}

static bool to_server(struct way *in, int socket, short *server) {
    if (is_empty(in)) {
        return false;
    }
    ssize_t sent = send(socket, in->bytes + in->begin, in->end - in->begin, MSG_NOSIGNAL);
    if (sent > 0) {
        in->begin += (size_t)sent;
        return true;
    }
    if (sent == 0 || errno == EAGAIN || errno == EINTR) {
        *server |= POLLOUT;
        return false;
    }
    in->begin = in->end; /* nobody is there to take it */
    return true;
}

void relay(SSL *ssl, int client, int server) {
    static struct way in, out;
    for (;;) {
        struct pollfd wait[] = {{.fd = client}, {.fd = server}};
        bool moved = from_client(&in, ssl, &wait[0].events);
        moved |= to_server(&in, server, &wait[1].events);
        moved |= from_server(&out, server, &wait[1].events);
        moved |= to_client(&out, ssl, &wait[0].events);
        if ((in.over && is_empty(&in)) || (out.over && is_empty(&out))) {
            break;
        }
        if (moved) {
            continue;
        }
        if (out.over) {
            wait[1].fd = -1; /* it would go on to report that it has gone */
        }
        int ready = poll(wait, 2, out.over ? CLOSING_MS : -1);
        bool gone = ready > 0 && wait[0].revents & (POLLERR | POLLHUP | POLLNVAL);
        if (!ready || gone) {
            break;
        }
    }
    SSL_shutdown(ssl);
}
