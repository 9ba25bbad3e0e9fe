/* Room in /dev/shm, into which libsysrepo writes: without it the kernel ends the writer (SIGBUS).
 * And files there: it ends the process where a store fails (sr_modinfo_data_store frees the change,
 * sr_modinfo_erase once more). As in srv6mgrd/datastore/shared_memory.py and new_files.py. */
#ifndef SHM_H
#define SHM_H

#include "reply.h"

/* The rejection where no room is left; NULL: there is some. */
struct reply *shm_lacks_room(void);

#endif
