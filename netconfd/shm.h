/* Room in /dev/shm, into which libsysrepo writes: without it the kernel ends the writer (SIGBUS).
 * As in srv6mgrd/datastore/shared_memory.py. */
#ifndef SHM_H
#define SHM_H

#include "reply.h"

/* The rejection where no room is left; NULL: there is some. */
struct reply *shm_lacks_room(void);

#endif
