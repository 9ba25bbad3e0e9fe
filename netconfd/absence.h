/* State of declared objects while srv6mgrd, which reports it otherwise, does not run: what it wrote
 * into the store last, or unknown once its lease has expired. SIDs: see sid_paths.h. */
#ifndef ABSENCE_H
#define ABSENCE_H

#include <sysrepo.h>

/* Answer beside srv6mgrd, to events that the caller processes; 0, or an error of sysrepo's. */
int absence_start(sr_session_ctx_t *session, sr_subscription_ctx_t **subscription);

#endif
