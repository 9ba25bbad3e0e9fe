/* Nodes with nacm:default-deny-all (RFC 8341 section 3.4.5) in what is read. */
#ifndef SECRETS_H
#define SECRETS_H

#include <libyang/libyang.h>

#include "reply.h"
#include "session.h"

/* Remove those that no rule lets the session's user read, also from anydata. sysrepo's NACM takes a
 * rule that permits a container for all that is below, though the rule names one module and the
 * secret belongs to another (sr_nacm_check_data_read_filter_r). */
void secrets_hide(const struct session *session, struct lyd_node **tree);

/* The rejection of a filter that sysrepo evaluates, before its NACM, and that looks at what the
 * user may not read; else NULL. RFC 8341 section 3.2.4: a filter selects of what the user may read.
 */
struct reply *secrets_reject(const struct session *session, const char *xpath);

/* The rejection of an edit that gives a value to a node which the user may not create and update;
 * else NULL. sysrepo checks what differs from what is there, so that who guesses right is let
 * through. */
struct reply *secrets_reject_edit(const struct session *session, const struct lyd_node *edit);

#endif
