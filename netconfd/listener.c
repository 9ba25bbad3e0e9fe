#include "listener.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "address.h"
#include "commits.h"
#include "confirmed.h"
#include "large.h"
#include "log.h"
#include "manager.h"
#include "monitoring.h"
#include "places.h"
#include "priority.h"
#include "room.h"
#include "rpc.h"
#include "session.h"
#include "subscription.h"
#include "text.h"

#define HELLO_SECONDS 30
#define SEND_BUFFER (1 << 20)
#define ROOM_AGAIN_MS 1000 /* without room to accept, the next try */
#define STACK (1 << 20)
#define LONG (1 << 20) /* bytes of a long message */

struct connection {
    int socket;
    uid_t user;
    const char *transport;
};

/* Members of the group may connect, beside root: the kernel says who it is, and NACM what they may
 * do. Without the group root alone may. */
static int give_to(const char *path, const char *name) {
    struct group entry, *found = NULL;
    char buffer[4096];
    if (getgrnam_r(name, &entry, buffer, sizeof buffer, &found) || !found) {
        log_error("socket %s: there is no group %s; root alone can connect", path, name);
        return 0;
    }
    return chown(path, (uid_t)-1, found->gr_gid) || chmod(path, 0660);
}

static int listen_at(const char *path, const char *group) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        log_error("socket %s: the path is too long; choose a shorter one", path);
        return -1;
    }
    strcpy(address.sun_path, path);
    int listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    unlink(path);
    mode_t before = umask(0177);
    int bound = listening < 0 ? -1 : bind(listening, (struct sockaddr *)&address, sizeof address);
    int error = errno;
    umask(before);
    errno = error;
    if (bound || give_to(path, group) || listen(listening, 128)) {
        log_error("socket %s: %s", path, strerror(errno));
        if (listening >= 0) {
            close(listening);
        }
        return -1;
    }
    return listening;
}

/* The name of a user; NULL: it has none. */
static char *name_of(uid_t user) {
    struct passwd entry, *found = NULL;
    char buffer[4096];
    return getpwuid_r(user, &entry, buffer, sizeof buffer, &found) || !found
               ? NULL
               : must_copy(found->pw_name);
}

static void set_timeout(int socket, int seconds) {
    struct timeval limit = {.tv_sec = seconds};
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

/* The exchange of hellos, which is libnetconf2's. */
static struct session *greet(int socket, const char *user, const char *transport,
                             const char *address, const struct ly_ctx *context) {
    struct nc_session *nc = NULL;
    set_timeout(socket, HELLO_SECONDS);
    if (nc_accept_inout(socket, socket, user, context, &nc) != NC_MSG_HELLO) {
        server.in_bad_hellos++;
        log_info("user %s: no proper hello", user);
        return NULL;
    }
    set_timeout(socket, 0);
    fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK);
    return session_new(nc, socket, user, transport, address);
}

static void converse(struct session *session, uid_t user) {
    struct text message = {0};
    for (;;) {
        if (message.room > LONG) {
            text_free(&message); /* keep no memory of one long message */
        }
        large_give_back(session);
        commits_keep_lock(session);
        enum frame_status status = wire_read(&session->wire, &message);
        priority_set(PRIORITY_SESSIONS, places_are_many(user));
        if (status == FRAME_MALFORMED || status == FRAME_TOO_BIG) {
            session->end = "other";
            rpc_reject_frame(session, status);
        }
        if (status != FRAME_MESSAGE || rpc_handle(session, &message)) {
            break;
        }
        subscriptions_start(session);
    }
    text_free(&message);
}

static void add(struct counts *total, const struct counts *counts) {
    total->in_rpcs += counts->in_rpcs;
    total->in_bad_rpcs += counts->in_bad_rpcs;
    total->out_rpc_errors += counts->out_rpc_errors;
    total->out_notifications += counts->out_notifications;
}

