/* State of SIDs for get and get-data, from the store.
 *
 * sysrepo would load the configuration of all SIDs, have srv6mgrd make a document of their state,
 * parse, merge and filter it: seconds for a hundred thousand, even where one is asked for.
 */
#ifndef SID_STATE_H
#define SID_STATE_H

#include "reply.h"
#include "session.h"

/* The answer to rpc, if xpath selects nothing but that, without what NACM keeps from the user.
 * NULL: sysrepo has to answer. */
struct reply *sid_state_answer(const struct session *session, const struct lyd_node *rpc,
                               const char *xpath);

#endif
