/* What libyang and sysrepo reject, as errors of NETCONF. srv6mgrd words them, for all northbounds
 * alike (srv6mgrd/datastore/rejections.py). */
#ifndef PROBLEM_H
#define PROBLEM_H

#include <libyang/libyang.h>
#include <sysrepo.h>

#include "reply.h"
#include "session.h"

/* An error as sysrepo has it; NULL where it does not say more than code (sr_error_t) and message.
 */
struct failure {
    int code;
    const char *message, *tag, *type, *app_tag, *path, *bad_element;
    const char *value; /* of a key that no entry has; NULL: of none */
};

struct reply *problem_of_failures(const struct failure *all, size_t count);

/* One error of libyang's, and where. */
struct reply *problem_of_text(const char *message, const char *path);

/* Errors that srv6mgrd reported. */
struct reply *problem_of_reported(const struct failure *all, size_t count);

/* All errors that the sysrepo session reports of its last call. */
struct reply *problem_of_sysrepo(sr_session_ctx_t *sr);

/* All errors that libyang keeps for this thread, which are then forgotten. path and element: where
 * the offender was and its name, for those that libyang does not name; or NULL.
 */
struct reply *problem_of_libyang(const struct ly_ctx *context, const char *type, const char *path,
                                 const char *element);

/* The same of a key leaf that can't have this value, so that there is no entry that names it. */
struct reply *problem_of_key(const struct ly_ctx *context, const char *path, const char *value);

#endif
