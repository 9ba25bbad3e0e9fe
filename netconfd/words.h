/* libyang's and sysrepo's texts in words an operator can act on: object: cause; remedy.
 *
 * The same words as srv6mgrd/datastore/refusals.py has for the other doors.
 */
#ifndef WORDS_H
#define WORDS_H

#include <stdbool.h>

#include "reply.h"

/* An error of a text and the data path of the offender. tag NULL: as the text demands. */
struct error *words_error(const char *tag, const char *type, const char *message, const char *path);

/* Say where an error is whose text tells no more than the node's name. */
void words_place(struct error *error, const char *path);

/* Lines that sysrepo puts around the one that matters. */
bool words_are_framing(const char *message);

/* The configured object that a data path leads into: "VRF blue"; else its first node. */
char *words_object(const char *path);

#endif
