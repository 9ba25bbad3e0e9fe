/* The difference of two trees as notification push-change-update of RFC 8641. */
#ifndef CHANGES_H
#define CHANGES_H

#include <libyang/libyang.h>
#include <stdbool.h>
#include <stdint.h>

enum change { CHANGE_CREATE, CHANGE_DELETE, CHANGE_REPLACE, CHANGES };

/* NULL: nothing differs, or only in what is excluded. */
struct lyd_node *changes_between(const struct ly_ctx *context, const struct lyd_node *before,
                                 const struct lyd_node *after, const bool excluded[CHANGES],
                                 uint32_t subscription, uint32_t patch);

#endif
