/* Attributes of a message, which libyang drops where it does not know them: an edit would merge
 * what operation="delete" was to delete. */
#ifndef ATTRIBUTES_H
#define ATTRIBUTES_H

#include <libyang/libyang.h>

#include "reply.h"

/* Why the message can't be carried out: an element has an attribute twice, or too many, or
 * configuration has one that is unknown, or an XPath expression is too long (too-big: libyang must
 * not read it). NULL: nothing, or the message is no XML at all, which libyang reports. Linear in
 * the length of the message. */
struct reply *attributes_check(const struct ly_ctx *context, const char *message);

/* The message-id, where it can be repeated as it is; else "". Owned by the caller. */
char *attributes_message_id(const char *message);

#endif
