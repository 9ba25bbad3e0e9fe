/* How many sessions there may be: in all, and of one user, so that nobody keeps others out. */
#ifndef PLACES_H
#define PLACES_H

#include <stdbool.h>
#include <sys/types.h>

#define PLACES 512
#define PLACES_OF_USER 64
#define PLACES_OF_ROOT 32 /* that only root gets */

/* False: the user has to end a session first. */
bool places_take(uid_t user);
void places_leave(uid_t user);

/* It has more than a few sessions, or asked for too many a moment ago. Not root. */
bool places_are_many(uid_t user);

/* Milliseconds until the next session of such a user begins: each takes work, and who comes and
 * goes without end would have much done. */
int places_rate_limit(uid_t user);

#endif
