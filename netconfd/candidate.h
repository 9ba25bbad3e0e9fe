/* The revision of the running configuration that the shared candidate was made from. */
#ifndef CANDIDATE_H
#define CANDIDATE_H

#include "session.h"

/* At the start: changes that another process left are from before what runs now, as nobody knows
 * which configuration they were made from. */
void candidate_find(void);

/* Before each change of the candidate; whether it is the first since it equalled running. */
bool candidate_begin(struct session *session);

/* It equals running: it was committed or discarded, or its first change failed. */
void candidate_end(void);

/* "" when it has no changes. Owned by the caller. */
char *candidate_base(void);

#endif
