/* State of all SIDs beside other data, for get: put from the store into a tree of these.
 *
 * For what sid_state.h can't answer, since more is asked for than state of SIDs.
 */
#ifndef SID_PATHS_H
#define SID_PATHS_H

#include <libyang/libyang.h>

#include "reply.h"
#include "session.h"

/* Whether xpath selects all SIDs with all of their state, by a plain path to them or to what they
 * are in. Then *beside, to be freed, is that to the state beside theirs; NULL: there is none. */
bool sid_paths_selected(const struct session *session, const char *xpath, char **beside);

/* Add state of all SIDs that the user may read. False: sysrepo has to answer. */
bool sid_paths_into(const struct session *session, struct lyd_node **tree);

/* The path to state of proxies, which the store does not have; NULL: the tree has no proxy. */
const char *sid_paths_proxies(const struct session *session, const struct lyd_node *tree);

#endif
