/* Modes of the files that libsysrepo creates: nothing for others. */
#ifndef MODES_H
#define MODES_H

/* As deny_others() of srv6mgrd/datastore/file_modes.py, which says why. To be called once the
 * first connection exists. */
void modes_deny_others(void);

#endif
