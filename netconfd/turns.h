/* Whose reads are computed: a few of each user at a time, so that who asks for much waits for
 * itself, and not others for it. */
#ifndef TURNS_H
#define TURNS_H

#include "session.h"

/* Wait until the client of the session has read what it was sent, and it is its user's turn, which
 * this thread then has. False: the client left, or reads nothing. */
bool turns_take(struct session *session);

/* Nothing happens in a thread that has none. */
void turns_give_back(void);

/* Give it back for as long as the thread waits for something else; resume takes it again, if pause
 * says that there was one. */
bool turns_pause(void);
void turns_resume(const struct session *session);

#endif
