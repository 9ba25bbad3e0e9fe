/* XPath expressions that may take long, evaluated on data that was read before, in a process that
 * is killed when its time is over or its client leaves (docs/adr/0026). */
#ifndef EVALUATE_H
#define EVALUATE_H

#include <libyang/libyang.h>

#include "reply.h"
#include "session.h"

/* Leave in *tree what xpath selects of it, to so many levels (0: all). NULL, or the rejection. */
struct reply *evaluate(const struct session *session, const char *xpath, uint32_t depth,
                       struct lyd_node **tree);

#endif
