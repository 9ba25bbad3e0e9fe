/* Room for a connection that waits to be accepted. */
#ifndef ROOM_H
#define ROOM_H

#include <errno.h>
#include <stdbool.h>

/* accept(2) failed without descriptors or memory: the connection stays in the backlog, and a
 * loop that polls for it would spin. */
static inline bool lacks_room(int error) {
    return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

#endif
