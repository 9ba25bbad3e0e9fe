/* The UNIX socket: who connects becomes a session, in a thread of its own. */
#ifndef DOOR_H
#define DOOR_H

#include <sys/types.h>

/* A listening socket; -1 with the reason logged. */
int door_open(const char *path);

/* Take connections until stop is readable. */
void door_serve(int listening, int stop);

#endif
