/* Periodic subscriptions (RFC 8641).
 *
 * libsysrepo reads what is subscribed to in the one thread of all subscriptions, under its locks.
 * It is left the schedule alone: of a node that costs nothing it says each time that it is due;
 * what is subscribed to is then read as for get-data, by the subscription's own thread.
 */
#ifndef PERIODIC_H
#define PERIODIC_H

#include "reply.h"
#include "session.h"

/* What libsysrepo is subscribed to instead. */
#define PERIODIC_BEAT "/ietf-netconf-acm:nacm/enable-nacm"

struct periodic;

/* xpath is that of filter_bounded: NULL is everything. NULL, or the rejection. */
struct reply *periodic_new(const struct session *session, sr_datastore_t datastore,
                           const char *xpath, struct periodic **made);
void periodic_free(struct periodic *periodic);

/* Another filter. NULL, or the rejection. */
struct reply *periodic_set(struct periodic *periodic, const char *xpath);

/* The filter, to be freed; NULL: everything. */
char *periodic_xpath(struct periodic *periodic);

/* Read, and send as push-update of the subscription of that number. */
void periodic_report(struct periodic *periodic, uint32_t id);

#endif