static void live(const struct connection *connection, const char *user,
                 const struct ly_ctx *context) {
    const int socket = connection->socket;
    const char *transport = connection->transport;
    char *address = strcmp(transport, OVER_TLS) ? NULL : address_receive(socket, HELLO_SECONDS);
    struct session *session = greet(socket, user, transport, address, context);
    free(address);
    if (!session) {
        return;
    }
    sessions_add(session);
    notice_session_start(session);
    converse(session, connection->user);
    shutdown(socket, SHUT_RDWR); /* wakes who writes notifications */
    subscriptions_end(session);
    confirmed_session_ends(session);
    if (!session->end) {
        server.dropped_sessions++;
    }
    notice_session_end(session);
    add(&server.counts, &session->counts);
    sessions_remove(session);
    session_free(session);
}

/* The client left, or does so while its session waits to begin. */
static bool leaves_within(int socket, int milliseconds) {
    struct pollfd client = {.fd = socket};
    return milliseconds > 0 && poll(&client, 1, milliseconds) > 0;
}

static void *serve_one(void *data) {
    struct connection connection = *(struct connection *)data;
    free(data);
    priority_set(PRIORITY_SESSIONS, places_are_many(connection.user));
    const bool left = leaves_within(connection.socket, places_rate_limit(connection.user));
    char *user = name_of(connection.user);
    const struct ly_ctx *context = context_hold();
    if (left) {
        log_info("user %s: it left before its session began", user ? user : "without a name");
    } else if (user && context) {
        live(&connection, user, context);
    } else {
        log_error("connection: its user has no name; add it to the system's users");
    }
    if (context) {
        context_release();
    }
    free(user);
    close(connection.socket);
    places_leave(connection.user);
    return NULL;
}

static void begin(int socket, uid_t user, const char *transport) {
    struct connection *connection = must_alloc(sizeof *connection);
    pthread_t thread;
    pthread_attr_t attributes;
    int room = SEND_BUFFER;
    setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK);
    *connection = (struct connection){socket, user, transport};
    if (pthread_create(&thread, &attributes, serve_one, connection)) {
        log_error("connection: no thread for it: %s", strerror(errno));
        places_leave(user);
        free(connection);
        close(socket);
    }
    pthread_attr_destroy(&attributes);
}

int listener_open(struct listener *listeners, const char *group) {
    for (size_t i = 0; i < LISTENERS; i++) {
        listeners[i].listening = listen_at(listeners[i].path, group);
        if (listeners[i].listening < 0) {
            return -1;
        }
    }
    return 0;
}

/* False: there is no room for a connection, which then waits in the backlog. */
static bool let_in(const struct listener *listener) {
    struct ucred who;
    socklen_t size = sizeof who;
    int socket = accept4(listener->listening, NULL, NULL, SOCK_CLOEXEC);
    if (socket < 0) {
        if (!lacks_room(errno)) {
            return true;
        }
        log_error("connection: %s; it waits until there is room", strerror(errno));
        return false;
    }
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &size) || !places_take(who.uid)) {
        log_error("connection of user id %u: rejected, it has %d sessions, or all have %d",
                  (unsigned)who.uid, PLACES_OF_USER, PLACES);
        close(socket);
        return true;
    }
    begin(socket, who.uid, listener->transport);
    return true;
}

void listener_serve(const struct listener *listeners, int stop) {
    struct pollfd wanted[LISTENERS + 1] = {[LISTENERS] = {.fd = stop, .events = POLLIN}};
    int interval = manager_interval();
    bool room = true;
    for (;;) {
        for (size_t i = 0; i < LISTENERS; i++) {
            wanted[i] = (struct pollfd){.fd = room ? listeners[i].listening : -1, .events = POLLIN};
        }
        int ready = poll(wanted, LISTENERS + 1, room ? interval : ROOM_AGAIN_MS);
        room = true;
        if (interval >= 0) {
            manager_notify("WATCHDOG=1");
        }
        if (ready > 0 && wanted[LISTENERS].revents) {
            break;
        }
        for (size_t i = 0; ready > 0 && i < LISTENERS; i++) {
            if (wanted[i].revents) {
                room = let_in(&listeners[i]) && room;
            }
        }
    }
    sessions_end();
    for (size_t i = 0; i < LISTENERS; i++) {
        unlink(listeners[i].path);
        close(listeners[i].listening);
    }
}
