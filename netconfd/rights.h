/* Who may hold others up: lock a datastore, discard the shared candidate, end a commit. */
#ifndef RIGHTS_H
#define RIGHTS_H

#include "reply.h"
#include "session.h"

/* NULL when NACM lets the session's user write something, wherever; else the rejection. */
struct reply *rights_to_write(const struct session *session);

#endif
