/* How much an XPath expression may cost, known from its text, before schema or data are looked at.
 *
 * Evaluation by libyang can't be interrupted: its cost is a power of the data's size in how deeply
 * predicates look at all of it. So only what is plain is evaluated here (docs/adr/0026).
 */
#ifndef XPATH_H
#define XPATH_H

#include <libyang/libyang.h>
#include <stdbool.h>

#define XPATH_LONGEST 8192 /* characters of an expression; libyang reads it in quadratic time */

/* One absolute path of names, with up to 8 predicates that compare a child to a literal: linear. */
bool xpath_is_plain(const char *xpath);

/* A union of up to 16 such paths, or the same without a literal, or below "//": linear, too. For
 * what sysrepo evaluates itself whenever something changes. */
bool xpath_is_bounded(const char *xpath);

/* Of a plain path what leads to one place, without a list whose keys are not all given: sysrepo
 * copies and merges each entry of such a list on its own. Owned by the caller. */
char *xpath_root(const struct ly_ctx *context, const char *xpath);

/* How many keys a list has. */
unsigned xpath_keys_of(const struct lysc_node *list);

/* Plain paths, as a union, to all that the expression may look at; owned by the caller. */
char *xpath_snapshot(const char *xpath);

#endif
