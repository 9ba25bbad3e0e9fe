/* RPCs of srv6mgrd that the server calls for itself: users need the right to commit, say, but not
 * that to the commit clock. */
#ifndef SRV6MGRD_H
#define SRV6MGRD_H

#include <stddef.h>

#include "reply.h"

struct argument {
    const char *name, *value; /* value NULL: left out */
};

/* NULL when it is done, else the rejection. */
struct reply *srv6mgrd_call(const char *rpc, const struct argument *arguments, size_t count);

#endif
