#include "session.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sysrepo/netconf_acm.h>
#include <unistd.h>

#include "large.h"
#include "log.h"
#include "name_service.h"
#include "rights.h"
#include "text.h"

#define LONGEST_MESSAGE (256u << 20)

struct server server = {.own_lock = PTHREAD_MUTEX_INITIALIZER};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gone = PTHREAD_COND_INITIALIZER;
static struct session *first;

/* Held once for all: a process may hold a lock of sysrepo's 255 times. */
static pthread_mutex_t context_lock = PTHREAD_MUTEX_INITIALIZER;
static const struct ly_ctx *context;
static unsigned holders;

const struct ly_ctx *context_hold(void) {
    pthread_mutex_lock(&context_lock);
    if (!holders) {
        context = sr_acquire_context(server.connection);
    }
    holders += context != NULL;
    const struct ly_ctx *held = context;
    pthread_mutex_unlock(&context_lock);
    return held;
}

void context_release(void) {
    pthread_mutex_lock(&context_lock);
    if (!--holders) {
        sr_release_context(server.connection);
        context = NULL;
    }
    pthread_mutex_unlock(&context_lock);
}

static int set_origin(const struct session *session, sr_session_ctx_t *sr) {
    struct text user = {0};
    text_add(&user, session->user, strlen(session->user) + 1);
    text_add(&user, NORTHBOUND, sizeof NORTHBOUND);
    text_add(&user, "", 1); /* part of no confirmed commit */
    int failed = sr_session_push_orig_data(sr, sizeof session->id, &session->id);
    failed = failed ? failed : sr_session_push_orig_data(sr, (uint32_t)user.length, user.bytes);
    text_free(&user);
    return failed;
}

sr_session_ctx_t *session_sysrepo(const struct session *session) {
    sr_session_ctx_t *made;
    if (sr_session_start(server.connection, SR_DS_RUNNING, &made)) {
        return NULL;
    }
    if (sr_session_set_orig_name(made, ORIGINATOR) || set_origin(session, made) ||
        sr_nacm_set_user(made, session->user)) {
        sr_session_stop(made);
        return NULL;
    }
    return made;
}

/* Whether it may be a configuration: of who writes nothing a message would only take memory. */
static bool may_be_long(void *who) {
    const struct session *session = who;
    if (!name_service_learn(session->user)) {
        return false; /* what it may write is unknown */
    }
    struct reply *denied = rights_to_write(who);
    reply_free(denied);
    return !denied;
}

static bool takes_room(void *who) {
    return large_take(who);
}

struct session *session_new(struct nc_session *nc, int socket, const char *user,
                            const char *transport, const char *address) {
    struct session *session = must_alloc(sizeof *session);
    session->nc = nc;
    session->lock = -1;
    session->id = nc_session_get_id(nc);
    session->user = must_copy(user);
    session->transport = transport;
    session->address = address ? must_copy(address) : NULL;
    session->context = nc_session_get_ctx(nc);
    session->start = nc_session_get_start_time(nc);
    wire_init(&session->wire, socket, nc_session_get_version(nc) != 0, LONGEST_MESSAGE);
    session->wire.may_be_long = may_be_long;
    session->wire.takes_room = takes_room;
    session->wire.who = session;
    session->sr = session_sysrepo(session);
    if (!session->sr) {
        log_error("session %u: sysrepo rejects a session", session->id);
        session_free(session);
        return NULL;
    }
    return session;
}

void session_free(struct session *session) {
    sr_session_stop(session->sr); /* which gives up its locks */
    if (session->lock >= 0) {
        close(session->lock); /* and this the one on running */
    }
    nc_session_free(session->nc, NULL);
    wire_destroy(&session->wire);
    large_give_back(session);
    free(session->commit);
    free(session->address);
    free(session->user);
    free(session);
}

void sessions_add(struct session *session) {
    pthread_mutex_lock(&lock);
    session->next = first;
    first = session;
    pthread_mutex_unlock(&lock);
    server.in_sessions++;
}

void sessions_remove(struct session *session) {
    pthread_mutex_lock(&lock);
    for (struct session **at = &first; *at; at = &(*at)->next) {
        if (*at == session) {
            *at = session->next;
            break;
        }
    }
    pthread_cond_broadcast(&gone);
    pthread_mutex_unlock(&lock);
}

void sessions_visit(void (*visit)(struct session *, void *), void *data) {
    pthread_mutex_lock(&lock);
    for (struct session *session = first; session; session = session->next) {
        visit(session, data);
    }
    pthread_mutex_unlock(&lock);
}

bool session_kill(uint32_t id, uint32_t by) {
    bool found = false;
    pthread_mutex_lock(&lock);
    for (struct session *session = first; session; session = session->next) {
        if (session->id == id) {
            session->killed_by = by;
            session->end = "killed";
            shutdown(session->wire.socket, SHUT_RDWR);
            found = true;
        }
    }
    pthread_mutex_unlock(&lock);
    return found;
}

void sessions_end(void) {
    pthread_mutex_lock(&lock);
    for (struct session *session = first; session; session = session->next) {
        session->end = "other";
        shutdown(session->wire.socket, SHUT_RDWR);
    }
    while (first) {
        pthread_cond_wait(&gone, &lock);
    }
    pthread_mutex_unlock(&lock);
}

struct search {
    uint32_t sysrepo, found;
};

static void compare(struct session *session, void *data) {
    struct search *search = data;
    if (sr_session_get_id(session->sr) == search->sysrepo) {
        search->found = session->id;
    }
}

uint32_t session_of_sysrepo(uint32_t id) {
    struct search search = {.sysrepo = id};
    sessions_visit(compare, &search);
    return search.found;
}
