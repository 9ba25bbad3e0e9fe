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

#endif
