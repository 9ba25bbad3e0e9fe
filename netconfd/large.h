/* Large messages, few of which are in memory at a time: libyang makes a multiple of it of each. */
#ifndef LARGE_H
#define LARGE_H

#include "session.h"

/* Wait until the session may have one, which it then has. False: its client left. */
bool large_take(struct session *session);

/* Nothing happens for a session that has none. */
void large_give_back(struct session *session);

#endif
