/* The server's report of itself: state data (RFC 6022, 5277, 8639) and events (RFC 6470). */
#ifndef MONITORING_H
#define MONITORING_H

#include "session.h"

/* Serve the state data; 0, or -1 with the reason logged. */
int monitoring_start(void);
void monitoring_stop(void);

/* Whether sysrepo keeps notifications of the stream: a module's name; NETCONF or NULL are all of
 * them. *since (or NULL) is when that began. */
bool monitoring_can_replay(const struct ly_ctx *context, const char *stream,
                           struct timespec *since);

void notice_session_start(const struct session *session);
void notice_session_end(const struct session *session);

#endif
