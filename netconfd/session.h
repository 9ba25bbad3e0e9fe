/* The NETCONF sessions: what belongs to each, and the register of all. */
#ifndef SESSION_H
#define SESSION_H

#include <libyang/libyang.h>
#include <nc_server.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sysrepo.h>
#include <time.h>

#include "frame.h"

/* sysrepo names who changed what (netconf-config-change, RFC 6470) for this originator alone, whose
 * data are the session's id, then the user. Behind the user come, each with its NUL, our own name
 * and that of the commit to be confirmed. */
#define ORIGINATOR "netopeer2"
#define NORTHBOUND "srv6-netconfd"

/* RFC 6022 section 2.1.5. */
struct counts {
    atomic_uint in_rpcs, in_bad_rpcs, out_rpc_errors, out_notifications;
};

struct subscription;

struct session {
    struct nc_session *nc;
    uint32_t id;
    char *user;
    const char *transport; /* identity of RFC 6022 section 2.1.3 */
    char *address;         /* of the client; NULL: not known */
    struct timespec start;
    struct wire wire;
    sr_session_ctx_t *sr; /* used by the session's own thread only */
    const struct ly_ctx *context;
    int lock; /* connection that holds the lock on running; -1: none does */
    atomic_bool has_lock;
    struct timespec locked; /* since when */
    bool has_large;         /* message of its client; see large.h */
    char *commit;           /* of this session, which awaits its confirmation; else NULL */
    struct counts counts;
    atomic_bool closing;                /* after the answer to the RPC at hand */
    _Atomic(const char *) end;          /* termination-reason of RFC 6470; NULL: not known yet */
    atomic_uint killed_by;              /* session that did */
    struct subscription *subscriptions; /* under the lock of subscription.c */
    struct session *next;               /* in the register */
};

/* Server-wide: the connection, totals over sessions that ended, and those in RFC 6022. */
struct server {
    sr_conn_ctx_t *connection;
    sr_session_ctx_t *own; /* for what the server does itself; under own_lock */
    pthread_mutex_t own_lock;
    struct timespec start;
    struct counts counts;
    atomic_uint in_bad_hellos, in_sessions, dropped_sessions;
};

extern struct server server;

/* The modules, which stay as they are while somebody holds them; NULL: sysrepo failed. */
const struct ly_ctx *context_hold(void);
void context_release(void);

/* Takes nc, user and address are copied, transport stays. NULL: sysrepo failed, which is logged.
 */
struct session *session_new(struct nc_session *nc, int socket, const char *user,
                            const char *transport, const char *address);
void session_free(struct session *session);

void sessions_add(struct session *session);
void sessions_remove(struct session *session);

/* Call visit for each session, in which none comes or goes. */
void sessions_visit(void (*visit)(struct session *, void *), void *data);

/* End the connection of a session, which its thread then notices; false: there is none. */
bool session_kill(uint32_t id, uint32_t by);

/* The same for all sessions, and wait until they are gone. */
void sessions_end(void);

/* NETCONF session that uses this sysrepo session; 0 when none does. */
uint32_t session_of_sysrepo(uint32_t id);

/* A further sysrepo session with the user and the originator of the session; NULL: failed. */
sr_session_ctx_t *session_sysrepo(const struct session *session);

#endif
