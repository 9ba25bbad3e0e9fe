/* The RPCs, each with a function that carries it out and answers. */
#ifndef OPERATIONS_H
#define OPERATIONS_H

#include "reply.h"
#include "session.h"

typedef struct reply *operation(struct session *session, struct lyd_node *rpc);

operation get, get_config, get_data;                                   /* read.c */
operation edit_config, edit_data, copy_config, delete_config;          /* edit.c */
operation validate, discard_changes;                                   /* edit.c */
operation lock_datastore, unlock_datastore;                            /* lock.c */
operation commit, cancel_commit;                                       /* commit.c */
operation close_session, kill_session;                                 /* rpc.c */
operation get_schema;                                                  /* monitoring.c */
operation create_subscription;                                         /* stream.c */
operation establish_subscription, modify_subscription;                 /* push.c */
operation delete_subscription, kill_subscription, resync_subscription; /* push.c */
operation forward;                                                     /* forward.c: all others */

struct filter;

/* What a filter selects of a datastore (read.c), put into *tree. NULL, or the rejection. */
struct reply *read_datastore(struct session *session, sr_datastore_t datastore,
                             const struct filter *filter, struct lyd_node **tree);

/* What a filter selects of the operational datastore (read.c), put into *tree. The session's
 * sysrepo session is used. NULL, or the rejection. */
struct reply *read_operational(struct session *session, const struct filter *filter,
                               struct lyd_node **tree);

#endif
