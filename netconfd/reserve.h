/* File descriptors in reserve, for events of sysrepo: it opens files of its shared memory for each,
 * and answers open some, too. As in srv6mgrd/datastore/reserve.py. */
#ifndef RESERVE_H
#define RESERVE_H

/* Take what is missing in it. */
void reserve_fill(void);

/* Set them free until reserve_end; what another thread takes meanwhile is missing afterwards. */
void reserve_begin(void);
void reserve_end(void);

#endif
