/* Answers to an RPC: ok, data, or errors; and how they are written as XML. */
#ifndef REPLY_H
#define REPLY_H

#include <libyang/libyang.h>
#include <stdbool.h>
#include <stdint.h>

#include "text.h"

/* What the rpc-error of RFC 6241 section 4.3 says; strings are owned, NULL where unsaid. */
struct error {
    const char *type; /* transport, rpc, protocol, application */
    const char *tag;
    char *app_tag;
    char *path; /* as libyang writes data paths */
    char *message;
    char *bad_element;
    char *bad_attribute;
    char *bad_namespace;
    bool with_session; /* lock-denied names the holder */
    uint32_t session;
    struct error *next;
};

enum reply_kind { REPLY_OK, REPLY_DATA, REPLY_XML, REPLY_ERRORS };

struct reply {
    enum reply_kind kind;
    struct lyd_node *data;  /* the RPC or action with its output; owned */
    uint32_t with_defaults; /* LYD_PRINT_WD_* */
    struct text xml;        /* the content of the reply, ready made */
    struct error *errors;   /* owned, in order */
};

struct reply *reply_ok(void);
struct reply *reply_data(struct lyd_node *output, uint32_t with_defaults);

/* Takes what the text holds. */
struct reply *reply_xml(struct text xml);

/* An answer with one error; message is formatted. */
struct reply *reply_error(const char *tag, const char *type, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
struct reply *reply_of(struct error *errors);
void reply_free(struct reply *reply);

struct error *error_new(const char *tag, const char *type, char *message);
void error_append(struct error **list, struct error *error);
void error_free(struct error *list);

/* The <rpc-reply> with the attributes that the <rpc> had (already as XML). */
void reply_print(const struct reply *reply, const char *attributes, const struct ly_ctx *context,
                 struct text *text);

#endif
