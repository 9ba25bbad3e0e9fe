/* What a user may read of the state of SIDs (RFC 8341 section 3.4.5), for what is answered without
 * sysrepo. Rules are taken as sysrepo takes them for all else. */
#ifndef ACCESS_H
#define ACCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "session.h"

#define MODULE "srv6mgr-srv6"
#define TOP "/" MODULE ":srv6"
#define SIDS TOP "/local-sids"

/* The leaves below /srv6/local-sids/sid/state. */
enum sid_leaf {
    SID_INSTALL_STATUS,
    SID_REASON,
    SID_SINCE,
    SID_LAST_REPAIR,
    SID_REPAIRS,
    SID_IN_PKTS,
    SID_IN_OCTETS,
    SID_IN_ERRORS,
    SID_DISCONTINUITY_TIME,
    SID_LEAVES
};

extern const char *const sid_leaves[SID_LEAVES]; /* their names */

struct access;

/* What the rules of the moment let the session's user read; to be freed. NULL: sysrepo failed. */
struct access *access_of(const struct session *session);
void access_free(struct access *access);

/* Bits 1 << SID_*: the leaves of this SID that may be read. */
uint32_t access_to_sid(const struct access *access, const char *prefix);

/* Whether the path of a rule covers a node: it is that node or lies below. */
bool access_covers(const char *rule, const char *node);

#endif
