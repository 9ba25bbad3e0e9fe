/* The groups of users, as the name service of the system (nsswitch.conf) has them.
 *
 * They may come from a directory in the network that does not answer. sysrepo asks for them under a
 * lock of the whole process, with each RPC. So this process has getpwnam_r, getgrouplist and
 * getgrgid_r of its own, which sysrepo finds first: of users that were learned they answer from
 * memory. */
#ifndef NAME_SERVICE_H
#define NAME_SERVICE_H

#include <stdbool.h>

#define NAME_SERVICE_SECONDS 3 /* until there has to be an answer */

/* Learn the groups of a user, unless that was a second ago. Without an answer in time: whether they
 * are known from before. */
bool name_service_learn(const char *user);

#endif
